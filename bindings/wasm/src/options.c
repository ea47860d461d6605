/* bindings/wasm/src/options.c - options by the library's tables: told to JavaScript, and taken from it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* ---- Telling ---- */

static const char *const types[] = {"real", "count", "toggle", "choice", "one-of", "seed"};

static json_t *rows_to_json(const esra_setting *rows, size_t count, const void *values)
{
    json_t *list = json_array();
    for (const esra_setting *row = rows; row < rows + count; row++) {
        double value = row->default_value;
        if (row->type == ESRA_TYPE_REAL) /* a separation's own default may be another than the table's */
            memcpy(&value, (const char *)values + row->offset, sizeof value);
        json_append(&list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:s, s:s?, s:s}", "name", row->name, "type",
                                     types[row->type], "default", value, "lowest", row->lowest, "highest", row->highest,
                                     "unit", row->unit, "names", row->names, "help", row->help));
    }
    return list;
}

static json_t *warnings_to_json(void)
{
    size_t count;
    esra_warning_table(&count);
    return job_warnings_to_json(~0u);
}

const char *module_tables(void)
{
    esra_settings settings;
    esra_photos photos;
    size_t setting_count, photo_count;
    char in[128], out[128];
    esra_settings_for_separation(&settings);
    esra_photos_default(&photos);
    const esra_setting *setting_rows = esra_settings_table(&setting_count);
    const esra_setting *photo_rows = esra_photos_table(&photo_count);
    esra_photo_formats(false, in, sizeof in);
    esra_photo_formats(true, out, sizeof out);
    return answer_json(json_pack("{s:s, s:o, s:o, s:o, s:s, s:s}", "version", esra_version(), "photos",
                                 rows_to_json(photo_rows, photo_count, &photos), "settings",
                                 rows_to_json(setting_rows, setting_count, &settings), "warnings", warnings_to_json(),
                                 "reads", in, "writes", out));
}

/* ---- Taking ---- */

/* The index of a word among "a|b|c"; -1 where it is none of them. */
static int index_of(const char *word, const char *names)
{
    size_t length = strlen(word);
    for (int n = 0;; n++) {
        size_t here = strcspn(names, "|");
        if (here == length && strncmp(names, word, here) == 0)
            return n;
        if (!names[here])
            return -1;
        names += here + 1;
    }
}

static bool set_value(void *values, const esra_setting *row, const json_t *value)
{
    char *field = (char *)values + row->offset;
    double number = json_is_boolean(value) ? json_is_true(value) : json_number_value(value);
    if (row->type == ESRA_TYPE_CHOICE && json_is_string(value))
        number = index_of(json_string_value(value), row->names);
    else if (!json_is_number(value) && !json_is_boolean(value))
        return false;
    if (!(number >= row->lowest && number <= row->highest))
        return false;
    if (row->type == ESRA_TYPE_REAL)
        memcpy(field, &number, sizeof number);
    else
        memcpy(field, &(int){(int)number}, sizeof(int));
    return row->type == ESRA_TYPE_REAL || number == floor(number);
}

static const esra_setting *find_row(const esra_setting *rows, size_t count, const char *name)
{
    for (const esra_setting *row = rows; row < rows + count; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

static esra_status take_one(struct job *job, const char *name, const json_t *value)
{
    size_t settings, photos;
    const esra_setting *setting_rows = esra_settings_table(&settings), *photo_rows = esra_photos_table(&photos);
    const esra_setting *row = find_row(setting_rows, settings, name);
    void *values = &job->settings;
    if (!row) {
        row = find_row(photo_rows, photos, name);
        values = &job->photos;
    }
    if (!row)
        return esra_fail(&job->message, ESRA_BAD_ARGUMENT, "there is no option '%.40s'", name);
    if (set_value(values, row, value))
        return ESRA_OK;
    if (row->names)
        return esra_fail(&job->message, ESRA_BAD_ARGUMENT, "the option %s is one of %s", name, row->names);
    return esra_fail(&job->message, ESRA_BAD_ARGUMENT, "the option %s is a number from %g to %g", name, row->lowest,
                     row->highest);
}

/* Counted from 1, as on the command line, which reads it as text. */
static esra_status take_reference(struct job *job, const json_t *value)
{
    char text[32];
    snprintf(text, sizeof text, "%.0f", json_number_value(value));
    job->options.reference = strdup(text);
    return job->options.reference ? ESRA_OK : esra_fail_memory(&job->message);
}

esra_status options_take(struct job *job, const char *text)
{
    json_error_t error;
    json_t *object, *value;
    const char *name;
    esra_status status;
    TRY(json_read(&object, text, strlen(text), &error, &job->message));
    json_object_foreach (object, name, value)
        TRY(strcmp(name, "reference") == 0 ? take_reference(job, value) : take_one(job, name, value));
done:
    json_decref(object);
    return status;
}
