/* io/tiff.c - TIFF by libtiff: stripped and tiled, samples of a pixel side by side or in planes, 8 and 16 bit integers
 * and 32 bit floats. Only the first directory is looked at, and that by exif.c before libtiff sees it; later pages,
 * thumbnails and chains of directories are never followed. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "io/codec.h"
#include "io/exif.h"
#include "io/samples.h"

/* Red, green, blue and one alpha. */
#define MAX_CHANNELS 4

/* A classic file's offsets have 32 bits; what is not pixels gets the difference. */
#define CLASSIC_BYTES (UINT32_MAX - ((int64_t)64 << 20))

struct job {
    TIFF *tiff;
    TIFFOpenOptions *options;
    esra_status status;
    char words[128]; /* libtiff's first error */
    unsigned char *buffer;

    struct decoding *decoding;
    uint32_t width, height;
    uint16_t bits, channels, planar, photometric;
    enum sample type;
    bool alpha, palette;
    uint16_t *map[3];
    int rows_done;

    const struct encoding *encoding;
    struct bytes file;
    size_t room;
    int64_t position;
};

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    struct job *job = user;
    (void)tiff;
    (void)module;
    if (!job->words[0])
        vsnprintf(job->words, sizeof job->words, format, arguments);
    return 1;
}

static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list arguments)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)arguments;
    return 1;
}

static bool set_options(struct job *job)
{
    job->options = TIFFOpenOptionsAlloc();
    if (!job->options)
        return false;
    TIFFOpenOptionsSetErrorHandlerExtR(job->options, on_error, job);
    TIFFOpenOptionsSetWarningHandlerExtR(job->options, on_warning, job);
    return true;
}

static int on_close(thandle_t handle)
{
    (void)handle;
    return 0;
}

/* ---- Decoding: what libtiff calls ---- */

static tmsize_t on_read(thandle_t handle, void *bytes, tmsize_t size)
{
    struct job *job = handle;
    size_t got = 0;
    esra_status status = esra_input_take(job->decoding->input, bytes, (size_t)size, &got, job->decoding->message);
    if (status != ESRA_OK)
        job->status = status;
    return status == ESRA_OK ? (tmsize_t)got : 0;
}

static tmsize_t no_write(thandle_t handle, void *bytes, tmsize_t size)
{
    (void)handle;
    (void)bytes;
    (void)size;
    return 0;
}

static toff_t on_seek(thandle_t handle, toff_t offset, int whence)
{
    struct job *job = handle;
    struct input *input = job->decoding->input;
    int64_t base = whence == SEEK_CUR ? input->position : whence == SEEK_END ? input->size : 0, position;
    if (__builtin_add_overflow(base, (int64_t)offset, &position) || position < 0 ||
        esra_input_seek(input, position, job->decoding->message) != ESRA_OK)
        return (toff_t)-1;
    return (toff_t)input->position;
}

static toff_t on_size(thandle_t handle)
{
    const struct job *job = handle;
    return (toff_t)job->decoding->input->size;
}

/* ---- Decoding: what the file holds ---- */

static esra_status refuse_number(struct job *job, const char *what, int number, const char *advice)
{
    char text[96];
    snprintf(text, sizeof text, "is a TIFF with %s %d, which esra does not read", what, number);
    return esra_decoding_refuse(job->decoding, text, advice);
}

/* Those that libtiff decodes itself, within bounds it checks. */
static bool compression_is_known(int compression)
{
    static const int known[] = {COMPRESSION_NONE,     COMPRESSION_LZW,  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE,
                                COMPRESSION_PACKBITS, COMPRESSION_JPEG, COMPRESSION_ZSTD,          COMPRESSION_LZMA};
    for (size_t n = 0; n < sizeof known / sizeof known[0]; n++)
        if (compression == known[n])
            return TIFFIsCODECConfigured((uint16_t)compression) != 0;
    return false;
}

static esra_status find_compression(struct job *job)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_COMPRESSION, &compression);
    if (!compression_is_known(compression))
        return refuse_number(job, "compression", compression, "save it with Deflate or LZW");
    if (compression == COMPRESSION_JPEG && job->photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(job->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        job->photometric = PHOTOMETRIC_RGB;
    }
    return ESRA_OK;
}

