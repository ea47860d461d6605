/* io/png.c - PNG by libpng. Errors come back by longjmp: every call of libpng stands in a function that is run by
 * guarded(), and all that such a function changes lives in a struct outside of it. */
#include <limits.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "io/codec.h"
#include "io/samples.h"

struct job {
    png_structp png;
    png_infop info;
    jmp_buf jump;
    esra_status status;   /* of what ended the work */
    bool ended;           /* the input was over too soon */
    bool short_of_memory; /* libpng may go on without a chunk, which may be the profile */
    char words[128];      /* libpng's own */
    unsigned char *row;
    bool some; /* of the rows are done */

    struct decoding *decoding;
    const struct encoding *encoding;
    enum sample type;
    int channels; /* in the file, alpha included */
};

/* ---- What libpng calls ---- */

static void on_error(png_structp png, png_const_charp words)
{
    struct job *job = png_get_error_ptr(png);
    size_t length = strlen(words) < sizeof job->words ? strlen(words) : sizeof job->words - 1;
    memcpy(job->words, words, length);
    job->words[length] = '\0';
    if (job->status == ESRA_OK)
        job->status = ESRA_BAD_DATA;
    longjmp(job->jump, 1);
}

static void on_warning(png_structp png, png_const_charp words)
{
    (void)png;
    (void)words;
}

/* Only here can lack of memory be told from damage. */
static png_voidp on_allocate(png_structp png, png_alloc_size_t size)
{
    struct job *job = png_get_mem_ptr(png);
    void *block = malloc(size);
    if (!block) {
        job->status = esra_fail_memory(job->decoding ? job->decoding->message : job->encoding->message);
        job->short_of_memory = true;
    }
    return block;
}

static void on_free(png_structp png, png_voidp block)
{
    (void)png;
    free(block);
}

static void on_read(png_structp png, png_bytep bytes, size_t size)
{
    struct job *job = png_get_io_ptr(png);
    size_t got;
    job->status = esra_input_take(job->decoding->input, bytes, size, &got, job->decoding->message);
    if (job->status == ESRA_OK && got == size)
        return;
    job->ended = job->status == ESRA_OK;
    png_error(png, "end of file");
}

static void on_write(png_structp png, png_bytep bytes, size_t size)
{
    struct job *job = png_get_io_ptr(png);
    job->status = esra_output_write(job->encoding->output, bytes, size, job->encoding->message);
    if (job->status != ESRA_OK)
        png_error(png, "write failed");
}

static void on_flush(png_structp png)
{
    (void)png;
}

static bool guarded(struct job *job, void (*step)(struct job *))
{
    if (setjmp(job->jump))
        return false;
    step(job);
    return true;
}

/* ---- Decoding ---- */

/* Bytes of pixels asked for at a time when the file may end within them: what an unfinished block holds is lost, and
 * libpng's own 8 KiB are all of a small photo. */
#define SALVAGE_BLOCK 64

/* Adds up what is not pixels, by going from one chunk's head to the next. Anything odd ends the walk: libpng will say
 * what. */
static esra_status check_chunks(struct decoding *decoding)
{
    unsigned char head[8];
    int64_t metadata = 0, position = 8;
    size_t got;
    esra_status status;
    for (;;) {
        TRY(esra_input_seek(decoding->input, position, decoding->message));
        TRY(esra_input_take(decoding->input, head, sizeof head, &got, decoding->message));
        int64_t length = (int64_t)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
        if (got < sizeof head || length > INT32_MAX || memcmp(head + 4, "IEND", 4) == 0)
            break;
        if (memcmp(head + 4, "IDAT", 4) != 0)
            metadata += length + 12;
        TRY(esra_decoding_check_metadata(decoding, metadata));
        position += length + 12;
    }
    TRY(esra_input_seek(decoding->input, 0, decoding->message));
done:
    return status;
}

/* Text, histograms and palettes for other programs are not even unpacked. A profile may not unpack to more than the
 * limit; sizes are checked by our own limit, so libpng's own of a million a side is lifted. */
