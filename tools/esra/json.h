/* tools/esra/json.h - what commands print as JSON have in common. */
#ifndef ESRA_TOOL_JSON_H
#define ESRA_TOOL_JSON_H

#include <jansson.h>

#include "exit.h"

/* Twelve digits: more than any number here is worth. */
#define JSON_STYLE (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

/* A file's name may hold any bytes, JSON holds UTF-8: every byte that is not stands as U+FFFD. */
json_t *name_to_json(const char *name);

/* The object on standard output in a style of jansson's, and gone; EXIT_IO instead of code where that fails. */
enum exit_code print_object(json_t *object, size_t style, const char *command, enum exit_code code);

/* A file's name on standard output, without what would steer a terminal. */
void print_plain(const char *name);

#endif