static esra_status find_type(struct job *job)
{
    uint16_t format = SAMPLEFORMAT_UINT;
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_BITSPERSAMPLE, &job->bits);
    bool whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
    if (!(whole && (job->bits == 8 || job->bits == 16)) && !(format == SAMPLEFORMAT_IEEEFP && job->bits == 32))
        return refuse_number(job, whole ? "a sample depth of" : "samples of another type and depth", job->bits,
                             "save it with 8 or 16 bit integers or 32 bit floats");
    job->type = job->bits == 8 ? SAMPLE_8 : job->bits == 16 ? SAMPLE_16 : SAMPLE_FLOAT;
    job->decoding->photo->depth = job->bits;
    return ESRA_OK;
}

static esra_status find_colours(struct job *job)
{
    uint16_t extra = 0, *kinds = NULL;
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_SAMPLESPERPIXEL, &job->channels);
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_PLANARCONFIG, &job->planar);
    TIFFGetFieldDefaulted(job->tiff, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
    job->palette = job->photometric == PHOTOMETRIC_PALETTE;
    bool grey = job->photometric == PHOTOMETRIC_MINISBLACK || job->photometric == PHOTOMETRIC_MINISWHITE;
    if (job->photometric == PHOTOMETRIC_SEPARATED)
        return esra_decoding_refuse(job->decoding, "is a TIFF in CMYK", "convert it to RGB");
    if (!grey && !job->palette && job->photometric != PHOTOMETRIC_RGB)
        return refuse_number(job, "colours of kind", job->photometric, "convert it to RGB");
    int colours = job->photometric == PHOTOMETRIC_RGB ? 3 : 1;
    job->alpha = job->channels == colours + 1;
    if (job->channels != colours && !job->alpha)
        return refuse_number(job, "a number of channels of", job->channels, "save it as RGB or grey");
    if (job->palette && (job->bits != 8 || job->alpha ||
                         !TIFFGetField(job->tiff, TIFFTAG_COLORMAP, &job->map[0], &job->map[1], &job->map[2])))
        return esra_decoding_refuse(job->decoding, "is a TIFF with a palette of an unusual kind", "convert it to RGB");
    return ESRA_OK;
}

static esra_status find_orientation(struct job *job)
{
    uint16_t orientation = 0;
    if (TIFFGetField(job->tiff, TIFFTAG_ORIENTATION, &orientation) && orientation >= 1 && orientation <= 8)
        job->decoding->orientation = orientation;
    return ESRA_OK;
}

static esra_status take_profile(struct job *job)
{
    uint32_t size = 0;
    void *data = NULL;
    if (!TIFFGetField(job->tiff, TIFFTAG_ICCPROFILE, &size, &data) || !data)
        return ESRA_OK;
    return esra_bytes_copy(&job->decoding->photo->icc, data, size, job->decoding->message);
}

/* libtiff says so only in words. A block larger than largest_block(), or of nothing, is the file's fault and not the
 * machine's. */
static bool memory_was_short(const struct job *job)
{
    static const char *const words[] = {"malloc", "Out of memory", "No space", "allocate memory", "Insertion in"};
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++)
        if (strstr(job->words, words[n]))
            return !strstr(job->words, "beyond the") && !strstr(job->words, "(0 elements");
    return false;
}

static esra_status damaged(struct job *job)
{
    if (job->status != ESRA_OK)
        return job->status;
    if (memory_was_short(job))
        return esra_fail_memory(job->decoding->message);
    return esra_decoding_damaged(job->decoding, job->words[0] ? job->words : "libtiff gives no reason");
}

static esra_status read_head(struct job *job)
{
    esra_status status;
    job->photometric = PHOTOMETRIC_MINISBLACK;
    if (!TIFFGetField(job->tiff, TIFFTAG_IMAGEWIDTH, &job->width) ||
        !TIFFGetField(job->tiff, TIFFTAG_IMAGELENGTH, &job->height))
        return esra_decoding_damaged(job->decoding, "it does not tell its size");
    TIFFGetField(job->tiff, TIFFTAG_PHOTOMETRIC, &job->photometric);
    TRY(find_compression(job));
    TRY(find_type(job));
    TRY(find_colours(job));
    TRY(find_orientation(job));
    TRY(take_profile(job));
    TRY(esra_decoding_claim(job->decoding, job->width, job->height,
                            job->photometric == PHOTOMETRIC_RGB || job->palette ? 3 : 1));
fail:
    return status;
}

/* ---- Decoding: pixels ---- */

/* What a buffer of samples belongs to: the file's channels from `channel` on, `step` of them side by side. */
struct patch {
    const unsigned char *from;
    int x, y, count, channel, step;
};

