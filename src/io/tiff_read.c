/* io/tiff_read.c - TIFF in by libtiff: stripped and tiled, samples of a pixel side by side or in planes, 8 and 16 bit
 * integers and 32 bit floats. Only the first directory is looked at, and that by exif_tiff.c before libtiff sees it;
 * later pages, thumbnails and chains of directories are never followed. */
#include <stdio.h>
#include <stdlib.h>

#include "io/exif.h"
#include "io/tiff.h"

/* ---- What libtiff calls ---- */

static tmsize_t on_read(thandle_t handle, void *bytes, tmsize_t size)
{
    struct tiff_reading *job = handle;
    size_t got = 0;
    esra_status status = esra_input_take(job->decoding->input, bytes, (size_t)size, &got, job->decoding->message);
    if (status != ESRA_OK)
        job->file.status = status;
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
    struct tiff_reading *job = handle;
    struct input *input = job->decoding->input;
    int64_t base = whence == SEEK_CUR ? input->position : whence == SEEK_END ? input->size : 0, position;
    if (__builtin_add_overflow(base, (int64_t)offset, &position) || position < 0)
        return (toff_t)-1;
    esra_status status = esra_input_seek(input, position, job->decoding->message);
    if (status != ESRA_OK)
        job->file.status = status;
    return status == ESRA_OK ? (toff_t)input->position : (toff_t)-1;
}

static toff_t on_size(thandle_t handle)
{
    const struct tiff_reading *job = handle;
    return (toff_t)job->decoding->input->size;
}

/* ---- What the file holds ---- */

static esra_status refuse_number(struct tiff_reading *job, const char *what, int number, const char *advice)
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

static esra_status find_compression(struct tiff_reading *job)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(job->file.tiff, TIFFTAG_COMPRESSION, &compression);
    if (!compression_is_known(compression))
        return refuse_number(job, "compression", compression, "save it with Deflate or LZW");
    /* libjpeg turns YCbCr into RGB where it sees the three together; in planes each is a grey picture of its own. */
    if (compression == COMPRESSION_JPEG && job->photometric == PHOTOMETRIC_YCBCR &&
        job->planar == PLANARCONFIG_CONTIG) {
        TIFFSetField(job->file.tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        job->photometric = PHOTOMETRIC_RGB;
    }
    return ESRA_OK;
}

static esra_status find_type(struct tiff_reading *job)
{
    uint16_t format = SAMPLEFORMAT_UINT;
    TIFFGetFieldDefaulted(job->file.tiff, TIFFTAG_SAMPLEFORMAT, &format);
    TIFFGetFieldDefaulted(job->file.tiff, TIFFTAG_BITSPERSAMPLE, &job->bits);
    bool whole = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
    if (!(whole && (job->bits == 8 || job->bits == 16)) && !(format == SAMPLEFORMAT_IEEEFP && job->bits == 32))
        return refuse_number(job, whole ? "a sample depth of" : "samples of another type and depth", job->bits,
                             "save it with 8 or 16 bit integers or 32 bit floats");
    job->type = job->bits == 8 ? SAMPLE_8 : job->bits == 16 ? SAMPLE_16 : SAMPLE_FLOAT;
    job->decoding->photo->depth = job->bits;
    return ESRA_OK;
}

/* Palettes hold 16 bit numbers; some writers of old put 8 bit ones there, and libtiff's own tools go by the largest. */
static float full_of_map(const struct tiff_reading *job)
{
    for (int c = 0; c < 3; c++)
        for (int n = 0; n < 256; n++)
            if (job->map[c][n] >= 256)
                return 65535;
    return 255;
}

static esra_status find_colours(struct tiff_reading *job)
{
    TIFFGetFieldDefaulted(job->file.tiff, TIFFTAG_SAMPLESPERPIXEL, &job->channels);
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
                         !TIFFGetField(job->file.tiff, TIFFTAG_COLORMAP, &job->map[0], &job->map[1], &job->map[2])))
        return esra_decoding_refuse(job->decoding, "is a TIFF with a palette of an unusual kind", "convert it to RGB");
    if (job->palette)
        job->map_full = full_of_map(job);
    return ESRA_OK;
}