static void set_limits(struct job *job)
{
    static const png_byte unused[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0pCAL\0sCAL\0oFFs\0pHYs\0tIME\0bKGD";
    int64_t metadata = job->decoding->options->limits.metadata;
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(job->png, metadata > INT_MAX ? INT_MAX : (png_alloc_size_t)metadata);
    png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, unused, (int)(sizeof unused / 5));
    png_set_crc_action(job->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
}

static void read_head(struct job *job)
{
    set_limits(job);
    png_set_read_fn(job->png, job, on_read);
    if (job->decoding->options->tolerate_truncated)
        png_set_compression_buffer_size(job->png, SALVAGE_BLOCK);
    png_read_info(job->png, job->info);
    /* Before libpng takes memory for rows, in png_read_update_info(). */
    job->status = esra_decoding_check_size(job->decoding, png_get_image_width(job->png, job->info),
                                           png_get_image_height(job->png, job->info));
    if (job->status != ESRA_OK)
        longjmp(job->jump, 1);
    png_set_expand(job->png);
    png_read_update_info(job->png, job->info);
    job->channels = png_get_channels(job->png, job->info);
    job->type = png_get_bit_depth(job->png, job->info) == 16 ? SAMPLE_16_BIG : SAMPLE_8;
}

/* Of an interlaced file, row `y` of a pass holds every n-th pixel of every n-th row. */
static void store_row(struct job *job, int pass, bool interlaced, int y)
{
    const struct image *pixels = &job->decoding->photo->pixels;
    int first = interlaced ? (int)PNG_PASS_START_COL(pass) : 0, step = interlaced ? (int)PNG_PASS_COL_OFFSET(pass) : 1;
    int row = interlaced ? (int)PNG_ROW_FROM_PASS_ROW(y, pass) : y, count = (pixels->width - first + step - 1) / step;
    for (int c = 0; c < pixels->channels; c++) {
        float *to = plane_row(image_plane(pixels, c), row) + first;
        const unsigned char *from = job->row + c * sample_size(job->type);
        if (step == 1)
            esra_samples_load(to, from, job->type, count, job->channels);
        else
            for (int n = 0; n < count; n++)
                esra_samples_load(to + n * step, from + n * job->channels * sample_size(job->type), job->type, 1, 1);
    }
    const unsigned char *alpha = job->row + pixels->channels * sample_size(job->type);
    if (job->channels > pixels->channels && !esra_samples_all_full(alpha, job->type, count, job->channels)) {
        job->status = esra_decoding_transparent(job->decoding);
        longjmp(job->jump, 1);
    }
}

static void read_pass(struct job *job, int pass, bool interlaced)
{
    const struct image *pixels = &job->decoding->photo->pixels;
    int rows = interlaced ? (int)PNG_PASS_ROWS((unsigned)pixels->height, pass) : pixels->height;
    int columns = interlaced ? (int)PNG_PASS_COLS((unsigned)pixels->width, pass) : pixels->width;
    if (columns == 0)
        return;
    for (int y = 0; y < rows; y++) {
        png_read_row(job->png, job->row, NULL);
        store_row(job, pass, interlaced, y);
        job->some = true;
    }
}

static void read_rows(struct job *job)
{
    bool interlaced = png_get_interlace_type(job->png, job->info) != PNG_INTERLACE_NONE;
    for (int pass = 0; pass < (interlaced ? PNG_INTERLACE_ADAM7_PASSES : 1); pass++)
        read_pass(job, pass, interlaced);
    png_read_end(job->png, job->info);
}

static void take_metadata(struct job *job)
{
    struct photo *photo = job->decoding->photo;
    png_charp name;
    png_bytep data;
    png_uint_32 size;
    int method;
    if (png_get_iCCP(job->png, job->info, &name, &method, &data, &size))
        job->status = esra_bytes_copy(&photo->icc, data, size, job->decoding->message);
    if (job->status == ESRA_OK && png_get_eXIf_1(job->png, job->info, &size, &data))
        job->status = esra_bytes_copy(&photo->exif, data, size, job->decoding->message);
    if (job->status != ESRA_OK)
        longjmp(job->jump, 1);
}

static esra_status explain(struct job *job)
{
    if (job->status != ESRA_BAD_DATA || job->words[0] == '\0')
        return job->status;
    return job->ended ? esra_decoding_truncated(job->decoding) : esra_decoding_damaged(job->decoding, job->words);
}

static esra_status claim(struct job *job)
{
    struct decoding *decoding = job->decoding;
    int64_t width = png_get_image_width(job->png, job->info), height = png_get_image_height(job->png, job->info);
    esra_status status = esra_decoding_claim(decoding, width, height, job->channels >= 3 ? 3 : 1);
    if (status != ESRA_OK)
        return status;
    decoding->photo->depth = job->type == SAMPLE_8 ? 8 : 16;
    if (decoding->options->head_only)
        return ESRA_OK;
    job->row = malloc(png_get_rowbytes(job->png, job->info));
    return job->row ? ESRA_OK : esra_fail_memory(decoding->message);
}

/* What was decoded before the damage, if the user wants it and there is any. */
static esra_status salvage(struct job *job)
{
    if (!job->decoding->options->tolerate_truncated || !job->some || job->status != ESRA_BAD_DATA || !job->words[0])
        return explain(job);
    job->decoding->photo->incomplete = true;
    return ESRA_OK;
}

static esra_status decode(struct job *job)
{
    esra_status status;
    if (!guarded(job, read_head))
        return explain(job);
    TRY(claim(job));
    if (!job->decoding->options->head_only && !guarded(job, read_rows))
        TRY(salvage(job));
    job->status = ESRA_OK;
    if (!guarded(job, take_metadata))
        return job->status;
done:
    return status;
}

esra_status esra_png_decode(struct decoding *decoding)
{
    struct job job = {.decoding = decoding};
    esra_status status;
    TRY(check_chunks(decoding));
    job.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job, on_allocate, on_free);
    job.info = job.png ? png_create_info_struct(job.png) : NULL;
    status = job.info ? decode(&job) : esra_fail_memory(decoding->message);
    if (status == ESRA_OK && job.short_of_memory)
        status = esra_fail_memory(decoding->message);
    png_destroy_read_struct(&job.png, &job.info, NULL);
    free(job.row);
done:
    return status;
}