static void store_palette(const struct job *job, const struct patch *patch)
{
    for (int c = 0; c < 3; c++) {
        float *to = plane_row(image_plane(&job->decoding->photo->pixels, c), patch->y) + patch->x;
        for (int n = 0; n < patch->count; n++)
            to[n] = (float)job->map[c][patch->from[n]] / 65535.0f;
    }
}

static void invert(float *samples, int count)
{
    for (int n = 0; n < count; n++)
        samples[n] = 1 - samples[n];
}

/* A run of pixels of one row; transparency is refused. */
static esra_status store(struct job *job, const struct patch *patch)
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

static esra_status take_buffer(struct job *job, int64_t size, int64_t expected)
{
    if (size <= 0 || size < expected)
        return esra_decoding_damaged(job->decoding, "its strips or tiles have no size");
    job->buffer = malloc((size_t)size);
    return job->buffer ? ESRA_OK : esra_fail_memory(job->decoding->message);
}

static esra_status read_rows(struct job *job)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    esra_status status;
    TRY(take_buffer(job, TIFFScanlineSize64(job->tiff) > INT64_MAX / 2 ? 0 : (int64_t)TIFFScanlineSize64(job->tiff),
                    (int64_t)job->width * side_by_side * sample_size(job->type)));
    for (int plane = 0; plane < job->channels / side_by_side; plane++)
        for (job->rows_done = 0; job->rows_done < (int)job->height; job->rows_done++) {
            struct patch patch = {job->buffer, 0, job->rows_done, (int)job->width, plane, side_by_side};
            if (TIFFReadScanline(job->tiff, job->buffer, (uint32_t)job->rows_done, (uint16_t)plane) < 0)
                return damaged(job);
            TRY(store(job, &patch));
        }
fail:
    return status;
}

static esra_status read_tile(struct job *job, uint32_t x, uint32_t y, int plane, uint32_t tile_width,
                             uint32_t tile_height)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    uint32_t columns = job->width - x < tile_width ? job->width - x : tile_width;
    uint32_t rows = job->height - y < tile_height ? job->height - y : tile_height;
    size_t stride = (size_t)tile_width * (size_t)(side_by_side * sample_size(job->type));
    if (TIFFReadTile(job->tiff, job->buffer, x, y, 0, (uint16_t)plane) < 0)
        return damaged(job);
    for (uint32_t n = 0; n < rows; n++) {
        struct patch patch = {job->buffer + n * stride, (int)x, (int)(y + n), (int)columns, plane, side_by_side};
        esra_status status = store(job, &patch);
        if (status != ESRA_OK)
            return status;
    }
    return ESRA_OK;
}

/* A tile may be larger than the picture, but not larger than a picture may be. */
static esra_status claim_tile(struct job *job, uint32_t width, uint32_t height)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    int64_t limit = job->decoding->options->limits.pixels;
    if (limit > INT64_MAX / 64)
        limit = INT64_MAX / 64;
    if (width == 0 || height == 0 || width > limit / height)
        return esra_decoding_damaged(job->decoding, "its tiles have an impossible size");
    uint64_t size = TIFFTileSize64(job->tiff);
    return take_buffer(job, size > INT64_MAX / 2 ? 0 : (int64_t)size,
                       (int64_t)width * height * side_by_side * sample_size(job->type));
}

static esra_status read_tiles(struct job *job)
{
    int side_by_side = job->planar == PLANARCONFIG_CONTIG ? job->channels : 1;
    uint32_t width = 0, height = 0;
    esra_status status;
    TIFFGetField(job->tiff, TIFFTAG_TILEWIDTH, &width);
    TIFFGetField(job->tiff, TIFFTAG_TILELENGTH, &height);
    TRY(claim_tile(job, width, height));
    if (job->decoding->options->tolerate_truncated)
        esra_decoding_blacken(job->decoding, 0);
    for (int plane = 0; plane < job->channels / side_by_side; plane++)
        for (uint32_t y = 0; y < job->height; y += height) {
            for (uint32_t x = 0; x < job->width; x += width)
                TRY(read_tile(job, x, y, plane, width, height));
            job->rows_done = (int)(job->height - y < height ? job->height : y + height);
        }
fail:
    return status;
}

/* Planes that come one after the other are only kept once the last has begun. */
static esra_status salvage(struct job *job, esra_status status)
{
    bool begun = job->rows_done > 0 && (job->planar == PLANARCONFIG_CONTIG || job->channels == 1);
    if (status != ESRA_BAD_DATA || !job->decoding->options->tolerate_truncated || !job->words[0] || !begun)
        return status;
    if (!TIFFIsTiled(job->tiff))
        esra_decoding_blacken(job->decoding, job->rows_done);
    job->decoding->photo->incomplete = true;
    return ESRA_OK;
}

