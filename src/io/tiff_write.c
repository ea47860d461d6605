/* io/tiff_write.c - TIFF out by libtiff: to memory at first, because libtiff goes back to fill in offsets and an output
 * may be a pipe. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/exif.h"
#include "io/tiff.h"

/* A classic file's offsets have 32 bits; what is not pixels gets the difference. */
#define CLASSIC_BYTES (UINT32_MAX - ((int64_t)64 << 20))

struct job {
    struct tiff_file file;
    const struct encoding *encoding;
    enum sample type;
    unsigned char *buffer; /* a row */
    struct bytes bytes;    /* the file so far */
    size_t room;
    int64_t position;
};

static tmsize_t on_reread(thandle_t handle, void *bytes, tmsize_t size)
{
    struct job *job = handle;
    int64_t left = (int64_t)job->bytes.size - job->position;
    size_t count = left <= 0 ? 0 : left < size ? (size_t)left : (size_t)size;
    if (count)
        memcpy(bytes, job->bytes.data + job->position, count);
    job->position += (int64_t)count;
    return (tmsize_t)count;
}

static bool grow(struct job *job, size_t size)
{
    size_t room = job->room > SIZE_MAX / 2 || 2 * job->room < size ? size : 2 * job->room;
    if (size <= job->room)
        return true;
    unsigned char *larger = realloc(job->bytes.data, room);
    if (!larger)
        return false;
    job->bytes.data = larger;
    job->room = room;
    return true;
}

static tmsize_t on_write(thandle_t handle, void *bytes, tmsize_t size)
{
    struct job *job = handle;
    size_t end = (size_t)job->position + (size_t)size;
    if (!grow(job, end)) {
        job->file.status = esra_fail_memory(job->encoding->message);
        return 0;
    }
    if ((size_t)job->position > job->bytes.size)
        memset(job->bytes.data + job->bytes.size, 0, (size_t)job->position - job->bytes.size);
    memcpy(job->bytes.data + job->position, bytes, (size_t)size);
    job->position = (int64_t)end;
    if (end > job->bytes.size)
        job->bytes.size = end;
    return size;
}

static toff_t on_move(thandle_t handle, toff_t offset, int whence)
{
    struct job *job = handle;
    int64_t base = whence == SEEK_CUR ? job->position : whence == SEEK_END ? (int64_t)job->bytes.size : 0;
    job->position = base + (int64_t)offset;
    return (toff_t)job->position;
}

static toff_t on_length(thandle_t handle)
{
    const struct job *job = handle;
    return (toff_t)job->bytes.size;
}

