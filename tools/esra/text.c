/* tools/esra/text.c - text that others have chosen, such as names of files, on its way to a terminal. */
#include "text.h"

#include <string.h>

size_t text_character(const char *text, size_t left)
{
    static const struct {
        unsigned mask, lead, least;
    } kinds[] = {{0x80, 0, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t size = 1;
    while (size <= 4 && ((unsigned char)text[0] & kinds[size - 1].mask) != kinds[size - 1].lead)
        size++;
    if (size > 4 || size > left)
        return 0;
    unsigned code = (unsigned char)text[0] & ~kinds[size - 1].mask;
    for (size_t n = 1; n < size; n++) {
        if (((unsigned char)text[n] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((unsigned char)text[n] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code >= kinds[size - 1].least && code <= 0x10ffff && !surrogate ? size : 0;
}

bool text_is_utf8(const char *text)
{
    for (size_t size; *text; text += size) {
        size = text_character(text, strnlen(text, 4));
        if (size == 0)
            return false;
    }
    return true;
}

/* C0, DEL and C1, which is two bytes of UTF-8 or, to a terminal that does not know UTF-8, one byte of no character. */
static bool steers(const char *text, size_t size)
{
    unsigned char first = (unsigned char)text[0];
    if (size == 2)
        return first == 0xc2 && (unsigned char)text[1] < 0xa0;
    return first < ' ' || first == 127 || (size == 0 && first < 0xa0);
}

/* How much of the text at hand belongs together, and what to show of it. */
static size_t take(const char *text, const char **shown, size_t *length)
{
    size_t size = text_character(text, strnlen(text, 4)), taken = size ? size : 1;
    bool hidden = steers(text, size);
    *shown = hidden ? "?" : text;
    *length = hidden ? 1 : taken;
    return taken;
}

void text_make_plain(char *text)
{
    const char *shown;
    char *to = text;
    for (size_t length; *text; to += length) {
        text += take(text, &shown, &length);
        memmove(to, shown, length);
    }
    *to = '\0';
}

void print_plain(FILE *file, const char *name)
{
    const char *shown;
    size_t length;
    while (*name) {
        name += take(name, &shown, &length);
        fwrite(shown, 1, length, file);
    }
}
