/* io/tiff.c - what reading and writing TIFF share: a file of libtiff's, and what libtiff says of it. */
#include "io/tiff.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void keep_words(struct tiff_file *file, const char *format, va_list arguments)
{
    if (!file->words[0])
        vsnprintf(file->words, sizeof file->words, format, arguments);
}

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    (void)tiff;
    (void)module;
    keep_words(user, format, arguments);
    return 1;
}

/* Decoders that make up what is missing, and only warn of it; the others (LZW, Deflate, ZSTD, LZMA) report an error. Of
 * JPEGPreDecode, a strip that holds less than its share of the picture is damage, one that holds more is not. */
static bool is_damage(const char *module, const char *format)
{
    return strcmp(module, "JPEGLib") == 0 || strcmp(module, "PackBitsDecode") == 0 ||
           (strcmp(module, "JPEGPreDecode") == 0 && strncmp(format, "Improper", 8) == 0);
}

/* What libtiff finds odd in a directory does no harm to the pixels. */
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    (void)tiff;
    if (module && is_damage(module, format))
        keep_words(user, format, arguments);
    return 1;
}

bool esra_tiff_prepare(struct tiff_file *file)
{
    file->options = TIFFOpenOptionsAlloc();
    if (!file->options)
        return false;
    TIFFOpenOptionsSetErrorHandlerExtR(file->options, on_error, file);
    TIFFOpenOptionsSetWarningHandlerExtR(file->options, on_warning, file);
    return true;
}

int esra_tiff_on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

/* A block larger than was allowed, or of nothing, is the file's fault and not the machine's. */
bool esra_tiff_memory_was_short(const struct tiff_file *file)
{
    static const char *const words[] = {"malloc", "Out of memory", "No space", "allocate memory", "Insertion in"};
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++)
        if (strstr(file->words, words[n]))
            return !strstr(file->words, "beyond the") && !strstr(file->words, "(0 elements");
    return false;
}

void esra_tiff_close(struct tiff_file *file)
{
    if (file->tiff)
        TIFFClose(file->tiff);
    if (file->options)
        TIFFOpenOptionsFree(file->options);
    *file = (struct tiff_file){0};
}
