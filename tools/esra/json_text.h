/* tools/esra/json_text.h - JSON that is whole, or is not there at all, when memory is short. */
#ifndef ESRA_TOOL_JSON_TEXT_H
#define ESRA_TOOL_JSON_TEXT_H

#include <jansson.h>

#include "exit.h"

/* Appends and takes the item over; where that fails the list is given up and becomes NULL, as it stays. */
void json_append(json_t **list, json_t *item);

/* Fresh text that ends with a newline; NULL where memory is short or object is NULL. */
char *json_text(const json_t *object, size_t flags);

/* Prints that on stdout and flushes it; returns code, or what went wrong. */
enum exit_code json_print(const json_t *object, size_t flags, enum exit_code code, const char *command);

#endif
