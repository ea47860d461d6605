/* tests/fuzz/photo.c - any bytes as a photo of the format FUZZ_FORMAT: an error, or a photo that is whole in itself and
 * can be written again with all its metadata. */
#include <math.h>

#include "colour/light.h"
#include "fuzz.h"
#include "io/photo.h"
#include "io/profile.h"

static void check_pixels(const struct photo *photo)
{
    const struct image *pixels = &photo->pixels;
    MUST(pixels->width > 0 && pixels->height > 0 && (pixels->channels == 1 || pixels->channels == 3));
    for (long n = 0; n < (long)pixels->width * pixels->height * pixels->channels; n++)
        MUST(isfinite(pixels->data[n]));
}

static void check_light(struct photo *photo)
{
    struct light light;
    struct message message;
    MUST(esra_profile_look(photo, &message) == ESRA_OK);
    bool fits = photo->curves && photo->curve_channels == photo->pixels.channels;
    MUST(esra_light_choose(&light, photo->icc.size > 0, photo->pixels.channels, fits ? esra_photo_curve : NULL, photo,
                           &message) == ESRA_OK);
    esra_light_free(&light);
}

/* Metadata that a format cannot hold may be refused; what is written must be read again. */
static void write_again(const struct photo *photo, const struct read_options *read)
{
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct photo again = {0};
    struct bytes file = {0};
    struct message message;
    options.format = FUZZ_FORMAT;
    if (esra_photo_encode(photo, &options, &file, &message) == ESRA_OK) {
        struct read_options lenient = *read;
        lenient.limits = (struct limits)LIMITS_NONE;
        esra_status status = esra_photo_decode(&again, file.data, file.size, "written", &lenient, &message);
        if (status != ESRA_OK)
            fprintf(stderr, "%s\n", message.text);
        MUST(status == ESRA_OK && again.pixels.width == photo->pixels.width);
        esra_photo_free(&again);
    }
    esra_bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message = {""};
    options.limits.pixels = 1 << 16;
    options.tolerate_truncated = size % 2;
    esra_status status = esra_photo_decode(&photo, bytes, size, "fuzzed", &options, &message);
    if (status == ESRA_OK) {
        check_pixels(&photo);
        check_light(&photo);
        write_again(&photo, &options);
    } else {
        MUST(status == ESRA_BAD_DATA || status == ESRA_OVER_LIMIT);
        MUST(message.text[0] && !strchr(message.text, '\n'));
    }
    esra_photo_free(&photo);
    return 0;
}
