/* tools/esra/text.h - text that others have chosen, such as names of files, on its way to a terminal. */
#ifndef ESRA_TOOL_TEXT_H
#define ESRA_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at text (RFC 3629); 0 where there is none. */
size_t text_character(const char *text, size_t left);

/* Whether it is nothing but such characters, as JSON wants it. */
bool text_is_utf8(const char *text);

/* Puts a question mark for every character that would steer a terminal. */
void text_make_plain(char *text);

/* A file's name, treated so. */
void print_plain(FILE *file, const char *name);

#endif