static esra_status read_pixels(struct job *job)
{
    esra_status status = TIFFIsTiled(job->tiff) ? read_tiles(job) : read_rows(job);
    /* Some codecs report an error and go on. */
    if (status == ESRA_OK && job->words[0])
        status = damaged(job);
    return status == ESRA_OK ? ESRA_OK : salvage(job, status);
}

/* libtiff takes single blocks as large as the file says; none that is honest is larger than the file or the pixels. */
static tmsize_t largest_block(const struct decoding *decoding)
{
    int64_t most = decoding->options->limits.pixels;
    int64_t file = decoding->input->size;
    if (most > INT64_MAX / 64)
        return 0;
    return (tmsize_t)(most * MAX_CHANNELS * 4 + file + (1 << 20));
}

static esra_status decode(struct job *job)
{
    esra_status status;
    if (!set_options(job))
        return esra_fail_memory(job->decoding->message);
    TIFFOpenOptionsSetMaxSingleMemAlloc(job->options, largest_block(job->decoding));
    TRY(esra_input_seek(job->decoding->input, 0, job->decoding->message));
    /* m: no memory mapping; O: strip offsets are read as needed, so that a bogus count of them costs nothing. */
    job->tiff = TIFFClientOpenExt(job->decoding->input->name, "rmO", job, on_read, no_write, on_seek, on_close, on_size,
                                  NULL, NULL, job->options);
    /* Short of memory libtiff goes on without a tag, which may be the profile. */
    if (!job->tiff || memory_was_short(job))
        return damaged(job);
    TRY(read_head(job));
    job->words[0] = '\0';
    if (!job->decoding->options->head_only)
        TRY(read_pixels(job));
fail:
    return status;
}

static void job_free(struct job *job)
{
    if (job->tiff)
        TIFFClose(job->tiff);
    if (job->options)
        TIFFOpenOptionsFree(job->options);
    free(job->buffer);
    esra_bytes_free(&job->file);
}

esra_status esra_tiff_decode(struct decoding *decoding)
{
    struct job job = {.decoding = decoding};
    bool is_raw = false;
    esra_status status;
    TRY(esra_exif_from_tiff(decoding, &decoding->photo->exif, &is_raw));
    if (is_raw) {
        TRY(esra_input_seek(decoding->input, 0, decoding->message));
        return esra_codec_decode_as("camera RAW", decoding);
    }
    TRY(decode(&job));
fail:
    job_free(&job);
    return status;
}

/* ---- Encoding: to memory, because libtiff goes back to fill in offsets and an output may be a pipe ---- */

static tmsize_t on_reread(thandle_t handle, void *bytes, tmsize_t size)
{
    struct job *job = handle;
    int64_t left = (int64_t)job->file.size - job->position;
    size_t count = left <= 0 ? 0 : left < size ? (size_t)left : (size_t)size;
    if (count)
        memcpy(bytes, job->file.data + job->position, count);
    job->position += (int64_t)count;
    return (tmsize_t)count;
}

static bool grow(struct job *job, size_t size)
{
    size_t room = job->room > SIZE_MAX / 2 || 2 * job->room < size ? size : 2 * job->room;
    if (size <= job->room)
        return true;
    unsigned char *larger = realloc(job->file.data, room);
    if (!larger)
        return false;
    job->file.data = larger;
    job->room = room;
    return true;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t size)
{
    struct job *job = handle;
    size_t end = (size_t)job->position + (size_t)size;
    if (!grow(job, end)) {
        job->status = esra_fail_memory(job->encoding->message);
        return 0;
    }
    if ((size_t)job->position > job->file.size)
        memset(job->file.data + job->file.size, 0, (size_t)job->position - job->file.size);
    memcpy(job->file.data + job->position, bytes, (size_t)size);
    job->position = (int64_t)end;
    if (end > job->file.size)
        job->file.size = end;
    return size;
}

static toff_t on_move(thandle_t handle, toff_t offset, int whence)
{
    struct job *job = handle;
    int64_t base = whence == SEEK_CUR ? job->position : whence == SEEK_END ? (int64_t)job->file.size : 0;
    job->position = base + (int64_t)offset;
    return (toff_t)job->position;
}

static toff_t on_length(thandle_t handle)
{
    const struct job *job = handle;
    return (toff_t)job->file.size;
}

