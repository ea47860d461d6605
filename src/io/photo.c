/* io/photo.c - photos in and out of files: the codec table, and the steps that all formats share. */
#include "io/photo.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "io/codec.h"
#include "io/exif.h"
#include "io/orient.h"
#include "io/parcel.h"
#include "io/profile.h"

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
 * NEF, ARW) are told by their tags, in tiff.c. */
static const struct codec codecs[] = {
    {"PNG", "png", "\x89PNG\r\n\x1a\n", NULL, esra_png_decode, esra_png_encode, 8 + 16},
    {"JPEG", "jpg jpeg jpe jfif", "\xff\xd8\xff", NULL, esra_jpeg_decode, esra_jpeg_encode, 8},
    {RAW_NAME, "dng cr2 cr3 nef arw raf orf rw2 pef srw x3f",
     "II*0????CR|FUJIFILMCCD-RAW|IIRO|IIRS|MMOR|IIU0|FOVb|????ftypcrx ", "libraw (libraw-dev)", RAW_DECODE, NULL, 0},
    {"TIFF", "tif tiff", "II*0|MM0*|II+0|MM0+", NULL, esra_tiff_decode, esra_tiff_encode, 8 + 16 + 32},
    {"NPY", "npy", "\x93NUMPY", NULL, esra_array_decode, esra_array_encode, 32},
    {"AVIF", "avif", "????ftypavif|????ftypavis", "libheif (libheif-dev)", HEIF_DECODE, NULL, 0},
    {"HEIC", "heic heif hif",
     "????ftypheic|????ftypheix|????ftyphevc|????ftypheim|????ftypheis|????ftypmif1|????ftypmsf1",
     "libheif (libheif-dev)", HEIF_DECODE, NULL, 0},
};
#define CODECS ((int)(sizeof codecs / sizeof codecs[0]))

/* Bytes of a file that every magic fits in. */
#define HEAD 16

/* ---- The table ---- */

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

static const struct codec *codec_of_head(const unsigned char *head, size_t size)
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

static const struct codec *codec_of_word(const char *word)
{
    for (int n = 0; n < CODECS; n++)
        if (strcasecmp(codecs[n].name, word) == 0 || has_word(codecs[n].extensions, word))
            return &codecs[n];
    return NULL;
}

int esra_codec_number(const char *name)
{
    const struct codec *codec = codec_of_word(name);
    return codec ? (int)(codec - codecs) : -1;
}

const char *esra_codec_name(int number)
{
    return number >= 0 && number < CODECS ? codecs[number].name : NULL;
}

/* Without slash or dot there is no extension: "". */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

void esra_photo_formats(bool writing, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int n = 0; n < CODECS && used < size; n++)
        if (writing ? codecs[n].encode != NULL : codecs[n].decode != NULL)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", codecs[n].name);
}

/* ---- What decoders share ---- */

esra_status esra_decoding_damaged(struct decoding *decoding, const char *words)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA,
                     "%s is damaged (%.120s); get a fresh copy, or take what is there with --tolerate-truncated",
                     decoding->input->name, words);
}

esra_status esra_decoding_truncated(struct decoding *decoding)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA,
                     "%s is truncated; get a fresh copy, or take what is there with --tolerate-truncated",
                     decoding->input->name);
}

esra_status esra_decoding_refuse(struct decoding *decoding, const char *what, const char *advice)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s %s; %s", decoding->input->name, what, advice);
}

/* Composing with a background would invent light that the camera never saw. */
esra_status esra_decoding_transparent(struct decoding *decoding)
{
    return esra_decoding_refuse(decoding, "has transparent pixels, which no photo has", "flatten it first");
}

esra_status esra_decoding_check_metadata(struct decoding *decoding, int64_t bytes)
{
    int64_t limit = decoding->options->limits.metadata;
    if (bytes <= limit)
        return ESRA_OK;
    return esra_fail(decoding->message, ESRA_OVER_LIMIT,
                     "%s has over %.1f MiB of metadata; if it can be trusted, lift the limits with --no-limits",
                     decoding->input->name, (double)limit / (1 << 20));
}

esra_status esra_decoding_check_size(struct decoding *decoding, int64_t width, int64_t height)
{
    int64_t limit = decoding->options->limits.pixels, side = decoding->options->limits.side;
    if (width < 1 || height < 1)
        return esra_decoding_refuse(decoding, "claims to have no pixels", "get a fresh copy");
    if (width > INT_MAX || height > INT_MAX || width > side || height > side || width > limit / height)
        return esra_fail(decoding->message, ESRA_OVER_LIMIT,
                         "%s claims %lld x %lld pixels, over the limit of %.0f megapixels or %lld a side; if it can be "
                         "trusted, lift the limits with --no-limits",
                         decoding->input->name, (long long)width, (long long)height, (double)limit / 1e6,
                         (long long)side);
    return ESRA_OK;
}

