/* tools/esra/batch_jobs.c - the jobs file of esra batch: one JSON object a line, checked before any work is done. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "io/codec.h"
#include "json.h"
#include "options.h"

/* More than a line for each photo that anyone has taken. */
#define LARGEST_FILE (INT64_C(256) << 20)

/* What belongs to the batch, not to a scene. */
static const char *const not_for_scenes[] = {"output",    "json",       "progress", "quiet",       "no-limits",
                                             "untrusted", "max-memory", "help",     "keep-partial"};

/* The line at hand. */
struct reader {
    struct batch_jobs *jobs;
    struct batch_scene *scene;
    struct message *message;
};

__attribute__((format(printf, 2, 3))) static esra_status refuse(const struct reader *reader, const char *format, ...)
{
    char words[384];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    return esra_fail(reader->message, ESRA_BAD_DATA, "%s, line %d: %s", reader->jobs->name, reader->scene->line, words);
}

/* ---- Words for the command line ---- */

static esra_status add_word(struct reader *reader, const char *before, const char *between, const char *after)
{
    struct batch_scene *scene = reader->scene;
    size_t size = strlen(before) + strlen(between) + strlen(after) + 1;
    char **words = realloc(scene->words, ((size_t)scene->word_count + 1) * sizeof *words);
    char *word = malloc(size);
    if (words)
        scene->words = words;
    if (!words || !word) {
        free(word);
        return esra_fail_memory(reader->message);
    }
    snprintf(word, size, "%s%s%s", before, between, after);
    scene->words[scene->word_count++] = word;
    return ESRA_OK;
}

/* Never '-' or '@...' by itself: those would mean something else. */
static esra_status add_path(struct reader *reader, const char *flag, const char *path)
{
    char *start = NULL;
    size_t size = strlen(flag) + strlen(reader->jobs->folder) + 2;
    if (*path == '/')
        return add_word(reader, flag, "", path);
    start = malloc(size);
    if (!start)
        return esra_fail_memory(reader->message);
    snprintf(start, size, "%s%s/", flag, reader->jobs->folder);
    esra_status status = add_word(reader, start, "", path);
    free(start);
    return status;
}

/* ---- Options ---- */

enum wanted { WANT_FLAG, WANT_TEXT, WANT_NUMBER, WANT_FILE, WANT_NOTHING };

static enum wanted wanted_by_table(const char *name)
{
    struct table_option options[TABLE_OPTIONS_MOST];
    int count = table_options(&separate_command, options);
    for (int n = 0; n < count; n++)
        if (strcmp(options[n].flag, name) == 0)
            return options[n].row->type == ESRA_TYPE_TOGGLE   ? WANT_FLAG
                   : options[n].row->type == ESRA_TYPE_CHOICE ? WANT_TEXT
                                                              : WANT_NUMBER;
    return WANT_NOTHING;
}

static enum wanted wanted_by(const char *name)
{
    for (size_t n = 0; n < sizeof not_for_scenes / sizeof not_for_scenes[0]; n++)
        if (strcmp(not_for_scenes[n], name) == 0)
            return WANT_NOTHING;
    for (int n = 0; n < separate_command.option_count; n++) {
        const struct option *option = &separate_command.options[n];
        if (strcmp(option->name, name) == 0)
            return option->type == OPTION_FLAG ? WANT_FLAG : option->type == OPTION_FILE ? WANT_FILE : WANT_TEXT;
    }
    return wanted_by_table(name);
}

/* Text of a string, a number, or a list of numbers; false where it is none of these, or too long. */
static bool value_text(const json_t *value, char *text, size_t size)
{
    if (json_is_string(value))
        return snprintf(text, size, "%s", json_string_value(value)) < (int)size;
    if (json_is_integer(value))
        return snprintf(text, size, "%lld", (long long)json_integer_value(value)) < (int)size;
    if (json_is_real(value))
        return snprintf(text, size, "%.17g", json_real_value(value)) < (int)size;
    size_t used = 0;
    for (size_t n = 0; json_is_array(value) && n < json_array_size(value) && used < size; n++) {
        const json_t *item = json_array_get(value, n);
        if (!json_is_number(item))
            return false;
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", n ? "," : "", json_number_value(item));
    }
    return used > 0 && used < size;
}

