/* tools/esra/json_text.c - JSON that is whole, or is not there at all, when memory is short. */
#include "json_text.h"

#include <stdio.h>
#include <stdlib.h>

void json_append(json_t **list, json_t *item)
{
    if (json_array_append_new(*list, item) == 0)
        return;
    json_decref(*list);
    *list = NULL;
}

/* json_dumps() of jansson 2.14 leaves a key out where its buffer cannot grow, and does not say so. Into a block that is
 * large enough it never has to. */
char *json_text(const json_t *object, size_t flags)
{
    size_t size = json_dumpb(object, NULL, 0, flags);
    char *text = size ? malloc(size + 2) : NULL;
    if (text && json_dumpb(object, text, size, flags) == size) {
        text[size] = '\n';
        text[size + 1] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

enum exit_code json_print(const json_t *object, size_t flags, enum exit_code code, const char *command)
{
    char *text = json_text(object, flags);
    if (!text)
        return complain(EXIT_LIMIT, command, "out of memory: the result could not be printed");
    fputs(text, stdout);
    free(text);
    return finish_stdout(code, command);
}
