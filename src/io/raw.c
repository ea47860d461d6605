/* io/raw.c - camera RAW by LibRaw: demosaiced, white-balanced as shot, 16 bit sRGB, upright. */
#include <libraw/libraw.h>

#include "io/codec.h"
#include "io/samples.h"

/* Newer versions report offsets past 2 GiB. */
#if LIBRAW_VERSION < LIBRAW_MAKE_VERSION(0, 21, 0)
typedef int raw_offset;
#else
typedef INT64 raw_offset;
#endif

static esra_status damaged(struct decoding *decoding, int error)
{
    if (error == LIBRAW_UNSUFFICIENT_MEMORY)
        return esra_fail_memory(decoding->message);
    if (error == LIBRAW_FILE_UNSUPPORTED)
        return esra_decoding_refuse(decoding, "is of a kind of camera RAW that LibRaw does not know",
                                    "convert it to TIFF");
    return esra_decoding_damaged(decoding, libraw_strerror(error));
}

/* Without a handler LibRaw prints. */
static void on_data_error(void *user, const char *file, raw_offset offset)
{
    (void)file;
    (void)offset;
    *(bool *)user = true;
}

/* sRGB's curve and primaries, and no automatic brightening: each photo of a scene must be developed alike. */
static void set_output(libraw_data_t *raw)
{
    raw->params.output_bps = 16;
    raw->params.output_color = 1;
    raw->params.gamm[0] = 1 / 2.4;
    raw->params.gamm[1] = 12.92;
    raw->params.no_auto_bright = 1;
    raw->params.use_camera_wb = 1;
}

static esra_status store_pixels(struct decoding *decoding, const libraw_processed_image_t *image)
{
    esra_status status;
    if (image->type != LIBRAW_IMAGE_BITMAP || image->bits != 16 || (image->colors != 1 && image->colors != 3))
        return esra_decoding_refuse(decoding, "has sensor data that LibRaw cannot develop to RGB",
                                    "convert it to TIFF");
    TRY(esra_decoding_claim(decoding, image->width, image->height, image->colors));
    for (int y = 0; y < image->height; y++)
        for (int c = 0; c < image->colors; c++)
            esra_samples_load(plane_row(image_plane(&decoding->photo->pixels, c), y),
                              image->data + 2 * ((size_t)y * image->width * image->colors + (size_t)c), SAMPLE_16,
                              image->width, image->colors);
    decoding->photo->depth = 16;
    decoding->orientation = 1;
done:
    return status;
}

static esra_status develop(struct decoding *decoding, libraw_data_t *raw)
{
    bool broken = false;
    libraw_set_dataerror_handler(raw, on_data_error, &broken);
    int error = libraw_unpack(raw);
    if (broken && !decoding->options->tolerate_truncated)
        return esra_decoding_truncated(decoding);
    decoding->photo->incomplete = broken;
    if (!error)
        error = libraw_dcraw_process(raw);
    libraw_processed_image_t *image = error ? NULL : libraw_dcraw_make_mem_image(raw, &error);
    if (!image)
        return damaged(decoding, error);
    esra_status status = store_pixels(decoding, image);
    libraw_dcraw_clear_mem(image);
    return status;
}

/* The picture as it will be developed: without the sensor's border, and upright. What is too large is refused before
 * LibRaw takes memory for it. */
static esra_status take_head(struct decoding *decoding, libraw_data_t *raw)
{
    esra_status status;
    decoding->photo->depth = 16;
    decoding->orientation = 1;
    TRY(esra_decoding_check_size(decoding, raw->sizes.raw_width, raw->sizes.raw_height));
    int error = libraw_adjust_sizes_info_only(raw);
    if (error)
        return damaged(decoding, error);
    TRY(esra_decoding_claim(decoding, raw->sizes.iwidth, raw->sizes.iheight, raw->idata.colors == 1 ? 1 : 3));
done:
    return status;
}

/* One step on the file, by a LibRaw of its own: after take_head() one can develop nothing. */
static esra_status with_raw(struct decoding *decoding, const struct bytes *file,
                            esra_status (*step)(struct decoding *, libraw_data_t *))
{
    libraw_data_t *raw = libraw_init(LIBRAW_OPTIONS_NONE);
    if (!raw)
        return esra_fail_memory(decoding->message);
    set_output(raw);
    int error = libraw_open_buffer(raw, file->data, file->size);
    esra_status status = error ? damaged(decoding, error) : step(decoding, raw);
    libraw_close(raw);
    return status;
}

esra_status esra_raw_decode(struct decoding *decoding)
{
    struct bytes file = {0};
    esra_status status;
    TRY(esra_decoding_slurp(decoding, &file));
    TRY(with_raw(decoding, &file, take_head));
    if (!decoding->options->head_only)
        TRY(with_raw(decoding, &file, develop));
done:
    esra_bytes_free(&file);
    return status;
}
