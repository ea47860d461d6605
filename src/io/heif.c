/* io/heif.c - HEIC and AVIF by libheif, which turns the picture upright itself. */
#include <stdlib.h>
#include <string.h>

#include <libheif/heif.h>

#include "io/codec.h"
#include "io/exif.h"
#include "io/profile.h"
#include "io/samples.h"

struct job {
    struct decoding *decoding;
    struct bytes file;
    struct heif_context *context;
    struct heif_image_handle *handle;
    struct heif_image *image;
    int depth; /* of the file, 8 to 16 */
};

static esra_status damaged(struct job *job, struct heif_error error)
{
    if (error.code == heif_error_Memory_allocation_error && error.subcode == heif_suberror_Unspecified)
        return esra_fail_memory(job->decoding->message);
    return esra_decoding_damaged(job->decoding, error.message ? error.message : "libheif gives no reason");
}

static esra_status open_file(struct job *job)
{
    struct decoding *decoding = job->decoding;
    esra_status status;
    TRY(esra_decoding_slurp(decoding, &job->file));
    job->context = heif_context_alloc();
    if (!job->context)
        return esra_fail_memory(decoding->message);
    struct heif_error error =
        heif_context_read_from_memory_without_copy(job->context, job->file.data, job->file.size, NULL);
    if (error.code == heif_error_Ok)
        error = heif_context_get_primary_image_handle(job->context, &job->handle);
    if (error.code != heif_error_Ok)
        return damaged(job, error);
    job->depth = heif_image_handle_get_luma_bits_per_pixel(job->handle);
done:
    return status;
}

/* Without an ICC profile, code points (ITU-T H.273) may tell the colours. With sRGB's curve, or the camera's of BT.709
 * that screens show alike, other primaries than sRGB's become a profile; curves for HDR are not undone. */
static esra_status take_code_points(struct job *job)
{
    struct heif_color_profile_nclx *n = NULL;
    esra_status status = ESRA_OK;
    if (heif_image_handle_get_nclx_color_profile(job->handle, &n).code != heif_error_Ok || !n)
        return ESRA_OK;
    bool usual = n->transfer_characteristics == heif_transfer_characteristic_IEC_61966_2_1 ||
                 n->transfer_characteristics == heif_transfer_characteristic_ITU_R_BT_709_5;
    if (usual && n->color_primaries != heif_color_primaries_ITU_R_BT_709_5 &&
        n->color_primaries != heif_color_primaries_unspecified)
        status =
            esra_profile_make(&job->decoding->photo->icc,
                              (double[]){n->color_primary_red_x, n->color_primary_red_y, n->color_primary_green_x,
                                         n->color_primary_green_y, n->color_primary_blue_x, n->color_primary_blue_y,
                                         n->color_primary_white_x, n->color_primary_white_y},
                              job->decoding->message);
    heif_nclx_color_profile_free(n);
    return status;
}

static esra_status take_profile(struct job *job)
{
    struct decoding *decoding = job->decoding;
    enum heif_color_profile_type type = heif_image_handle_get_color_profile_type(job->handle);
    if (type == heif_color_profile_type_nclx)
        return take_code_points(job);
    if (type != heif_color_profile_type_rICC && type != heif_color_profile_type_prof)
        return ESRA_OK;
    size_t size = heif_image_handle_get_raw_color_profile_size(job->handle);
    esra_status status = esra_decoding_check_metadata(decoding, size > INT64_MAX ? INT64_MAX : (int64_t)size);
    if (status != ESRA_OK || size == 0)
        return status;
    decoding->photo->icc.data = malloc(size);
    if (!decoding->photo->icc.data)
        return esra_fail_memory(decoding->message);
    decoding->photo->icc.size = size;
    struct heif_error error = heif_image_handle_get_raw_color_profile(job->handle, decoding->photo->icc.data);
    return error.code == heif_error_Ok ? ESRA_OK : damaged(job, error);
}