static esra_status add_option(struct reader *reader, const char *name, const json_t *value)
{
    char flag[96], text[4096];
    enum wanted wanted = wanted_by(name);
    if (wanted == WANT_NOTHING)
        return refuse(reader, "there is no option '%.64s' for a scene; see 'esra help separate'", name);
    if (wanted == WANT_FLAG && !json_is_boolean(value))
        return refuse(reader, "option '%s' takes true or false", name);
    if (wanted == WANT_FILE && !json_is_string(value))
        return refuse(reader, "option '%s' takes the name of a file", name);
    if (wanted == WANT_NUMBER && !json_is_number(value))
        return refuse(reader, "option '%s' takes a number", name);
    if (wanted == WANT_FLAG) {
        snprintf(flag, sizeof flag, "--%s", name);
        return json_is_true(value) ? add_word(reader, flag, "", "") : ESRA_OK;
    }
    snprintf(flag, sizeof flag, "--%s=", name);
    if (wanted == WANT_FILE)
        return add_path(reader, flag, json_string_value(value));
    if (!value_text(value, text, sizeof text))
        return refuse(reader, "option '%s' takes a text, a number or a list of numbers", name);
    return add_word(reader, flag, "", text);
}

static esra_status take_options(struct reader *reader, json_t *options)
{
    const char *name;
    json_t *value;
    esra_status status = ESRA_OK;
    if (options && !json_is_object(options))
        return refuse(reader, "options is no object such as {\"lambda\": 0.01}");
    json_object_foreach (options, name, value)
        TRY(add_option(reader, name, value));
done:
    return status;
}

/* ---- A line ---- */

static esra_status take_photos(struct reader *reader, const json_t *photos)
{
    esra_status status = ESRA_OK;
    if (!json_is_array(photos) || json_array_size(photos) < 2)
        return refuse(reader, "photos is no list of two or more names");
    for (size_t n = 0; n < json_array_size(photos); n++) {
        const json_t *photo = json_array_get(photos, n);
        if (!json_is_string(photo) || !*json_string_value(photo))
            return refuse(reader, "photo %zu is no name of a file", n + 1);
        TRY(add_path(reader, "", json_string_value(photo)));
    }
done:
    return status;
}

/* One name in the output folder and nothing else, so that no line can write elsewhere. */
static esra_status take_output(struct reader *reader, json_t *output)
{
    const char *name = json_string_value(output);
    if (!name || !*name)
        return refuse(reader, "output is no name of a folder");
    if (strchr(name, '/') || *name == '.' || strlen(name) > 255 || batch_is_journal(name))
        return refuse(reader,
                      "output '%.64s' may not be used: a plain name is needed, without '/', not beginning with '.', "
                      "and not a journal's",
                      name);
    json_t *before = json_object_get(reader->jobs->outputs, name);
    if (before)
        return refuse(reader, "output '%.64s' is that of line %d too", name, (int)json_integer_value(before));
    if (json_object_set_new(reader->jobs->outputs, name, json_integer(reader->scene->line)))
        return esra_fail_memory(reader->message);
    reader->scene->output = name;
    return ESRA_OK;
}

