/* tools/esra/batch_journal.c - the journal that a batch writes. The file only grows, a line at a time, and each line is
 * on disk before its scene begins or counts as done: whatever ends the program, what the journal says is true. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "batch.h"
#include "io/codec.h"
#include "io/paths.h"
#include "json.h"

/* Children of a batch that was killed die with it, but not at the same instant. */
#define LOCK_TRIES    50
#define LOCK_PAUSE_NS (60 * 1000 * 1000)

/* Names tried for the journal of a share: as often one number of a process may come again on one machine. */
#define MOST_NAMES 10000

/* ---- Opening ---- */

/* Where locks do not exist nobody is kept out. */
static bool lock(int fd)
{
    for (int n = 0; n < LOCK_TRIES; n++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true;
        nanosleep(&(struct timespec){0, LOCK_PAUSE_NS}, NULL);
    }
    return false;
}

static bool write_all(int fd, const char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        ssize_t written = write(fd, text, left);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        left -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static esra_status refuse(const struct batch_journal *journal, int reason, struct message *message)
{
    if (reason == ENOMEM)
        return esra_fail_memory(message);
    return esra_fail(message, esra_paths_refusal(reason), "cannot write %s: %s", journal->path, strerror(reason));
}

/* The journal of a batch that shares with nobody: there is one, and whoever is at work holds its lock. */
static esra_status open_only(struct batch_journal *journal, const char *folder, struct message *message)
{
    struct stat is;
    journal->path = esra_paths_join(folder, BATCH_JOURNAL);
    if (!journal->path)
        return esra_fail_memory(message);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    if (journal->fd < 0)
        return refuse(journal, errno, message);
    if (fstat(journal->fd, &is) || !S_ISREG(is.st_mode))
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write %s: it is not a file", journal->path);
    journal->written = true;
    if (!lock(journal->fd))
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "another esra batch is at work in %s; wait for it, share with it (--shard), or choose another "
                         "folder",
                         folder);
    return ESRA_OK;
}

void batch_host_name(char host[BATCH_HOST_SIZE])
{
    memset(host, 0, BATCH_HOST_SIZE);
    if (gethostname(host, BATCH_HOST_SIZE - 1) || !*host)
        snprintf(host, BATCH_HOST_SIZE, "localhost");
    for (char *c = host; *c; c++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-", *c))
            *c = '_';
}

static char *share_path(const char *folder, const struct batch_share *share, int number)
{
    char host[BATCH_HOST_SIZE], again[16] = "", name[192];
    batch_host_name(host);
    if (number > 0)
        snprintf(again, sizeof again, "-%d", number + 1);
    snprintf(name, sizeof name, "journal-%dof%d-%s-%ld%s.jsonl", share->part, share->of, host, (long)getpid(), again);
    return esra_paths_join(folder, name);
}

/* A file that nobody else has made (O_EXCL, which NFS keeps to) has one writer, without any lock. Numbers of processes
 * come again. The lock tells others that its writer lives; nothing hangs on it. */
static esra_status open_share(struct batch_journal *journal, const char *folder, const struct batch_share *share,
                              struct message *message)
{
    for (int n = 0; n < MOST_NAMES && journal->fd < 0; n++) {
        free(journal->path);
        journal->path = share_path(folder, share, n);
        if (!journal->path)
            return esra_fail_memory(message);
        journal->fd = open(journal->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (journal->fd < 0 && errno != EEXIST)
            return refuse(journal, errno, message);
    }
    if (journal->fd < 0)
        return refuse(journal, EEXIST, message);
    (void)flock(journal->fd, LOCK_EX | LOCK_NB);
    return ESRA_OK;
}

/* What was cut off is closed, so that the next line stands by itself. */
static esra_status close_line(const struct batch_journal *journal, struct message *message)
{
    char last = '\n';
    off_t size = lseek(journal->fd, 0, SEEK_END);
    if (size > 0 && pread(journal->fd, &last, 1, size - 1) == 1 && last != '\n' && !write_all(journal->fd, "\n"))
        return esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path, strerror(errno));
    return ESRA_OK;
}

esra_status batch_journal_open(struct batch_journal *journal, const char *folder, const struct batch_share *share,
                               struct batch_history *history, struct message *message)
{
    esra_status status;
    *journal = (struct batch_journal){.fd = -1};
    TRY(batch_history_begin(history, folder, message));
    TRY(share->of > 0 ? open_share(journal, folder, share, message) : open_only(journal, folder, message));
    esra_output_sync_folder(folder);
    TRY(close_line(journal, message));
    history->own = strrchr(journal->path, '/') + 1;
    TRY(batch_history_read(history, message));
done:
    return status;
}

void batch_journal_close(struct batch_journal *journal)
{
    if (journal->fd >= 0 && !journal->written)
        unlink(journal->path);
    if (journal->fd >= 0)
        close(journal->fd);
    free(journal->path);
    *journal = (struct batch_journal){.fd = -1};
}

/* ---- Telling ---- */

/* Writes the line, which is given up, and waits until it is on disk. */
static esra_status append(struct batch_journal *journal, json_t *line, struct message *message)
{
    /* All digits: a job must come back as it was. */
    char *text = json_text(line, JSON_COMPACT);
    json_decref(line);
    if (!text)
        return esra_fail_memory(message);
    journal->written = true;
    bool good = write_all(journal->fd, text) && (esra_output_sync(journal->fd) == 0 || errno == EINVAL);
    int reason = errno;
    free(text);
    return good ? ESRA_OK
                : esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path, strerror(reason));
}

/* A line about a scene: what it says, then what it is about. */
static esra_status tell(struct batch_journal *journal, const struct batch_scene *scene, json_t *line,
                        struct message *message)
{
    json_set(&line, "job", json_incref(scene->job));
    json_set(&line, "inputs", json_incref(scene->inputs));
    if (json_object_size(scene->before) > 0)
        json_set(&line, "before", json_incref(scene->before));
    return append(journal, line, message);
}

esra_status batch_journal_begin(struct batch_journal *journal, struct batch_scene *scene,
                                const struct batch_history *history, struct message *message)
{
    json_decref(scene->before);
    scene->before = batch_history_before(history, scene);
    if (!scene->before)
        return esra_fail_memory(message);
    json_t *line = json_pack("{s:s, s:I}", "output", scene->output, "begun", (json_int_t)time(NULL));
    return tell(journal, scene, line, message);
}

esra_status batch_journal_add(struct batch_journal *journal, const struct batch_scene *scene,
                              const struct batch_end *end, struct message *message)
{
    json_t *line = json_pack("{s:s, s:i, s:f, s:o}", "output", scene->output, "exit", end->exit, "seconds",
                             end->seconds, "message", name_to_json(end->message));
    return tell(journal, scene, line, message);
}
