/* io/photo.c - photos in and out of bytes: the steps that all formats share. */
#include "io/photo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/codec.h"
#include "io/exif.h"
#include "io/orient.h"
#include "io/parcel.h"
#include "io/profile.h"

/* ---- Reading ---- */

/* Bytes of a file that every magic fits in. */
#define HEAD 16

static esra_status decode(struct decoding *decoding)
{
    unsigned char head[HEAD];
    size_t got;
    esra_status status;
    TRY(esra_input_take(decoding->input, head, sizeof head, &got, decoding->message));
    TRY(esra_input_seek(decoding->input, 0, decoding->message));
    const struct codec *codec = esra_codec_of_head(head, got);
    if (codec)
        return esra_codec_decode(codec, decoding);
    if (got == 0)
        return esra_decoding_refuse(decoding, "is empty", "get a fresh copy");
    char known[128];
    esra_photo_formats(false, known, sizeof known);
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s is no photo that this esra can read (%s); convert it to PNG",
                     decoding->input->name, known);
done:
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
        photo->pixels = (struct image){
            .width = photo->pixels.height, .height = photo->pixels.width, .channels = photo->pixels.channels};
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
done:
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

static esra_status read_and_close(struct photo *photo, struct input *input, const struct read_options *options,
                                  struct message *message)
{
    esra_status status = options->untrusted ? read_distrusting(photo, input, options, message)
                                            : esra_photo_read_input(photo, input, options, message);
    esra_input_close(input);
    return status;
}

esra_status esra_photo_read(struct photo *photo, const char *path, const struct read_options *options,
                            struct message *message)
{
    struct input input;
    *photo = (struct photo){0};
    esra_status status = esra_input_open(&input, path, message);
    return status == ESRA_OK ? read_and_close(photo, &input, options, message) : status;
}

esra_status esra_photo_decode(struct photo *photo, const void *bytes, size_t size, const char *name,
                              const struct read_options *options, struct message *message)
{
    struct input input;
    *photo = (struct photo){0};
    esra_input_bytes(&input, bytes, size, name);
    return read_and_close(photo, &input, options, message);
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

/* Without slash or dot there is no extension: "". */
static const char *extension_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

static esra_status choose_codec(const struct codec **codec, const char *path, const struct write_options *options,
                                struct message *message)
{
    char known[128];
    const char *word = options->format ? options->format : extension_of(path);
    *codec = esra_codec_of_word(word);
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

esra_status esra_photo_check_fits(const struct photo *photo, const char *path, const struct write_options *options,
                                  struct message *message)
{
    const struct codec *codec;
    esra_status status = choose_codec(&codec, path, options, message);
    return status == ESRA_OK && codec->check ? codec->check(photo, path, message) : status;
}

esra_status esra_photo_write_output(const struct photo *photo, struct output *output, const char *path,
                                    const struct write_options *options, struct message *message)
{
    const struct codec *codec;
    esra_status status;
    TRY(esra_photo_check_write(path, options, message));
    TRY(choose_codec(&codec, path, options, message));
    if (codec->check)
        TRY(codec->check(photo, output->name, message));
    struct encoding encoding = {output, photo, choose_depth(codec, options->depth, photo->depth), options->quality,
                                message};
    TRY(codec->encode(&encoding));
done:
    return status;
}

esra_status esra_photo_encode(const struct photo *photo, const struct write_options *options, struct bytes *file,
                              struct message *message)
{
    struct output output;
    esra_output_memory(&output);
    esra_bytes_free(file);
    esra_status status = esra_photo_write_output(photo, &output, "memory", options, message);
    if (status == ESRA_OK)
        *file = esra_output_take(&output);
    esra_output_discard(&output);
    return status;
}
