/* tests/fuzz/metadata.c - any bytes as an EXIF block (first byte even) or an ICC profile (odd): whatever
 * the curves of a stranger's profile say, what light becomes of them is a number. */
#include <math.h>

#include "colour/light.h"
#include "fuzz.h"
#include "io/exif.h"
#include "io/profile.h"

static void try_exif(const uint8_t *bytes, size_t size)
{
    /* The least TIFF that a block can be put into: a directory with places for EXIF and GPS, in either byte order. */
    static const unsigned char little[] = "II*\0\x08\0\0\0\2\0i\x87\4\0\1\0\0\0\0\0\0\0%\x88\4\0\1\0\0\0\0\0\0\0\0\0\0";
    static const unsigned char big[] = "MM\0*\0\0\0\x08\0\2\x87i\0\4\0\0\0\1\0\0\0\0\x88%\0\4\0\0\0\1\0\0\0\0\0\0\0";
    struct bytes exif = {0}, tiff = {0};
    struct message message;
    char text[16];
    MUST(esra_bytes_copy(&exif, bytes, size, &message) == ESRA_OK);
    int orientation = esra_exif_settle(&exif);
    MUST(orientation >= 1 && orientation <= 8);
    esra_exif_swap_sides(&exif);
    esra_exif_text(&exif, 0x010f, text, sizeof text);
    MUST(memchr(text, 0, sizeof text));
    MUST(esra_bytes_copy(&tiff, esra_exif_big_endian(&exif) ? big : little, sizeof little, &message) == ESRA_OK);
    MUST(esra_exif_into_tiff(&exif, &tiff, &message) == ESRA_OK);
    esra_bytes_free(&exif);
    esra_bytes_free(&tiff);
}

static void try_profile(const uint8_t *bytes, size_t size)
{
    struct bytes icc = {0};
    struct message message;
    MUST(esra_bytes_copy(&icc, bytes, size, &message) == ESRA_OK);
    for (int channels = 1; channels <= 3; channels += 2) {
        struct photo photo = {.icc = icc, .pixels.channels = channels};
        struct light light;
        MUST(esra_profile_look(&photo, &message) == ESRA_OK);
        MUST(esra_light_choose(&light, true, channels, photo.curves ? esra_photo_curve : NULL, &photo, &message) ==
             ESRA_OK);
        for (int n = 0; n <= 16; n++)
            for (int c = 0; c < channels; c++) {
                float value = esra_light_decode_one(&light, c, (float)n / 16);
                MUST(isfinite(value) && isfinite(esra_light_encode_one(&light, c, value)));
            }
        esra_light_free(&light);
        free(photo.curves);
    }
    esra_bytes_free(&icc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size > 0 && bytes[0] % 2 == 0)
        try_exif(bytes + 1, size - 1);
    else if (size > 0)
        try_profile(bytes + 1, size - 1);
    return 0;
}
