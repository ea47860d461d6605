/* tools/esra/batch_history.c - what all journals of a folder say together.
 *
 * Clocks of different machines tell no order, so lines carry their own: each names, for every journal that speaks of
 * its output, the last line that was read before its scene began ("before"), and in one journal later lines come after
 * earlier ones. Of two lines, one then comes after the other, or their scenes overlapped and neither knew of the other.
 * A scene is done by a line if no scene came after it (its files may have been replaced), and if every one that
 * overlapped with it was the very same, whose files have the same bits. Whatever is in doubt is done again. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "exit.h"
#include "io/codec.h"
#include "io/paths.h"
#include "json.h"
#include "text.h"

#define NAME "batch"

/* A line holds one of the jobs file, of at most a few hundred photos. */
#define LONGEST_LINE ((size_t)16 << 20)

bool batch_is_done(int exit)
{
    return exit == EXIT_DONE || exit == EXIT_GAP || exit == EXIT_NOT_ALIGNED;
}

bool batch_is_journal(const char *name)
{
    static const char first[] = "journal-", last[] = ".jsonl";
    size_t length = strlen(name), end = sizeof last - 1;
    return strcmp(name, BATCH_JOURNAL) == 0 || (strncmp(name, first, sizeof first - 1) == 0 &&
                                                length > sizeof first + end && strcmp(name + length - end, last) == 0);
}

/* ---- Reading ---- */

/* A line on its way from the file, at last with the end of the line. */
struct gathered {
    char *text;
    size_t size, room;
};

static esra_status gather(struct gathered *line, const unsigned char *bytes, size_t size, struct message *message)
{
    if (line->room - line->size < size) {
        size_t room = 2 * line->room + size;
        char *larger = realloc(line->text, room);
        if (!larger)
            return esra_fail_memory(message);
        line->text = larger;
        line->room = room;
    }
    memcpy(line->text + line->size, bytes, size);
    line->size += size;
    return ESRA_OK;
}

static esra_status keep(struct batch_history *history, int source, json_t *line, struct message *message)
{
    const char *output = json_string_value(json_object_get(line, "output"));
    if (!output)
        return ESRA_OK;
    json_t *list = json_object_get(history->lines, output);
    if (!list) {
        list = json_array();
        if (json_object_set_new(history->lines, output, list))
            return esra_fail_memory(message);
    }
    json_t *entry = json_pack("[i, i, O]", source, history->sources[source].lines, line);
    return json_array_append_new(list, entry) == 0 ? ESRA_OK : esra_fail_memory(message);
}

/* Lines that are none say nothing: the rest of one that was cut off by a kill, or damage. */
static esra_status take_line(struct batch_history *history, int source, const struct gathered *text,
                             struct message *message)
{
    struct batch_source *from = &history->sources[source];
    json_error_t error;
    json_t *line;
    esra_status status = json_read(&line, text->text, text->size - 1, &error, message);
    if (status != ESRA_OK)
        return status;
    bool cut_off = !line && json_error_code(&error) == json_error_premature_end_of_input && text->text[0] == '{';
    from->damaged += !json_is_object(line) && !cut_off;
    status = keep(history, source, line, message);
    json_decref(line);
    return status;
}

/* The bytes of a journal that come next; a line that is too long is left out, and not read twice. */
static esra_status take_bytes(struct batch_history *history, int source, struct gathered *line,
                              const unsigned char *bytes, size_t count, struct message *message)
{
    esra_status status = ESRA_OK;
    while (count > 0) {
        struct batch_source *from = &history->sources[source];
        const unsigned char *stop = memchr(bytes, '\n', count);
        size_t size = stop ? (size_t)(stop - bytes) + 1 : count;
        if (from->overlong || line->size + size > LONGEST_LINE) {
            from->read += (int64_t)(line->size + size);
            from->overlong = !stop;
            from->damaged += stop != NULL;
            line->size = 0;
        } else {
            TRY(gather(line, bytes, size, message));
        }
        from->lines += stop != NULL;
        if (stop && line->size > 1)
            status = take_line(history, source, line, message);
        if (stop) {
            from->read += (int64_t)line->size;
            line->size = 0;
        }
        TRY(status);
        bytes += size;
        count -= size;
    }
done:
    return status;
}

static esra_status read_on(struct batch_history *history, int source, struct input *input, struct message *message)
{
    struct gathered line = {0};
    const unsigned char *bytes;
    size_t count = 1;
    esra_status status;
    if (input->size <= history->sources[source].read)
        return ESRA_OK;
    TRY(esra_input_seek(input, history->sources[source].read, message));
    while (count > 0) {
        TRY(esra_input_borrow(input, &bytes, &count, message));
        TRY(take_bytes(history, source, &line, bytes, count, message));
    }
done:
    free(line.text);
    return status;
}

