/* tools/esra/json.c - what commands print as JSON have in common. */
#include "json.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the UTF-8 character at text; 0 where there is none. */
static size_t character_size(const char *text, size_t left)
{
    for (size_t size = 1; size <= 4 && size <= left; size++) {
        json_t *character = json_stringn(text, size);
        bool whole = character != NULL;
        json_decref(character);
        if (whole)
            return size;
    }
    return 0;
}

json_t *name_to_json(const char *name)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t left = strlen(name), used = 0;
    char *text = malloc(3 * left + 1);
    while (text && left > 0) {
        size_t size = character_size(name, left), taken = size ? size : 1;
        memcpy(text + used, size ? name : unknown, size ? size : 3);
        used += size ? size : 3;
        name += taken;
        left -= taken;
    }
    json_t *string = text ? json_stringn(text, used) : NULL;
    free(text);
    return string;
}

enum exit_code print_object(json_t *object, size_t style, const char *command, enum exit_code code)
{
    bool done = object && json_dumpf(object, stdout, style) == 0 && putchar('\n') != EOF;
    json_decref(object);
    if (!done)
        return complain(EXIT_IO, command, "the result could not be printed on standard output");
    return finish_stdout(code, command);
}

void print_plain(const char *name)
{
    for (; *name; name++)
        putchar((unsigned char)*name < ' ' || *name == 127 ? '?' : *name);
}
