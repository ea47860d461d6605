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

/* Lines that are none, such as the rest of one that was cut off, say nothing. */
static void take_lines(struct batch_journal *journal, const struct bytes *text)
{
    const char *at = (const char *)text->data, *end = at + text->size;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        json_t *line = stop ? json_loadb(at, length, 0, NULL) : NULL;
        const char *output = json_string_value(json_object_get(line, "output"));
        if (output)
            json_object_set(journal->lines, output, line);
        json_decref(line);
        at += length + 1;
    }
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
    take_lines(journal, &text);
    /* What was cut off is closed, so that the next line stands by itself. */
    if (text.size > 0 && text.data[text.size - 1] != '\n' && write(journal->fd, "\n", 1) != 1)
        TRY(esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path, strerror(errno)));
fail:
    esra_bytes_free(&text);
    return status;
}

/* The name of a new file is on disk only once its folder is. */
static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

esra_status batch_journal_open(struct batch_journal *journal, const char *folder, struct message *message)
{
    *journal = (struct batch_journal){.fd = -1, .path = join(folder, BATCH_JOURNAL, ""), .lines = json_object()};
    if (!journal->path || !journal->lines)
        return esra_fail_memory(message);
    journal->fd = open(journal->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (journal->fd < 0)
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write %s: %s", journal->path, strerror(errno));
    if (!lock(journal->fd))
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "another esra batch is at work in %s; wait for it, or choose another folder", folder);
    sync_folder(folder);
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
        const char *value = scene->words[n][0] == '-' ? strchr(scene->words[n], '=') : NULL;
        struct stat stat_;
        if (stat(value ? value + 1 : scene->words[n], &stat_) || !S_ISREG(stat_.st_mode))
            continue;
        json_array_append_new(list, json_pack("[I, I, I]", (json_int_t)stat_.st_size, (json_int_t)stat_.st_mtim.tv_sec,
                                              (json_int_t)stat_.st_mtim.tv_nsec));
    }
    return list;
}

bool batch_journal_has(const struct batch_journal *journal, const char *folder, struct batch_scene *scene)
{
    const json_t *line = json_object_get(journal->lines, scene->output);
    const json_t *exit = json_object_get(line, "exit");
    json_decref(scene->inputs);
    scene->inputs = inputs_of(scene);
    if (!json_is_integer(exit) || !batch_is_done((int)json_integer_value(exit)))
        return false;
    char *result = join(folder, scene->output, "result.json");
    bool has = result && json_equal(json_object_get(line, "job"), scene->job) &&
               json_equal(json_object_get(line, "inputs"), scene->inputs) && access(result, F_OK) == 0;
    free(result);
    return has;
}

static char *line_text(const struct batch_scene *scene, const struct batch_end *end)
{
    /* All digits: a job must come back as it was. */
    json_t *line =
        json_pack("{s:s, s:i, s:f, s:o, s:O, s:O}", "output", scene->output, "exit", end->exit, "seconds", end->seconds,
                  "message", name_to_json(end->message), "job", scene->job, "inputs", scene->inputs);
    char *text = line ? json_dumps(line, JSON_COMPACT) : NULL;
    json_decref(line);
    return text;
}

esra_status batch_journal_add(struct batch_journal *journal, const struct batch_scene *scene,
                              const struct batch_end *end, struct message *message)
{
    char *text = line_text(scene, end);
    if (!text)
        return esra_fail_memory(message);
    size_t size = strlen(text);
    text[size] = '\n'; /* in place of the zero byte: one write, so that lines do not mix */
    ssize_t written;
    do
        written = write(journal->fd, text, size + 1);
    while (written < 0 && errno == EINTR);
    bool good = written == (ssize_t)size + 1 && (fdatasync(journal->fd) == 0 || errno == EINVAL);
    free(text);
    return good ? ESRA_OK
                : esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", journal->path,
                            written < 0 ? strerror(errno) : "the disk may be full");
}
