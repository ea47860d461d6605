/* tools/esra/json.h - what commands read and say as JSON have in common: it is whole, or not there at all when memory
 * is short. */
#ifndef ESRA_TOOL_JSON_H
#define ESRA_TOOL_JSON_H

#include <jansson.h>

#include "base/status.h"
#include "exit.h"
#include "io/codec.h"

/* Twelve digits: more than any number here is worth. */
#define JSON_STYLE (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

/* Parses text, keys of an object no more than once. *object is NULL where the text is no JSON, and error says why; that
 * memory was short is a failure. */
esra_status json_read(json_t **object, const char *text, size_t size, json_error_t *error, struct message *message);

/* A whole file of text, or what comes through a pipe, of `most` bytes at most; advice for one that is larger. */
esra_status text_read(struct bytes *text, const char *path, int64_t most, const char *advice, struct message *message);

/* A file's name may hold any bytes, JSON holds UTF-8: every byte that is not stands as U+FFFD. */
json_t *name_to_json(const char *name);

/* A number; null where it is none: JSON has neither infinity nor NaN, and jansson would call both want of memory. */
json_t *number_to_json(double number);

/* Appends and takes the item over; where that fails the list is given up and becomes NULL, as it stays. */
void json_append(json_t **list, json_t *item);

/* The same with a key of an object. */
void json_set(json_t **object, const char *key, json_t *item);

/* Fresh text, in a style of jansson's, that ends with a newline; NULL where memory is short or object is NULL. */
char *json_text(const json_t *object, size_t style);

/* That on standard output, and the object gone; returns code, or what went wrong. */
enum exit_code print_object(json_t *object, size_t style, const char *command, enum exit_code code);

#endif