/* The item holds the offset of the TIFF header in four bytes, then, mostly, "Exif\0\0", then the block. */
static esra_status copy_block(struct job *job, const unsigned char *item, size_t size)
{
    if (size < 4)
        return ESRA_OK;
    size_t offset = (size_t)item[0] << 24 | (size_t)item[1] << 16 | (size_t)item[2] << 8 | item[3];
    if (offset >= size - 4)
        return ESRA_OK;
    return esra_bytes_copy(&job->decoding->photo->exif, item + 4 + offset, size - 4 - offset, job->decoding->message);
}

static esra_status take_exif(struct job *job)
{
    heif_item_id id;
    if (heif_image_handle_get_list_of_metadata_block_IDs(job->handle, "Exif", &id, 1) < 1)
        return ESRA_OK;
    size_t size = heif_image_handle_get_metadata_size(job->handle, id);
    esra_status status = esra_decoding_check_metadata(job->decoding, size > INT64_MAX ? INT64_MAX : (int64_t)size);
    if (status != ESRA_OK)
        return status;
    unsigned char *item = malloc(size ? size : 1);
    if (!item)
        return esra_fail_memory(job->decoding->message);
    if (heif_image_handle_get_metadata(job->handle, id, item).code == heif_error_Ok)
        status = copy_block(job, item, size);
    free(item);
    return status;
}

static esra_status decode_image(struct job *job)
{
    enum heif_chroma chroma = job->depth > 8
                                  ? (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? heif_chroma_interleaved_RRGGBBAA_BE
                                                                            : heif_chroma_interleaved_RRGGBBAA_LE)
                                  : heif_chroma_interleaved_RGBA;
    struct heif_error error = heif_decode_image(job->handle, &job->image, heif_colorspace_RGB, chroma, NULL);
    if (error.code != heif_error_Ok)
        return damaged(job, error);
    job->depth = heif_image_get_bits_per_pixel_range(job->image, heif_channel_interleaved);
    job->decoding->photo->depth = job->depth > 8 ? 16 : 8;
    return ESRA_OK;
}

static float sample_at(const unsigned char *row, int index, int depth)
{
    uint16_t value = row[index];
    if (depth > 8)
        memcpy(&value, row + 2 * index, sizeof value);
    return (float)value / (float)((1 << depth) - 1);
}

static esra_status store_pixels(struct job *job)
{
    int stride;
    const unsigned char *data = heif_image_get_plane_readonly(job->image, heif_channel_interleaved, &stride);
    int width = heif_image_get_width(job->image, heif_channel_interleaved);
    int height = heif_image_get_height(job->image, heif_channel_interleaved);
    const struct image *pixels = &job->decoding->photo->pixels;
    esra_status status;
    if (!data)
        return esra_decoding_damaged(job->decoding, "libheif gives no pixels");
    TRY(esra_decoding_claim(job->decoding, width, height, 3));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const unsigned char *row = data + (ptrdiff_t)y * stride;
            for (int c = 0; c < 3; c++)
                plane_row(image_plane(pixels, c), y)[x] = sample_at(row, 4 * x + c, job->depth);
            if (sample_at(row, 4 * x + 3, job->depth) < 1)
                return esra_decoding_transparent(job->decoding);
        }
done:
    return status;
}

static esra_status decode(struct job *job)
{
    esra_status status;
    TRY(open_file(job));
    /* Refuses what is too large before libheif decodes it; taken again below, for the size after turning. */
    TRY(esra_decoding_claim(job->decoding, heif_image_handle_get_width(job->handle),
                            heif_image_handle_get_height(job->handle), 3));
    TRY(take_profile(job));
    TRY(take_exif(job));
    job->decoding->orientation = 1;
    job->decoding->photo->depth = job->depth > 8 ? 16 : 8;
    if (job->decoding->options->head_only)
        return ESRA_OK;
    TRY(decode_image(job));
    TRY(store_pixels(job));
done:
    return status;
}

esra_status esra_heif_decode(struct decoding *decoding)
{
    struct job job = {.decoding = decoding};
    esra_status status = decode(&job);
    if (job.image)
        heif_image_release(job.image);
    if (job.handle)
        heif_image_handle_release(job.handle);
    if (job.context)
        heif_context_free(job.context);
    esra_bytes_free(&job.file);
    return status;
}
