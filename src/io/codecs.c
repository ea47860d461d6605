/* io/codecs.c - the codec table. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "io/codec.h"

#ifdef ESRA_HAVE_LIBHEIF
#define HEIF_DECODE esra_heif_decode
#else
#define HEIF_DECODE NULL
#endif
#ifdef ESRA_HAVE_LIBRAW
#define RAW_DECODE esra_raw_decode
#else
#define RAW_DECODE NULL
#endif

#define RAW_NAME "camera RAW"

/* The first row whose magic fits wins: CR2 is a TIFF with two letters more. Other RAW formats on TIFF's ground (DNG,
 * NEF, ARW) are told by their tags, in exif_tiff.c. */
static const struct codec codecs[] = {
    {"PNG", "png", "\x89PNG\r\n\x1a\n", NULL, esra_png_decode, esra_png_encode, 8 + 16, true, NULL},
    {"JPEG", "jpg jpeg jpe jfif", "\xff\xd8\xff", NULL, esra_jpeg_decode, esra_jpeg_encode, 8, true, esra_jpeg_check},
    {RAW_NAME, "dng cr2 cr3 nef arw raf orf rw2 pef srw x3f",
     "II*0????CR|FUJIFILMCCD-RAW|IIRO|IIRS|MMOR|IIU0|FOVb|????ftypcrx ", "libraw (libraw-dev)", RAW_DECODE, NULL, 0,
     true, NULL},
    {"TIFF", "tif tiff", "II*0|MM0*|II+0|MM0+", NULL, esra_tiff_decode, esra_tiff_encode, 8 + 16 + 32, true, NULL},
    {"NPY", "npy", "\x93NUMPY", NULL, esra_array_decode, esra_array_encode, 32, false, NULL},
    {"AVIF", "avif", "????ftypavif|????ftypavis", "libheif (libheif-dev)", HEIF_DECODE, NULL, 0, false, NULL},
    {"HEIC", "heic heif hif",
     "????ftypheic|????ftypheix|????ftyphevc|????ftypheim|????ftypheis|????ftypmif1|????ftypmsf1",
     "libheif (libheif-dev)", HEIF_DECODE, NULL, 0, false, NULL},
};
#define CODECS ((int)(sizeof codecs / sizeof codecs[0]))

/* One alternative of a magic, up to its '|'. */
static bool fits(const char *magic, const unsigned char *head, size_t size)
{
    for (size_t n = 0; magic[n] && magic[n] != '|'; n++) {
        unsigned char wanted = magic[n] == '0' ? 0 : (unsigned char)magic[n];
        if (n >= size || (magic[n] != '?' && head[n] != wanted))
            return false;
    }
    return true;
}

const struct codec *esra_codec_of_head(const unsigned char *head, size_t size)
{
    for (int n = 0; n < CODECS; n++)
        for (const char *magic = codecs[n].magic; magic; magic = strchr(magic, '|') ? strchr(magic, '|') + 1 : NULL)
            if (fits(magic, head, size))
                return &codecs[n];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && strncasecmp(at, word, length) == 0)
            return true;
    return false;
}

const struct codec *esra_codec_of_word(const char *word)
{
    for (int n = 0; n < CODECS; n++)
        if (strcasecmp(codecs[n].name, word) == 0 || has_word(codecs[n].extensions, word))
            return &codecs[n];
    return NULL;
}

int esra_codec_number(const char *name)
{
    const struct codec *codec = esra_codec_of_word(name);
    return codec ? (int)(codec - codecs) : -1;
}

const char *esra_codec_name(int number)
{
    return number >= 0 && number < CODECS ? codecs[number].name : NULL;
}

void esra_photo_formats(bool writing, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int n = 0; n < CODECS && used < size; n++)
        if (writing ? codecs[n].encode != NULL : codecs[n].decode != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", codecs[n].name);
}

esra_status esra_codec_decode(const struct codec *codec, struct decoding *decoding)
{
    decoding->photo->format = codec->name;
    decoding->in_part = codec->in_part;
    if (codec->decode)
        return codec->decode(decoding);
    int library = (int)strcspn(codec->needs, " ");
    const char *package = codec->needs + library + 2;
    return esra_fail(decoding->message, ESRA_BAD_DATA,
                     "%s is %s, and this esra was built without %.*s: install %.*s and build again, or convert to PNG",
                     decoding->input->name, codec->name, library, codec->needs, (int)strlen(package) - 1, package);
}

esra_status esra_codec_decode_as(const char *name, struct decoding *decoding)
{
    return esra_codec_decode(esra_codec_of_word(name), decoding);
}