static esra_status find_orientation(struct tiff_reading *job)
{
    uint16_t orientation = 0;
    if (TIFFGetField(job->file.tiff, TIFFTAG_ORIENTATION, &orientation) && orientation >= 1 && orientation <= 8)
        job->decoding->orientation = orientation;
    return ESRA_OK;
}

static esra_status take_profile(struct tiff_reading *job)
{
    uint32_t size = 0;
    void *data = NULL;
    if (!TIFFGetField(job->file.tiff, TIFFTAG_ICCPROFILE, &size, &data) || !data)
        return ESRA_OK;
    return esra_bytes_copy(&job->decoding->photo->icc, data, size, job->decoding->message);
}

esra_status esra_tiff_damaged(struct tiff_reading *job)
{
    if (job->file.status != ESRA_OK)
        return job->file.status;
    if (esra_tiff_memory_was_short(&job->file))
        return esra_fail_memory(job->decoding->message);
    return esra_decoding_damaged(job->decoding, job->file.words[0] ? job->file.words : "libtiff gives no reason");
}

static esra_status read_head(struct tiff_reading *job)
{
    esra_status status;
    job->photometric = PHOTOMETRIC_MINISBLACK;
    if (!TIFFGetField(job->file.tiff, TIFFTAG_IMAGEWIDTH, &job->width) ||
        !TIFFGetField(job->file.tiff, TIFFTAG_IMAGELENGTH, &job->height))
        return esra_decoding_damaged(job->decoding, "it does not tell its size");
    TIFFGetField(job->file.tiff, TIFFTAG_PHOTOMETRIC, &job->photometric);
    TIFFGetFieldDefaulted(job->file.tiff, TIFFTAG_PLANARCONFIG, &job->planar);
    TRY(find_compression(job));
    TRY(find_type(job));
    TRY(find_colours(job));
    TRY(find_orientation(job));
    TRY(take_profile(job));
    TRY(esra_decoding_claim(job->decoding, job->width, job->height,
                            job->photometric == PHOTOMETRIC_RGB || job->palette ? 3 : 1));
done:
    return status;
}

/* ---- The whole ---- */

/* libtiff takes single blocks as large as the file says; none that is honest is larger than the file or the pixels. */
static tmsize_t largest_block(const struct decoding *decoding)
{
    int64_t most = decoding->options->limits.pixels;
    int64_t file = decoding->input->size;
    if (most > INT64_MAX / 64)
        return 0;
    return (tmsize_t)(most * TIFF_CHANNELS * 4 + file + (1 << 20));
}

static esra_status decode(struct tiff_reading *job)
{
    esra_status status;
    if (!esra_tiff_prepare(&job->file))
        return esra_fail_memory(job->decoding->message);
    TIFFOpenOptionsSetMaxSingleMemAlloc(job->file.options, largest_block(job->decoding));
    TRY(esra_input_seek(job->decoding->input, 0, job->decoding->message));
    /* m: no memory mapping; O: strip offsets are read as needed, so that a bogus count of them costs nothing. */
    job->file.tiff = TIFFClientOpenExt(job->decoding->input->name, "rmO", job, on_read, no_write, on_seek,
                                       esra_tiff_on_close, on_size, NULL, NULL, job->file.options);
    /* Short of memory, or where it cannot be read, libtiff goes on without a tag, which may be the profile. */
    if (!job->file.tiff || job->file.status != ESRA_OK || esra_tiff_memory_was_short(&job->file))
        return esra_tiff_damaged(job);
    TRY(read_head(job));
    job->file.words[0] = '\0';
    if (!job->decoding->options->head_only)
        TRY(esra_tiff_read_pixels(job));
done:
    return status;
}

esra_status esra_tiff_decode(struct decoding *decoding)
{
    struct tiff_reading job = {.decoding = decoding};
    bool is_raw = false;
    esra_status status;
    TRY(esra_exif_from_tiff(decoding, &decoding->photo->exif, &is_raw));
    if (is_raw) {
        TRY(esra_input_seek(decoding->input, 0, decoding->message));
        return esra_codec_decode_as("camera RAW", decoding);
    }
    TRY(decode(&job));
done:
    esra_tiff_close(&job.file);
    free(job.buffer);
    return status;
}