esra_status esra_decoding_claim(struct decoding *decoding, int64_t width, int64_t height, int channels)
{
    esra_status status = esra_decoding_check_size(decoding, width, height);
    if (status != ESRA_OK)
        return status;
    struct image *pixels = &decoding->photo->pixels;
    esra_image_free(pixels);
    *pixels = (struct image){NULL, (int)width, (int)height, channels};
    if (decoding->options->head_only)
        return ESRA_OK;
    /* Both sides fit an int, so their product fits; with channels and bytes the allocation checks it. */
    pixels->data = esra_allocate_untouched((size_t)width * (size_t)height, (size_t)channels * sizeof *pixels->data);
    return pixels->data ? ESRA_OK : esra_fail_memory(decoding->message);
}

void esra_decoding_blacken(struct decoding *decoding, int row)
{
    const struct image *pixels = &decoding->photo->pixels;
    size_t rest = (size_t)(pixels->height - row) * (size_t)pixels->width;
    for (int c = 0; c < pixels->channels && rest; c++)
        memset(plane_row(image_plane(pixels, c), row), 0, rest * sizeof(float));
}

esra_status esra_bytes_copy(struct bytes *bytes, const void *from, size_t size, struct message *message)
{
    esra_bytes_free(bytes);
    if (size == 0)
        return ESRA_OK;
    bytes->data = malloc(size);
    if (!bytes->data)
        return esra_fail_memory(message);
    memcpy(bytes->data, from, size);
    bytes->size = size;
    return ESRA_OK;
}

void esra_bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

esra_status esra_input_slurp(struct input *input, struct bytes *bytes, struct message *message)
{
    esra_status status = esra_input_measure(input, message);
    if (status != ESRA_OK)
        return status;
    size_t size = (size_t)esra_input_left(input);
    esra_bytes_free(bytes);
    bytes->data = malloc(size ? size : 1);
    if (!bytes->data)
        return esra_fail_memory(message);
    return esra_input_take(input, bytes->data, size, &bytes->size, message);
}

/* ---- Reading ---- */

static esra_status decode_with(const struct codec *codec, struct decoding *decoding)
{
    decoding->photo->format = codec->name;
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
    return decode_with(codec_of_word(name), decoding);
}

static esra_status decode(struct decoding *decoding)
{
    unsigned char head[HEAD];
    size_t got;
    esra_status status;
    TRY(esra_input_take(decoding->input, head, sizeof head, &got, decoding->message));
    TRY(esra_input_seek(decoding->input, 0, decoding->message));
    const struct codec *codec = codec_of_head(head, got);
    if (codec)
        return decode_with(codec, decoding);
    if (got == 0)
        return esra_decoding_refuse(decoding, "is empty", "get a fresh copy");
    char known[128];
    esra_photo_formats(false, known, sizeof known);
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s is no photo that this esra can read (%s); convert it to PNG",
                     decoding->input->name, known);
fail:
    return status;
}

/* Only float files can hold what no later stage could use. */
static esra_status check_finite(struct decoding *decoding)
{
    const struct image *pixels = &decoding->photo->pixels;
    size_t count = (size_t)pixels->width * (size_t)pixels->height * (size_t)pixels->channels;
    if (decoding->photo->depth != 32 || !pixels->data)
        return ESRA_OK;
    for (size_t n = 0; n < count; n++)
        if (!isfinite(pixels->data[n]))
            return esra_decoding_refuse(decoding, "has samples that are not numbers", "replace NaN and infinity in it");
    return ESRA_OK;
}

static esra_status make_upright(struct decoding *decoding)
{
    struct photo *photo = decoding->photo;
    int orientation = esra_exif_settle(&photo->exif);
    if (decoding->orientation)
        orientation = decoding->orientation;
    if (orientation >= 5)
        esra_exif_swap_sides(&photo->exif);
    photo->orientation = orientation >= 1 && orientation <= 8 ? orientation : 1;
    if (photo->pixels.data)
        return esra_orient(&photo->pixels, orientation, decoding->message);
    if (photo->orientation >= 5)
        photo->pixels = (struct image){NULL, photo->pixels.height, photo->pixels.width, photo->pixels.channels};
    return ESRA_OK;
}