static void set_storage(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    bool is_float = job->type == SAMPLE_FLOAT;
    TIFFSetField(job->file.tiff, TIFFTAG_IMAGEWIDTH, (uint32_t)pixels->width);
    TIFFSetField(job->file.tiff, TIFFTAG_IMAGELENGTH, (uint32_t)pixels->height);
    TIFFSetField(job->file.tiff, TIFFTAG_SAMPLESPERPIXEL, pixels->channels);
    TIFFSetField(job->file.tiff, TIFFTAG_BITSPERSAMPLE, job->encoding->depth);
    TIFFSetField(job->file.tiff, TIFFTAG_SAMPLEFORMAT, is_float ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(job->file.tiff, TIFFTAG_PHOTOMETRIC, pixels->channels == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(job->file.tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(job->file.tiff, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    TIFFSetField(job->file.tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(job->file.tiff, TIFFTAG_PREDICTOR, is_float ? PREDICTOR_FLOATINGPOINT : PREDICTOR_HORIZONTAL);
    TIFFSetField(job->file.tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(job->file.tiff, 0));
}

/* False where memory is short. Texts have together no more bytes than the block: tags that all point at one long text
 * would multiply it. */
static bool set_texts(struct job *job)
{
    static const int texts[] = {TIFFTAG_IMAGEDESCRIPTION, TIFFTAG_MAKE,   TIFFTAG_MODEL,    TIFFTAG_SOFTWARE,
                                TIFFTAG_DATETIME,         TIFFTAG_ARTIST, TIFFTAG_COPYRIGHT};
    const struct bytes *exif = &job->encoding->photo->exif;
    size_t left = exif->size;
    char *text = malloc(exif->size + 1);
    if (!text)
        return false;
    for (size_t n = 0; n < sizeof texts / sizeof texts[0]; n++) {
        esra_exif_text(exif, texts[n], text, exif->size + 1);
        size_t length = strlen(text);
        if (length == 0 || length > left)
            continue;
        left -= length;
        TIFFSetField(job->file.tiff, (uint32_t)texts[n], text);
    }
    free(text);
    return true;
}

static bool set_metadata(struct job *job)
{
    const struct photo *photo = job->encoding->photo;
    if (photo->icc.size)
        TIFFSetField(job->file.tiff, TIFFTAG_ICCPROFILE, (uint32_t)photo->icc.size, photo->icc.data);
    if (photo->exif.size && !set_texts(job))
        return false;
    /* Places for offsets that are known once the file is whole; exif.c fills them in classic files alone. */
    bool classic = !TIFFIsBigTIFF(job->file.tiff);
    if (classic && esra_exif_has_photo(&photo->exif))
        TIFFSetField(job->file.tiff, TIFFTAG_EXIFIFD, (uint64_t)0);
    if (classic && esra_exif_has_gps(&photo->exif))
        TIFFSetField(job->file.tiff, TIFFTAG_GPSIFD, (uint64_t)0);
    return true;
}

static bool write_rows(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    for (int y = 0; y < pixels->height; y++) {
        for (int c = 0; c < pixels->channels; c++)
            esra_samples_save(job->buffer + c * sample_size(job->type), pixels->channels,
                              plane_row(image_plane(pixels, c), y), job->type, pixels->width);
        if (TIFFWriteScanline(job->file.tiff, job->buffer, (uint32_t)y, 0) < 0)
            return false;
    }
    return TIFFWriteDirectory(job->file.tiff) != 0;
}

static esra_status fail_encode(struct job *job)
{
    if (job->file.status != ESRA_OK)
        return job->file.status;
    if (!job->file.words[0] || esra_tiff_memory_was_short(&job->file))
        return esra_fail_memory(job->encoding->message);
    return esra_fail(job->encoding->message, ESRA_BAD_DATA, "%s cannot be written as TIFF: %s; choose PNG",
                     job->encoding->output->name, job->file.words);
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
    if (!job->buffer || !esra_tiff_prepare(&job->file))
        return esra_fail_memory(job->encoding->message);
    job->file.tiff =
        TIFFClientOpenExt(job->encoding->output->name, mode_of(job->encoding, (int64_t)row * pixels->height), job,
                          on_reread, on_write, on_move, esra_tiff_on_close, on_length, NULL, NULL, job->file.options);
    if (!job->file.tiff)
        return fail_encode(job);
    set_storage(job);
    if (!set_metadata(job))
        return esra_fail_memory(job->encoding->message);
    bool good = write_rows(job);
    TIFFClose(job->file.tiff);
    job->file.tiff = NULL;
    return good && job->file.status == ESRA_OK && !job->file.words[0] ? ESRA_OK : fail_encode(job);
}

esra_status esra_tiff_encode(const struct encoding *encoding)
{
    struct job job = {.encoding = encoding,
                      .type = encoding->depth == 8    ? SAMPLE_8
                              : encoding->depth == 16 ? SAMPLE_16
                                                      : SAMPLE_FLOAT};
    esra_status status;
    TRY(encode(&job));
    TRY(esra_exif_into_tiff(&encoding->photo->exif, &job.bytes, encoding->message));
    TRY(esra_output_write(encoding->output, job.bytes.data, job.bytes.size, encoding->message));
done:
    esra_tiff_close(&job.file);
    free(job.buffer);
    esra_bytes_free(&job.bytes);
    return status;
}