static esra_status take_line(struct reader *reader, const char *text, size_t size)
{
    json_error_t error;
    const char *key;
    json_t *value;
    esra_status status;
    TRY(json_read(&reader->scene->job, text, size, &error, reader->message));
    json_t *job = reader->scene->job;
    if (!job)
        return refuse(reader, "no JSON: %s", error.text);
    if (!json_is_object(job))
        return refuse(reader, "no JSON object");
    json_object_foreach (job, key, value) {
        if (strcmp(key, "photos") != 0 && strcmp(key, "output") != 0 && strcmp(key, "options") != 0)
            return refuse(reader, "unknown key '%.64s'; there are photos, output and options", key);
    }
    TRY(take_output(reader, json_object_get(job, "output")));
    TRY(take_photos(reader, json_object_get(job, "photos")));
    TRY(take_options(reader, json_object_get(job, "options")));
done:
    return status;
}

static bool is_blank(const char *text, size_t size)
{
    return strspn(text, " \t\r") >= size;
}

static esra_status take_lines(struct reader *reader, const char *text, size_t size)
{
    struct batch_jobs *jobs = reader->jobs;
    esra_status status = ESRA_OK;
    int line = 0;
    for (const char *at = text, *end = text + size; at < end; line++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = stop ? (size_t)(stop - at) : (size_t)(end - at);
        if (!is_blank(at, length)) {
            struct batch_scene *scenes = realloc(jobs->scenes, ((size_t)jobs->count + 1) * sizeof *scenes);
            if (!scenes)
                return esra_fail_memory(reader->message);
            jobs->scenes = scenes;
            reader->scene = &scenes[jobs->count++];
            *reader->scene = (struct batch_scene){.line = line + 1};
            TRY(take_line(reader, at, length));
        }
        at += length + 1;
    }
    if (jobs->count == 0)
        return esra_fail(reader->message, ESRA_BAD_DATA, "%s has no lines: one JSON object a scene is needed",
                         jobs->name);
done:
    return status;
}

/* ---- The file ---- */

/* What begins with '-' or '@' would not be taken for a path, but behind "./" it is. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *before = *path == '-' || *path == '@' ? "./" : "";
    size_t length = slash ? (size_t)(slash - path) : 0, size = length + 3;
    char *folder = malloc(size);
    if (folder && slash)
        snprintf(folder, size, "%s%.*s", before, (int)length, path);
    else if (folder)
        snprintf(folder, size, ".");
    return folder;
}

esra_status batch_jobs_read(struct batch_jobs *jobs, const char *path, struct message *message)
{
    struct bytes text = {0};
    struct reader reader = {.jobs = jobs, .message = message};
    esra_status status;
    *jobs = (struct batch_jobs){.path = path,
                                .name = strcmp(path, "-") == 0 ? "standard input" : path,
                                .folder = folder_of(path),
                                .outputs = json_object()};
    if (!jobs->folder || !jobs->outputs)
        TRY(esra_fail_memory(message));
    TRY(text_read(&text, path, LARGEST_FILE, "split it", message));
    /* With a zero byte at its end, for strspn(); esra_input_slurp() leaves no room. */
    unsigned char *longer = realloc(text.data, text.size + 1);
    if (!longer)
        TRY(esra_fail_memory(message));
    text.data = longer;
    text.data[text.size] = '\0';
    TRY(take_lines(&reader, (const char *)text.data, text.size));
done:
    esra_bytes_free(&text);
    return status;
}

const char *batch_input(const struct batch_scene *scene, int n)
{
    const char *value = scene->words[n][0] == '-' ? strchr(scene->words[n], '=') : NULL;
    return value ? value + 1 : scene->words[n];
}

void batch_jobs_free(struct batch_jobs *jobs)
{
    for (int n = 0; n < jobs->count; n++) {
        for (int w = 0; w < jobs->scenes[n].word_count; w++)
            free(jobs->scenes[n].words[w]);
        free(jobs->scenes[n].words);
        json_decref(jobs->scenes[n].job);
        json_decref(jobs->scenes[n].inputs);
        json_decref(jobs->scenes[n].before);
    }
    free(jobs->scenes);
    free(jobs->folder);
    json_decref(jobs->outputs);
    *jobs = (struct batch_jobs){0};
}