esra_status esra_photo_read_input(struct photo *photo, struct input *input, const struct read_options *options,
                                  struct message *message)
{
    struct decoding decoding = {.input = input, .options = options, .photo = photo, .message = message};
    esra_status status;
    *photo = (struct photo){0};
    input->keep = true;
    input->keep_limit = options->limits.stream;
    TRY(decode(&decoding));
    TRY(check_finite(&decoding));
    TRY(make_upright(&decoding));
    if (options->profile)
        TRY(esra_profile_look(photo, message));
    return ESRA_OK;
fail:
    esra_photo_free(photo);
    return status;
}

bool esra_photo_can_distrust(void)
{
#ifdef ESRA_HAVE_SECCOMP
    return true;
#else
    return false;
#endif
}

static esra_status read_distrusting(struct photo *photo, struct input *input, const struct read_options *options,
                                    struct message *message)
{
#ifdef ESRA_HAVE_SECCOMP
    return esra_parcel_read(photo, input, options, message);
#else
    (void)photo, (void)options;
    return esra_fail(message, ESRA_BAD_ARGUMENT, "%s cannot be decoded apart: this esra was built without libseccomp",
                     input->name);
#endif
}

esra_status esra_photo_read(struct photo *photo, const char *path, const struct read_options *options,
                            struct message *message)
{
    struct input input;
    *photo = (struct photo){0};
    esra_status status = esra_input_open(&input, path, message);
    if (status != ESRA_OK)
        return status;
    status = options->untrusted ? read_distrusting(photo, &input, options, message)
                                : esra_photo_read_input(photo, &input, options, message);
    esra_input_close(&input);
    return status;
}

double esra_photo_curve(const void *photo, int channel, double code)
{
    return ((const struct photo *)photo)->curves[channel * CURVE_CODES + (int)lround(code * (CURVE_CODES - 1))];
}

void esra_photo_free(struct photo *photo)
{
    esra_image_free(&photo->pixels);
    esra_bytes_free(&photo->icc);
    esra_bytes_free(&photo->exif);
    free(photo->curves);
    *photo = (struct photo){0};
}

/* ---- Writing ---- */

static esra_status choose_codec(const struct codec **codec, const char *path, const struct write_options *options,
                                struct message *message)
{
    char known[128];
    const char *word = options->format ? options->format : extension_of(path);
    *codec = codec_of_word(word);
    if (*codec && (*codec)->encode)
        return ESRA_OK;
    esra_photo_formats(true, known, sizeof known);
    if (!word[0])
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "the name %s does not say its format; end it in .png, or choose one (%s)", path, known);
    return esra_fail(message, ESRA_BAD_ARGUMENT, "photos cannot be written as '%.32s'; choose one of %s", word, known);
}

/* The depth to write: as asked, or the photo's own, or the nearest below it, or the only one. */
static int choose_depth(const struct codec *codec, int asked, int own)
{
    for (int depth = asked ? asked : own ? own : 8; depth >= 8; depth /= 2)
        if (codec->depths & depth)
            return depth;
    return codec->depths & 8 ? 8 : 32;
}

esra_status esra_photo_check_write(const char *path, const struct write_options *options, struct message *message)
{
    const struct codec *codec;
    esra_status status = choose_codec(&codec, path, options, message);
    if (status != ESRA_OK)
        return status;
    int depth = options->depth;
    if (depth && ((depth != 8 && depth != 16 && depth != 32) || !(codec->depths & depth)))
        return esra_fail(message, ESRA_BAD_ARGUMENT, "%s cannot hold %d bits a sample; it holds%s%s%s", codec->name,
                         depth, codec->depths & 8 ? " 8" : "", codec->depths & 16 ? " 16" : "",
                         codec->depths & 32 ? " 32 (float)" : "");
    if (options->quality < 1 || options->quality > 100)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "a JPEG quality of %d is not in 1..100", options->quality);
    return ESRA_OK;
}

esra_status esra_photo_write_output(const struct photo *photo, struct output *output, const char *path,
                                    const struct write_options *options, struct message *message)
{
    const struct codec *codec;
    esra_status status;
    TRY(esra_photo_check_write(path, options, message));
    TRY(choose_codec(&codec, path, options, message));
    struct encoding encoding = {output, photo, choose_depth(codec, options->depth, photo->depth), options->quality,
                                message};
    TRY(codec->encode(&encoding));
fail:
    return status;
}

esra_status esra_photo_write(const struct photo *photo, const char *path, const struct write_options *options,
                             struct message *message)
{
    struct output output = {.fd = -1};
    esra_status status;
    TRY(esra_photo_check_write(path, options, message));
    TRY(esra_output_open(&output, path, message));
    TRY(esra_photo_write_output(photo, &output, path, options, message));
    TRY(esra_output_commit(&output, message));
    return ESRA_OK;
fail:
    esra_output_discard(&output);
    return status;
}
