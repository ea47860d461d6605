/* tools/esra/choices.c - words for the values of the library's tables. */
#include <stdio.h>
#include <string.h>

#include "options.h"

void choice_word(const esra_setting *row, int value, char *text, size_t size)
{
    const char *word = row->names;
    for (; value > 0; value--)
        word += strcspn(word, "|") + 1;
    snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
}

void setting_choice(const char *name, int value, char *text, size_t size)
{
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    *text = '\0';
    for (size_t n = 0; n < count; n++)
        if (strcmp(table[n].name, name) == 0)
            choice_word(&table[n], value, text, size);
}