/* ---- Encoding ---- */

/* What filters leave of photographs hardly repeats: runs of one byte and Huffman's codes say as much as a search for
 * what was seen before, which takes most of the time. Layers of 1.1 MP: 63 ms and .93 of the bytes of zlib's level 4
 * with its search, which takes 140 ms; level 6 takes 430 and as many bytes as 4. */
#define COMPRESSION_STRATEGY Z_RLE

/* libpng tries five filters a row, and takes mostly this one: alone it takes 2/3 to 4/5 of the time, and 1.00 to 1.06
 * of the bytes. The mean of two neighbours takes less time, and up to 1.4 of the bytes. */
#define FILTER PNG_FILTER_PAETH

static void write_metadata(struct job *job)
{
    const struct photo *photo = job->encoding->photo;
    /* A profile that libpng finds fault with is left out rather than the photo refused. */
    png_set_benign_errors(job->png, 1);
    if (photo->icc.size)
        png_set_iCCP(job->png, job->info, "ICC", PNG_COMPRESSION_TYPE_BASE, photo->icc.data,
                     (png_uint_32)photo->icc.size);
    if (photo->exif.size)
        png_set_eXIf_1(job->png, job->info, (png_uint_32)photo->exif.size, photo->exif.data);
}

static void write_all(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    png_set_write_fn(job->png, job, on_write, on_flush);
    png_set_user_limits(job->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(job->png, job->info, (png_uint_32)pixels->width, (png_uint_32)pixels->height, job->encoding->depth,
                 pixels->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
    write_metadata(job);
    png_set_compression_level(job->png, Z_BEST_SPEED);
    png_set_compression_strategy(job->png, COMPRESSION_STRATEGY);
    png_set_filter(job->png, PNG_FILTER_TYPE_BASE, FILTER);
    png_write_info(job->png, job->info);
    for (int y = 0; y < pixels->height; y++) {
        for (int c = 0; c < pixels->channels; c++)
            esra_samples_save(job->row + c * sample_size(job->type), pixels->channels,
                              plane_row(image_plane(pixels, c), y), job->type, pixels->width);
        png_write_row(job->png, job->row);
    }
    png_write_end(job->png, job->info);
}

static esra_status encode(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    job->row = malloc((size_t)pixels->width * (size_t)(pixels->channels * sample_size(job->type)));
    if (!job->info || !job->row)
        return esra_fail_memory(job->encoding->message);
    if (guarded(job, write_all) && !job->short_of_memory)
        return ESRA_OK;
    if (job->short_of_memory)
        return esra_fail_memory(job->encoding->message);
    if (job->status == ESRA_BAD_DATA)
        return esra_fail(job->encoding->message, ESRA_BAD_DATA, "%s cannot be written as PNG: %s; choose TIFF",
                         job->encoding->output->name, job->words);
    return job->status;
}

esra_status esra_png_encode(const struct encoding *encoding)
{
    struct job job = {.encoding = encoding, .type = encoding->depth == 16 ? SAMPLE_16_BIG : SAMPLE_8};
    job.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &job, on_error, on_warning, &job, on_allocate, on_free);
    job.info = job.png ? png_create_info_struct(job.png) : NULL;
    esra_status status = encode(&job);
    png_destroy_write_struct(&job.png, &job.info);
    free(job.row);
    return status;
}