/* What is no file is nobody's journal, and one that has gone was empty. */
static esra_status read_source(struct batch_history *history, int source, struct message *message)
{
    struct stat is;
    struct input input;
    char *path = esra_paths_join(history->folder, history->sources[source].name);
    if (!path)
        return esra_fail_memory(message);
    esra_status status = ESRA_OK;
    if (stat(path, &is) == 0 && S_ISREG(is.st_mode)) {
        status = esra_input_open(&input, path, message);
        if (status == ESRA_OK) {
            status = read_on(history, source, &input, message);
            esra_input_close(&input);
        } else if (access(path, F_OK) != 0)
            status = ESRA_OK;
    }
    free(path);
    return status;
}

static esra_status add_source(struct batch_history *history, const char *name, struct message *message)
{
    struct batch_source *sources = realloc(history->sources, ((size_t)history->source_count + 1) * sizeof *sources);
    if (!sources)
        return esra_fail_memory(message);
    history->sources = sources;
    sources[history->source_count] = (struct batch_source){.name = strdup(name)};
    if (!sources[history->source_count].name ||
        json_object_set_new(history->names, name, json_integer(history->source_count))) {
        free(sources[history->source_count].name);
        return esra_fail_memory(message);
    }
    history->source_count++;
    return ESRA_OK;
}

/* Journals that have come since; names that are no text are nobody's. */
static esra_status find_sources(struct batch_history *history, struct message *message)
{
    const struct dirent *entry;
    DIR *entries = opendir(history->folder);
    esra_status status = ESRA_OK;
    if (!entries && errno == ENOMEM)
        return esra_fail_memory(message);
    if (!entries)
        return esra_fail(message, ESRA_NO_INPUT, "cannot read %s: %s", history->folder, strerror(errno));
    while (status == ESRA_OK && (entry = readdir(entries)))
        if (batch_is_journal(entry->d_name) && text_is_utf8(entry->d_name) &&
            !json_object_get(history->names, entry->d_name))
            status = add_source(history, entry->d_name, message);
    closedir(entries);
    return status;
}

esra_status batch_history_begin(struct batch_history *history, const char *folder, struct message *message)
{
    *history = (struct batch_history){.folder = folder, .lines = json_object(), .names = json_object()};
    return history->lines && history->names ? ESRA_OK : esra_fail_memory(message);
}

esra_status batch_history_read(struct batch_history *history, struct message *message)
{
    esra_status status = find_sources(history, message);
    for (int n = 0; n < history->source_count && status == ESRA_OK; n++)
        status = read_source(history, n, message);
    return status;
}

void batch_history_complain(const struct batch_history *history)
{
    for (const struct batch_source *s = history->sources; s < history->sources + history->source_count; s++)
        if (s->damaged > 0)
            complain(EXIT_DONE, NAME, "%s/%s: %d of %d lines are damaged, and count for nothing", history->folder,
                     s->name, s->damaged, s->lines);
}

void batch_history_free(struct batch_history *history)
{
    for (int n = 0; n < history->source_count; n++)
        free(history->sources[n].name);
    free(history->sources);
    json_decref(history->lines);
    json_decref(history->names);
    *history = (struct batch_history){0};
}

/* ---- Writers ---- */

const char *batch_journal_share(const char *name, struct batch_share *share)
{
    int end = 0;
    *share = (struct batch_share){0};
    if (sscanf(name, "journal-%dof%d-%n", &share->part, &share->of, &end) == 2 && end > 0 && share->part >= 1 &&
        share->part <= share->of)
        return name + end;
    *share = (struct batch_share){0};
    return NULL;
}

/* Whether a journal was made on the machine that we are on: "HOST-PID...", or the one that has a lock for all. */
static bool is_local(const char *name)
{
    char host[BATCH_HOST_SIZE];
    struct batch_share share;
    const char *rest = batch_journal_share(name, &share);
    batch_host_name(host);
    size_t length = strlen(host);
    if (!rest)
        return strcmp(name, BATCH_JOURNAL) == 0;
    return strncmp(rest, host, length) == 0 && rest[length] == '-' && strspn(rest + length + 1, "0123456789") > 0;
}

enum batch_writer batch_history_writer(const struct batch_history *history, int source)
{
    const char *name = history->sources[source].name;
    enum batch_writer writer = WRITER_PERHAPS;
    if (history->own && strcmp(name, history->own) == 0)
        return WRITER_GONE; /* an earlier one */
    char *path = esra_paths_join(history->folder, name);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    bool locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (fd >= 0 && !locked && errno == EWOULDBLOCK)
        writer = WRITER_AT_WORK;
    else if (locked && is_local(name))
        writer = WRITER_GONE;
    if (fd >= 0)
        close(fd);
    free(path);
    return writer;
}

/* ---- A scene ---- */

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

/* A line about the scene, and where it stands. */
struct entry {
    int source, number;
    const json_t *line;
    bool same; /* of this very scene, with these inputs */
    bool last; /* of its journal */
};

static bool comes_after(const struct batch_history *history, const struct entry *later, const struct entry *earlier)
{
    if (later->source == earlier->source)
        return later->number > earlier->number;
    const json_t *before = json_object_get(later->line, "before");
    return json_integer_value(json_object_get(before, history->sources[earlier->source].name)) >= earlier->number;
}

