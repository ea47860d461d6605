/* tools/esra/batch_journal.c - which scenes of a batch are done. The file only grows, a line at a time, and each line
 * is on disk before its scene counts as done: whatever ends the program, what the journal says is true. */
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
#include "exit.h"
#include "io/codec.h"
#include "io/paths.h"
#include "json.h"

/* Children of a batch that was killed die with it, but not at the same instant. */
#define LOCK_TRIES    50
#define LOCK_PAUSE_NS (60 * 1000 * 1000)

bool batch_is_done(int exit)
{
    return exit == EXIT_DONE || exit == EXIT_GAP || exit == EXIT_NOT_ALIGNED;
}

static char *join(const char *folder, const char *name, const char *file)
{
    size_t size = strlen(folder) + strlen(name) + strlen(file) + 3;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s%s%s", folder, name, *file ? "/" : "", file);
    return path;
}

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

/* Nobody else writes: the journal is locked. */
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

/* Lines that are none, such as the rest of one that was cut off, say nothing. */
static esra_status take_line(struct batch_journal *journal, const char *text, size_t length, struct message *message)
{
    json_error_t error;
    json_t *line;
    esra_status status = json_read(&line, text, length, &error, message);
    if (!line)
        return status;
    const char *output = json_string_value(json_object_get(line, "output"));
    bool kept = !output || json_object_set(journal->lines, output, line) == 0;
    json_decref(line);
    return kept ? ESRA_OK : esra_fail_memory(message);
}

static esra_status take_lines(struct batch_journal *journal, const struct bytes *text, struct message *message)
{
    const char *at = (const char *)text->data, *end = at + text->size, *stop;
    esra_status status = ESRA_OK;
    for (; at < end && (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1)
        TRY(take_line(journal, at, (size_t)(stop - at), message));
done:
    return status;
}

static esra_status load(struct batch_journal *journal, struct message *message)
{
    struct bytes text = {0};
    struct input input;
    esra_status status;
    TRY(esra_input_open(&input, journal->path, message));
    status = esra_input_slurp(&input, &text, message);
    esra_input_close(&input);
    TRY(status);
    TRY(take_lines(journal, &text, message));
    /* What was cut off is closed, so that the next line stands by itself. */
    if (text.size > 0 && text.data[text.size - 1] != '\n' && !write_all(journal->fd, "\n"))
        TRY(esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path, strerror(errno)));
done:
    esra_bytes_free(&text);
    return status;
}

esra_status batch_journal_open(struct batch_journal *journal, const char *folder, struct message *message)
{
    *journal = (struct batch_journal){.fd = -1, .path = join(folder, BATCH_JOURNAL, ""), .lines = json_object()};
    if (!journal->path || !journal->lines)
        return esra_fail_memory(message);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0)
        return esra_fail(message, esra_paths_refusal(errno), "cannot write %s: %s", journal->path, strerror(errno));
    if (!lock(journal->fd))
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "another esra batch is at work in %s; wait for it, or choose another folder", folder);
    esra_output_sync_folder(folder);
    return load(journal, message);
}

void batch_journal_close(struct batch_journal *journal)
{
    if (journal->fd >= 0)
        close(journal->fd);
    free(journal->path);
    json_decref(journal->lines);
    *journal = (struct batch_journal){.fd = -1};
}

/* ---- Asking and telling ---- */

/* Size and time of change of every file that the scene reads: another photo under the same name is another scene. */
static json_t *inputs_of(const struct batch_scene *scene)
{
    json_t *list = json_array();
    for (int n = 0; n < scene->word_count; n++) {
        struct stat stat_;
        if (stat(batch_input(scene, n), &stat_) || !S_ISREG(stat_.st_mode))
            continue;
        json_append(&list, json_pack("[I, I, I]", (json_int_t)stat_.st_size, (json_int_t)stat_.st_mtim.tv_sec,
                                     (json_int_t)stat_.st_mtim.tv_nsec));
    }
    return list;
}

static bool says_done(const json_t *line)
{
    const json_t *exit = json_object_get(line, "exit");
    return json_is_integer(exit) && batch_is_done((int)json_integer_value(exit));
}

esra_status batch_journal_find(const struct batch_journal *journal, const char *folder, struct batch_scene *scene,
                               bool *done, struct message *message)
{
    const json_t *line = json_object_get(journal->lines, scene->output);
    char *result = join(folder, scene->output, "result.json");
    json_decref(scene->inputs);
    scene->inputs = inputs_of(scene);
    *done = says_done(line) && json_equal(json_object_get(line, "job"), scene->job) &&
            json_equal(json_object_get(line, "inputs"), scene->inputs) && result && access(result, F_OK) == 0;
    bool sound = result && scene->inputs;
    free(result);
    return sound ? ESRA_OK : esra_fail_memory(message);
}

/* Writes the line, which is given up, and waits until it is on disk. */
static esra_status append(struct batch_journal *journal, json_t *line, struct message *message)
{
    /* All digits: a job must come back as it was. */
    char *text = json_text(line, JSON_COMPACT);
    json_decref(line);
    if (!text)
        return esra_fail_memory(message);
    bool good = write_all(journal->fd, text) && (esra_output_sync(journal->fd) == 0 || errno == EINVAL);
    int reason = errno;
    free(text);
    return good ? ESRA_OK
                : esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path, strerror(reason));
}

esra_status batch_journal_begin(struct batch_journal *journal, const struct batch_scene *scene, struct message *message)
{
    if (!says_done(json_object_get(journal->lines, scene->output)))
        return ESRA_OK;
    return append(journal, json_pack("{s:s, s:b}", "output", scene->output, "begun", true), message);
}

esra_status batch_journal_add(struct batch_journal *journal, const struct batch_scene *scene,
                              const struct batch_end *end, struct message *message)
{
    json_t *line =
        json_pack("{s:s, s:i, s:f, s:o, s:O, s:O}", "output", scene->output, "exit", end->exit, "seconds", end->seconds,
                  "message", name_to_json(end->message), "job", scene->job, "inputs", scene->inputs);
    return append(journal, line, message);
}
