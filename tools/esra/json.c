/* tools/esra/json.c - what commands read and say as JSON have in common. */
#include "json.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static bool ran_out;

static void *noting_malloc(size_t size)
{
    void *block = malloc(size);
    ran_out = ran_out || !block;
    return block;
}

/* When memory is short, jansson 2.14's reader drops bytes silently and then reports a syntax error. */
esra_status json_read(json_t **object, const char *text, size_t size, json_error_t *error, struct message *message)
{
    ran_out = false;
    json_set_alloc_funcs(noting_malloc, free);
    *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, error);
    if (!ran_out)
        return ESRA_OK;
    json_decref(*object);
    *object = NULL;
    return esra_fail_memory(message);
}

esra_status text_read(struct bytes *text, const char *path, int64_t most, const char *advice, struct message *message)
{
    struct input input;
    esra_status status = esra_input_open(&input, path, message);
    if (status != ESRA_OK)
        return status;
    input.keep = true;
    input.keep_limit = most;
    status = esra_input_measure(&input, message); /* of a pipe, as far as the limit */
    if (status == ESRA_OVER_LIMIT || (status == ESRA_OK && esra_input_left(&input) > most))
        status =
            esra_fail(message, ESRA_OVER_LIMIT, "%s is over %lld MiB; %s", input.name, (long long)(most >> 20), advice);
    if (status == ESRA_OK)
        status = esra_input_slurp(&input, text, message);
    esra_input_close(&input);
    return status;
}

json_t *name_to_json(const char *name)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t left = strlen(name), used = 0;
    char *text = malloc(3 * left + 1);
    while (text && left > 0) {
        size_t size = text_character(name, left), taken = size ? size : 1;
        memcpy(text + used, size ? name : unknown, size ? size : 3);
        used += size ? size : 3;
        name += taken;
        left -= taken;
    }
    json_t *string = text ? json_stringn(text, used) : NULL;
    free(text);
    return string;
}

json_t *number_to_json(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

void json_append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

void json_set(json_t **object, const char *key, json_t *item)
{
    if (json_object_set_new(*object, key, item) == 0)
        return;
    json_decref(*object);
    *object = NULL;
}

/* json_dumps() of jansson 2.14 leaves a key out where its buffer cannot grow, and does not say so. Into a block that is
 * large enough it never has to. */
char *json_text(const json_t *object, size_t style)
{
    size_t size = json_dumpb(object, NULL, 0, style);
    char *text = size ? malloc(size + 2) : NULL;
    if (text && json_dumpb(object, text, size, style) == size) {
        text[size] = '\n';
        text[size + 1] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

enum exit_code print_object(json_t *object, size_t style, const char *command, enum exit_code code)
{
    char *text = json_text(object, style);
    json_decref(object);
    if (!text)
        return complain(EXIT_LIMIT, command, "out of memory: the result could not be printed");
    fputs(text, stdout);
    free(text);
    return finish_stdout(code, command);
}