static bool has_ended(const struct entry *entry)
{
    return json_is_integer(json_object_get(entry->line, "exit"));
}

static bool says_done(const struct entry *entry)
{
    json_int_t exit = json_integer_value(json_object_get(entry->line, "exit"));
    return has_ended(entry) && exit >= 0 && exit < 256 && batch_is_done((int)exit);
}

/* The lines about a scene; of two in one journal the later stands later. */
static struct entry *list_entries(const struct batch_history *history, const struct batch_scene *scene, size_t *count)
{
    const json_t *list = json_object_get(history->lines, scene->output);
    int *last = calloc((size_t)history->source_count + 1, sizeof *last);
    *count = json_array_size(list);
    struct entry *entries = calloc(*count + 1, sizeof *entries);
    for (size_t n = 0; entries && last && n < *count; n++) {
        const json_t *item = json_array_get(list, n), *line = json_array_get(item, 2);
        entries[n] = (struct entry){.source = (int)json_integer_value(json_array_get(item, 0)),
                                    .number = (int)json_integer_value(json_array_get(item, 1)),
                                    .line = line,
                                    .same = json_equal(json_object_get(line, "job"), scene->job) &&
                                            json_equal(json_object_get(line, "inputs"), scene->inputs)};
        last[entries[n].source] = (int)n;
    }
    for (size_t n = 0; entries && last && n < *count; n++)
        entries[n].last = last[entries[n].source] == (int)n;
    if (!last) {
        free(entries);
        entries = NULL;
    }
    free(last);
    return entries;
}

/* Whether no scene came after the line, and all that overlapped with it were the same. */
static bool stands(const struct batch_history *history, const struct entry *entries, size_t count,
                   const struct entry *entry)
{
    for (const struct entry *other = entries; other < entries + count; other++)
        if (other != entry && !comes_after(history, entry, other) &&
            (comes_after(history, other, entry) || !other->same))
            return false;
    return true;
}

/* Whether no line about the scene came after this one; asking the last of each journal is enough. */
static bool is_latest(const struct batch_history *history, const struct entry *entries, size_t count,
                      const struct entry *entry)
{
    for (const struct entry *other = entries; other < entries + count; other++)
        if (other->last && comes_after(history, other, entry))
            return false;
    return true;
}

/* What one line says, were it the only one. */
static int state_of(const struct batch_history *history, const struct entry *entries, size_t count,
                    const struct entry *entry)
{
    if (!entry->last)
        return BATCH_LEFT;
    if (says_done(entry))
        return entry->same && stands(history, entries, count, entry) ? BATCH_DONE : BATCH_LEFT;
    if (!is_latest(history, entries, count, entry))
        return BATCH_LEFT;
    if (has_ended(entry))
        return entry->same ? BATCH_FAILED : BATCH_LEFT;
    return batch_history_writer(history, entry->source) != WRITER_GONE ? BATCH_BEGUN : BATCH_LEFT;
}

/* The best news first. */
static void weigh(const struct batch_history *history, const struct entry *entries, size_t count,
                  struct batch_told *told)
{
    static const int rank[] = {[BATCH_LEFT] = 0, [BATCH_FAILED] = 1, [BATCH_BEGUN] = 2, [BATCH_DONE] = 3};
    for (const struct entry *entry = entries; entry < entries + count; entry++) {
        int state = state_of(history, entries, count, entry);
        if (rank[state] > rank[told->state])
            *told = (struct batch_told){state, entry->line, entry->source};
    }
}

static esra_status check_result(const struct batch_history *history, const struct batch_scene *scene,
                                struct batch_told *told, struct message *message)
{
    char *folder = esra_paths_join(history->folder, scene->output);
    char *result = folder ? esra_paths_join(folder, "result.json") : NULL;
    if (result && access(result, F_OK) != 0)
        *told = (struct batch_told){.state = BATCH_LEFT};
    bool sound = result != NULL;
    free(result);
    free(folder);
    return sound ? ESRA_OK : esra_fail_memory(message);
}

esra_status batch_history_find(const struct batch_history *history, struct batch_scene *scene, struct batch_told *told,
                               struct message *message)
{
    size_t count;
    *told = (struct batch_told){.state = BATCH_LEFT};
    json_decref(scene->inputs);
    scene->inputs = inputs_of(scene);
    struct entry *entries = scene->inputs ? list_entries(history, scene, &count) : NULL;
    if (!entries)
        return esra_fail_memory(message);
    weigh(history, entries, count, told);
    free(entries);
    return told->state == BATCH_DONE ? check_result(history, scene, told, message) : ESRA_OK;
}

json_t *batch_history_before(const struct batch_history *history, const struct batch_scene *scene)
{
    json_t *before = json_object();
    const json_t *list = json_object_get(history->lines, scene->output), *item;
    size_t n;
    json_array_foreach (list, n, item) {
        const char *name = history->sources[json_integer_value(json_array_get(item, 0))].name;
        if (!history->own || strcmp(name, history->own) != 0) /* in its own order is no doubt */
            json_set(&before, name, json_incref(json_array_get(item, 1)));
    }
    return before;
}
