/* tools/esra/text.h - text that others have chosen, such as names of files, on its way to a terminal. */
#ifndef ESRA_TOOL_TEXT_H
#define ESRA_TOOL_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character at text (RFC 3629); 0 where there is none. */
size_t text_character(const char *text, size_t left);

/* Puts a question mark for every character that would steer a terminal. */
void text_make_plain(char *text);

/* A file's name, treated so. */
void print_plain(FILE *file, const char *name);

#endif
