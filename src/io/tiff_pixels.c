/* io/tiff_pixels.c - the pixels of a TIFF, row by row or tile by tile. */
#include <stdlib.h>

#include "io/tiff.h"

/* 4096 x 4096 in RGB: larger than tiles are made, and little enough to be taken for any picture. */
#define USUAL_TILE_BYTES (INT64_C(48) << 20)

/* What a buffer of samples belongs to: the file's channels from `channel` on, `step` of them side by side. */
struct patch {
    const unsigned char *from;
    int x, y, count, channel, step;
};

static void store_palette(const struct tiff_reading *job, const struct patch *patch)
{
    for (int c = 0; c < 3; c++) {
        float *to = plane_row(image_plane(&job->decoding->photo->pixels, c), patch->y) + patch->x;
        for (int n = 0; n < patch->count; n++)
            to[n] = (float)job->map[c][patch->from[n]] / job->map_full;
    }
}

static void invert(float *samples, int count)
{
    for (int n = 0; n < count; n++)
        samples[n] = 1 - samples[n];
}

/* A run of pixels of one row; transparency is refused. */
static esra_status store(struct tiff_reading *job, const struct patch *patch)
{
    const struct image *pixels = &job->decoding->photo->pixels;
    if (job->palette) {
        store_palette(job, patch);
        return ESRA_OK;
    }
    for (int n = 0; n < patch->step; n++) {
        int channel = patch->channel + n;
        const unsigned char *from = patch->from + n * sample_size(job->type);
        if (channel < pixels->channels) {
            float *to = plane_row(image_plane(pixels, channel), patch->y) + patch->x;
            esra_samples_load(to, from, job->type, patch->count, patch->step);
            if (job->photometric == PHOTOMETRIC_MINISWHITE)
                invert(to, patch->count);
        } else if (!esra_samples_all_full(from, job->type, patch->count, patch->step)) {
            return esra_decoding_transparent(job->decoding);
        }
    }
    return ESRA_OK;
}

static esra_status take_buffer(struct tiff_reading *job, int64_t size, int64_t expected)
{
    if (size <= 0 || size < expected)
        return esra_decoding_damaged(job->decoding, "its strips or tiles have no size");
    job->buffer = malloc((size_t)size);
    return job->buffer ? ESRA_OK : esra_fail_memory(job->decoding->message);
}

static esra_status read_rows(struct tiff_reading *job)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    esra_status status;
    TRY(take_buffer(
        job, TIFFScanlineSize64(job->file.tiff) > INT64_MAX / 2 ? 0 : (int64_t)TIFFScanlineSize64(job->file.tiff),
        (int64_t)job->width * side_by_side * sample_size(job->type)));
    for (int plane = 0; plane < job->channels / side_by_side; plane++)
        for (job->rows_done = 0; job->rows_done < (int)job->height; job->rows_done++) {
            struct patch patch = {job->buffer, 0, job->rows_done, (int)job->width, plane, side_by_side};
            if (TIFFReadScanline(job->file.tiff, job->buffer, (uint32_t)job->rows_done, (uint16_t)plane) < 0)
                return esra_tiff_damaged(job);
            TRY(store(job, &patch));
        }
done:
    return status;
}

static esra_status read_tile(struct tiff_reading *job, uint32_t x, uint32_t y, int plane, uint32_t tile_width,
                             uint32_t tile_height)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    uint32_t columns = job->width - x < tile_width ? job->width - x : tile_width;
    uint32_t rows = job->height - y < tile_height ? job->height - y : tile_height;
    size_t stride = (size_t)tile_width * (size_t)(side_by_side * sample_size(job->type));
    if (TIFFReadTile(job->file.tiff, job->buffer, x, y, 0, (uint16_t)plane) < 0)
        return esra_tiff_damaged(job);
    for (uint32_t n = 0; n < rows; n++) {
        struct patch patch = {job->buffer + n * stride, (int)x, (int)(y + n), (int)columns, plane, side_by_side};
        esra_status status = store(job, &patch);
        if (status != ESRA_OK)
            return status;
    }
    return ESRA_OK;
}

/* A side as tiles have it: a multiple of 16 (TIFF 6.0, section 15). */
static int64_t tiled(uint32_t side)
{
    return ((int64_t)side + 15) / 16 * 16;
}

/* A tile may be larger than the picture, as in small pictures of programs that always use the same; but one that has no
 * more than the picture's pixels, or is of a usual size, is enough for anyone. Strips need no such bound: they are
 * decoded row by row. */
static bool tile_is_usual(const struct tiff_reading *job, uint32_t width, uint32_t height, int64_t pixel_bytes)
{
    int64_t limit = job->decoding->options->limits.pixels;
    if (limit > INT64_MAX / 64) /* --no-limits */
        return width <= INT64_MAX / 64 / height;
    int64_t picture = tiled(job->width) * tiled(job->height), usual = USUAL_TILE_BYTES / pixel_bytes;
    return width <= (picture > usual ? picture : usual) / height;
}

static esra_status claim_tile(struct tiff_reading *job, uint32_t width, uint32_t height)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    int64_t pixel_bytes = side_by_side * sample_size(job->type);
    if (width == 0 || height == 0)
        return esra_decoding_damaged(job->decoding, "its tiles have an impossible size");
    if (!tile_is_usual(job, width, height, pixel_bytes))
        return esra_fail(
            job->decoding->message, ESRA_OVER_LIMIT,
            "%s has tiles of %u x %u pixels, far larger than its picture; save it with smaller ones, or, if it "
            "can be trusted, lift the limits with --no-limits",
            job->decoding->input->name, width, height);
    uint64_t size = TIFFTileSize64(job->file.tiff);
    return take_buffer(job, size > INT64_MAX / 2 ? 0 : (int64_t)size, (int64_t)width * height * pixel_bytes);
}

static esra_status read_tiles(struct tiff_reading *job)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    uint32_t width = 0, height = 0;
    esra_status status;
    TIFFGetField(job->file.tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(job->file.tiff, TIFFTAG_TILELENGTH, &height);
    TRY(claim_tile(job, width, height));
    for (int plane = 0; plane < job->channels / side_by_side; plane++)
        for (uint32_t y = 0; y < job->height; y += height) {
            for (uint32_t x = 0; x < job->width; x += width)
                TRY(read_tile(job, x, y, plane, width, height));
            job->rows_done = (int)(job->height - y < height ? job->height : y + height);
        }
done:
    return status;
}

/* Colours that come in planes one after the other are not kept: the last would be missing. */
static esra_status salvage(struct tiff_reading *job, esra_status status)
{
    bool begun = job->rows_done > 0 && (job->planar == PLANARCONFIG_CONTIG || job->channels == 1);
    if (status != ESRA_BAD_DATA || !job->decoding->options->tolerate_truncated || !job->file.words[0] || !begun)
        return status;
    job->decoding->photo->incomplete = true;
    return ESRA_OK;
}

esra_status esra_tiff_read_pixels(struct tiff_reading *job)
{
    esra_status status = TIFFIsTiled(job->file.tiff) ? read_tiles(job) : read_rows(job);
    /* Some codecs report an error and go on. */
    if (status == ESRA_OK && job->file.words[0])
        status = esra_tiff_damaged(job);
    return status == ESRA_OK ? ESRA_OK : salvage(job, status);
}
