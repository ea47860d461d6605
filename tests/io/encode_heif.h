/* tests/io/encode_heif.h - HEIC and AVIF files, where libheif has an encoder for them. */
#ifndef ESRA_TESTS_IO_ENCODE_HEIF_H
#define ESRA_TESTS_IO_ENCODE_HEIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <libheif/heif.h>

/* Display P3, by code points. */
static inline void tell_p3(struct heif_image *image)
{
    struct heif_color_profile_nclx *n = heif_nclx_color_profile_alloc();
    heif_nclx_color_profile_set_color_primaries(n, heif_color_primaries_SMPTE_EG_432_1);
    heif_nclx_color_profile_set_transfer_characteristics(n, heif_transfer_characteristic_IEC_61966_2_1);
    heif_nclx_color_profile_set_matrix_coefficients(n, heif_matrix_coefficients_ITU_R_BT_601_6);
    n->full_range_flag = 1;
    heif_image_set_nclx_color_profile(image, n);
    heif_nclx_color_profile_free(n);
}

static inline struct heif_image *heif_image_of(const uint8_t *rgb, int width, int height)
{
    struct heif_image *image = NULL;
    int stride;
    heif_image_create(width, height, heif_colorspace_RGB, heif_chroma_interleaved_RGB, &image);
    heif_image_add_plane(image, heif_channel_interleaved, width, height, 8);
    uint8_t *data = heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (int y = 0; y < height; y++)
        memcpy(data + (size_t)y * (size_t)stride, rgb + 3 * (size_t)y * (size_t)width, 3 * (size_t)width);
    return image;
}

/* False where there is no encoder, or it fails; exif may be NULL. */
static inline bool encode_heif(const char *path, enum heif_compression_format format, const uint8_t *rgb, int width,
                               int height, bool p3, const void *exif, int exif_size)
{
    struct heif_context *context = heif_context_alloc();
    struct heif_encoder *encoder = NULL;
    struct heif_image_handle *handle = NULL;
    struct heif_image *image = heif_image_of(rgb, width, height);
    if (p3)
        tell_p3(image);
    bool good = heif_context_get_encoder_for_format(context, format, &encoder).code == heif_error_Ok;
    if (good) {
        heif_encoder_set_lossy_quality(encoder, 95);
        good = heif_context_encode_image(context, image, encoder, NULL, &handle).code == heif_error_Ok;
        if (good && exif)
            good = heif_context_add_exif_metadata(context, handle, exif, exif_size).code == heif_error_Ok;
        good = good && heif_context_write_to_file(context, path).code == heif_error_Ok;
        heif_image_handle_release(handle);
        heif_encoder_release(encoder);
    }
    heif_image_release(image);
    heif_context_free(context);
    return good;
}

#endif