static void set_storage(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    bool is_float = job->type == SAMPLE_FLOAT;
    TIFFSetField(job->tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)pixels->width);
    TIFFSetField(job->tiff, TIFFTAG_IMAGELENGTH, (uint32_t)pixels->height);
    TIFFSetField(job->tiff, TIFFTAG_SAMPLESPERPIXEL, pixels->channels);
    TIFFSetField(job->tiff, TIFFTAG_BITSPERSAMPLE, job->encoding->depth);
    TIFFSetField(job->tiff, TIFFTAG_SAMPLEFORMAT, is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(job->tiff, TIFFTAG_PHOTOMETRIC, pixels->channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(job->tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(job->tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    TIFFSetField(job->tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(job->tiff, TIFFTAG_PREDICTOR, is_float ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    TIFFSetField(job->tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(job->tiff, 0));
}

static void set_metadata(struct job *job)
{
    static const int texts[] = {TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,   TIFFTAG_MODEL,    TIFFTAG_SOFTWARE,
                                TIFFTAG_DATETIME,         TIFFTAG_ARTIST, TIFFTAG_COPYRIGHT};
    const struct photo *photo = job->encoding->photo;
    char text[1024];
    if (photo->icc.size)
        TIFFSetField(job->tiff, TIFFTAG_ICCPROFILE, (uint32_t)photo->icc.size, photo->icc.data);
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        esra_exif_text(&photo->exif, texts[n], text, sizeof text);
        if (text[0])
            TIFFSetField(job->tiff, (uint32_t)texts[n], text);
    }
    /* Places for offsets that are known once the file is whole; exif.c fills them in classic files alone. */
    bool classic = !TIFFIsBigTIFF(job->tiff);
    if (classic && esra_exif_has_photo(&photo->exif))
        TIFFSetField(job->tiff, TIFFTAG_EXIFIFD, (uint64_t)0);
    if (classic && esra_exif_has_gps(&photo->exif))
        TIFFSetField(job->tiff, TIFFTAG_GPSIFD, (uint64_t)0);
}

static bool write_rows(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    for (int y = 0; y < pixels->height; y++) {
        for (int c = 0; c < pixels->channels; c++)
            esra_samples_save(job->buffer + c * sample_size(job->type), pixels->channels,
                              plane_row(image_plane(pixels, c), y), job->type, pixels->width);
        if (TIFFWriteScanline(job->tiff, job->buffer, (uint32_t)y, 0) < 0)
            return false;
    }
    return TIFFWriteDirectory(job->tiff) != 0;
}

static esra_status fail_encode(struct job *job)
{
    if (job->status != ESRA_OK)
        return job->status;
    if (!job->words[0] || memory_was_short(job))
        return esra_fail_memory(job->encoding->message);
    return esra_fail(job->encoding->message, ESRA_BAD_DATA, "%s cannot be written as TIFF: %s; choose PNG",
                     job->encoding->output->name, job->words);
}

/* In the byte order of the EXIF block, whose values then need no change. */
static const char *mode_of(const struct encoding *encoding, int64_t bytes)
{
    bool big = encoding->photo->exif.size ? esra_exif_big_endian(&encoding->photo->exif)
                                          : __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (bytes > CLASSIC_BYTES)
        return big ? "wb8m" : "wl8m";
    return big ? "wbm" : "wlm";
}

static esra_status encode(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    size_t row = (size_t)pixels->width * (size_t)(pixels->channels * sample_size(job->type));
    job->buffer = malloc(row);
    if (!job->buffer || !set_options(job))
        return esra_fail_memory(job->encoding->message);
    job->tiff = TIFFClientOpenExt(job->encoding->output->name, mode_of(job->encoding, (int64_t)row * pixels->height),
                                  job, on_reread, on_write, on_move, on_close, on_length, NULL, NULL, job->options);
    if (!job->tiff)
        return fail_encode(job);
    set_storage(job);
    set_metadata(job);
    bool good = write_rows(job);
    TIFFClose(job->tiff);
    job->tiff = NULL;
    return good && job->status == ESRA_OK && !job->words[0] ? ESRA_OK : fail_encode(job);
}

esra_status esra_tiff_encode(const struct encoding *encoding)
{
    struct job job = {.encoding = encoding,
                      .type = encoding->depth == 8    ? SAMPLE_8
                              : encoding->depth == 16 ? SAMPLE_16
                                                      : SAMPLE_FLOAT};
    esra_status status;
    TRY(encode(&job));
    TRY(esra_exif_into_tiff(&encoding->photo->exif, &job.file, encoding->message));
    TRY(esra_output_write(encoding->output, job.file.data, job.file.size, encoding->message));
fail:
    job_free(&job);
    return status;
}
