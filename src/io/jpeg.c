/* io/jpeg.c - JPEG by libjpeg-turbo. Errors come back by longjmp: every call that can fail stands in a function run by
 * guarded(), and all that such a function changes lives in a struct outside of it. */
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "io/codec.h"
#include "io/profile.h"
#include "io/samples.h"

#define EXIF_NAME      "Exif\0"
#define EXIF_NAME_SIZE 6

/* A marker's length field counts itself and has 16 bits. */
#define MAX_SEGMENT (65535 - 2)

/* Bytes handed to the output at once. */
#define CHUNK 65536

struct job {
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_destination_mgr destination;
    jmp_buf jump;
    esra_status status;
    bool ended;     /* the input was over too soon */
    bool tolerated; /* libjpeg complained, and was told to go on */
    char words[JMSG_LENGTH_MAX];
    unsigned char *row;
    uint16_t *line; /* CMYK: a row of RGB */
    int rows_done;
    struct cmyk *cmyk;

    struct decoding *decoding;
    struct jpeg_decompress_struct in;
    const struct encoding *encoding;
    struct jpeg_compress_struct out;
    unsigned char chunk[CHUNK];
};

/* ---- What libjpeg calls ---- */

static void give_up(struct job *job, esra_status status)
{
    job->status = status;
    longjmp(job->jump, 1);
}

static void on_error(j_common_ptr common)
{
    struct job *job = common->client_data;
    if (common->err->msg_code == JERR_OUT_OF_MEMORY)
        give_up(job, esra_fail_memory(job->decoding ? job->decoding->message : job->encoding->message));
    common->err->format_message(common, job->words);
    give_up(job, ESRA_BAD_DATA);
}

/* Level -1 is damaged data that libjpeg would paper over; a strange version number in a header does no harm. */
static void on_message(j_common_ptr common, int level)
{
    struct job *job = common->client_data;
    int code = common->err->msg_code;
    if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM)
        return;
    if (!job->decoding || !job->decoding->options->tolerate_truncated)
        on_error(common);
    job->tolerated = true;
}

static void on_output(j_common_ptr common)
{
    (void)common;
}

static void on_source(j_decompress_ptr in)
{
    (void)in;
}

/* After the end, where that is tolerated, comes an end-of-image marker, as often as wanted. */
static boolean on_fill(j_decompress_ptr in)
{
    static const JOCTET end[] = {0xff, JPEG_EOI};
    struct job *job = in->client_data;
    const unsigned char *bytes;
    size_t count;
    esra_status status = esra_input_borrow(job->decoding->input, &bytes, &count, job->decoding->message);
    if (status != ESRA_OK)
        give_up(job, status);
    if (count == 0) {
        job->ended = true;
        if (!job->decoding->options->tolerate_truncated || job->rows_done < 0)
            give_up(job, esra_decoding_truncated(job->decoding));
        job->tolerated = true;
        bytes = end;
        count = sizeof end;
    }
    in->src->next_input_byte = bytes;
    in->src->bytes_in_buffer = count;
    return TRUE;
}

static void on_skip(j_decompress_ptr in, long count)
{
    struct job *job = in->client_data;
    if (count <= 0)
        return;
    if ((size_t)count <= in->src->bytes_in_buffer) {
        in->src->next_input_byte += count;
        in->src->bytes_in_buffer -= (size_t)count;
        return;
    }
    int64_t position = job->decoding->input->position + count - (int64_t)in->src->bytes_in_buffer;
    esra_status status = esra_input_seek(job->decoding->input, position, job->decoding->message);
    if (status != ESRA_OK)
        give_up(job, status);
    in->src->bytes_in_buffer = 0;
}

static bool guarded(struct job *job, void (*step)(struct job *))
{
    if (setjmp(job->jump))
        return false;
    step(job);
    return true;
}

static void set_errors(struct job *job)
{
    jpeg_std_error(&job->errors);
    job->errors.error_exit = on_error;
    job->errors.emit_message = on_message;
    job->errors.output_message = on_output;
}

/* ---- A look over the markers ---- */

/* The markers are walked before libjpeg sees the file: a progressive file costs a pass over all pixels for each of its
 * scans, which may have a few bytes each. */
struct walk {
    struct decoding *decoding;
    const unsigned char *at;
    size_t left;
    int64_t metadata;
    int scans;
};

/* The next byte, or -1 at the end. */
static esra_status next_byte(struct walk *walk, int *byte)
{
    *byte = -1;
    if (walk->left == 0) {
        esra_status status = esra_input_borrow(walk->decoding->input, &walk->at, &walk->left, walk->decoding->message);
        if (status != ESRA_OK || walk->left == 0)
            return status;
    }
    *byte = *walk->at++;
    walk->left--;
    return ESRA_OK;
}

static esra_status skip(struct walk *walk, int count)
{
    struct input *input = walk->decoding->input;
    if ((size_t)count <= walk->left) {
        walk->at += count;
        walk->left -= (size_t)count;
        return ESRA_OK;
    }
    int64_t position = input->position + count - (int64_t)walk->left;
    walk->left = 0;
    return esra_input_seek(input, position, walk->decoding->message);
}

/* Goes on to the next 0xff at hand, or past all that is. */
static void skip_to_mark(struct walk *walk)
{
    if (walk->left == 0)
        return;
    const unsigned char *found = memchr(walk->at, 0xff, walk->left);
    size_t passed = found ? (size_t)(found - walk->at) : walk->left;
    walk->at += passed;
    walk->left -= passed;
}

/* Goes on to the next marker: 0xff and a byte that is neither 0 (a stuffed byte) nor 0xff (filling); -1 at the end. */
static esra_status next_marker(struct walk *walk, int *marker)
{
    int before = 0;
    esra_status status = next_byte(walk, marker);
    while (status == ESRA_OK && *marker >= 0 && !(before == 0xff && *marker != 0 && *marker != 0xff)) {
        if (*marker != 0xff)
            skip_to_mark(walk);
        before = *marker;
        status = next_byte(walk, marker);
    }
    return status;
}

static esra_status check_scans(const struct walk *walk)
{
    int limit = walk->decoding->options->limits.scans;
    if (walk->scans <= limit)
        return ESRA_OK;
    return esra_fail(walk->decoding->message, ESRA_OVER_LIMIT,
                     "%s has more than %d scans; if it can be trusted, lift the limits with --no-limits",
                     walk->decoding->input->name, limit);
}

static esra_status visit_segment(struct walk *walk, int marker)
{
    int high, low;
    esra_status status;
    TRY(next_byte(walk, &high));
    TRY(next_byte(walk, &low));
    if (high < 0 || low < 0 || (high << 8 | low) < 2)
        return ESRA_OK;
    int length = (high << 8 | low) - 2;
    bool is_metadata = (marker >= 0xe0 && marker <= 0xef) || marker == JPEG_COM;
    walk->metadata += is_metadata ? length + 4 : 0;
    walk->scans += marker == 0xda;
    TRY(check_scans(walk));
    TRY(esra_decoding_check_metadata(walk->decoding, walk->metadata));
    TRY(skip(walk, length));
fail:
    return status;
}

/* Ends at the end-of-image marker: what phones hang on behind it is not read. */
static esra_status check_markers(struct decoding *decoding)
{
    struct walk walk = {.decoding = decoding};
    int marker;
    esra_status status;
    for (;;) {
        TRY(next_marker(&walk, &marker));
        if (marker < 0 || marker == JPEG_EOI)
            break;
        bool alone = marker == 0x01 || (marker >= JPEG_RST0 && marker <= 0xd8);
        if (!alone)
            TRY(visit_segment(&walk, marker));
    }
    TRY(esra_input_seek(decoding->input, 0, decoding->message));
fail:
    return status;
}

/* ---- Decoding ---- */

static void read_head(struct job *job)
{
    jpeg_create_decompress(&job->in);
    job->source = (struct jpeg_source_mgr){.init_source = on_source,
                                           .fill_input_buffer = on_fill,
                                           .skip_input_data = on_skip,
                                           .resync_to_restart = jpeg_resync_to_restart,
                                           .term_source = on_source};
    job->in.src = &job->source;
    jpeg_save_markers(&job->in, JPEG_APP0 + 1, 0xffff);
    jpeg_save_markers(&job->in, JPEG_APP0 + 2, 0xffff);
    job->rows_done = -1;
    jpeg_read_header(&job->in, TRUE);
    job->rows_done = 0;
}

static void take_exif(struct job *job)
{
    for (jpeg_saved_marker_ptr marker = job->in.marker_list; marker; marker = marker->next)
        if (marker->marker == JPEG_APP0 + 1 && marker->data_length > EXIF_NAME_SIZE &&
            memcmp(marker->data, EXIF_NAME, EXIF_NAME_SIZE) == 0 && !job->decoding->photo->exif.size) {
            esra_status status = esra_bytes_copy(&job->decoding->photo->exif, marker->data + EXIF_NAME_SIZE,
                                                 marker->data_length - EXIF_NAME_SIZE, job->decoding->message);
            if (status != ESRA_OK)
                give_up(job, status);
        }
}

/* libjpeg hands out memory of its own making, from malloc. */
static void take_profile(struct job *job)
{
    JOCTET *data = NULL;
    unsigned size = 0;
    if (!jpeg_read_icc_profile(&job->in, &data, &size))
        return;
    job->decoding->photo->icc = (struct bytes){data, size};
}

static void take_metadata(struct job *job)
{
    take_exif(job);
    take_profile(job);
}

static esra_status set_colours(struct job *job)
{
    struct decoding *decoding = job->decoding;
    switch (job->in.jpeg_color_space) {
    case JCS_GRAYSCALE: job->in.out_color_space = JCS_GRAYSCALE; return ESRA_OK;
    case JCS_YCbCr:
    case JCS_RGB: job->in.out_color_space = JCS_RGB; return ESRA_OK;
    case JCS_CMYK:
    case JCS_YCCK:
        job->in.out_color_space = JCS_CMYK;
        /* Adobe's files, which is to say nearly all, store the inks upside down. */
        return esra_cmyk_create(&job->cmyk, decoding, job->in.saw_Adobe_marker);
    default: return esra_decoding_refuse(decoding, "has colours that JPEG does not define", "convert it to PNG");
    }
}

static esra_status claim(struct job *job)
{
    esra_status status;
    bool grey = job->in.jpeg_color_space == JCS_GRAYSCALE;
    TRY(esra_decoding_claim(job->decoding, job->in.image_width, job->in.image_height, grey ? 1 : 3));
    TRY(set_colours(job));
    job->row = malloc((size_t)job->in.image_width * 4);
    job->line = job->cmyk ? malloc((size_t)job->in.image_width * 3 * sizeof *job->line) : NULL;
    if (!job->row || (job->cmyk && !job->line))
        return esra_fail_memory(job->decoding->message);
    job->decoding->photo->depth = 8;
fail:
    return status;
}

static void store_row(struct job *job)
{
    const struct image *pixels = &job->decoding->photo->pixels;
    if (job->cmyk)
        esra_cmyk_convert(job->cmyk, job->row, job->line, pixels->width);
    for (int c = 0; c < pixels->channels; c++) {
        float *to = plane_row(image_plane(pixels, c), job->rows_done);
        if (job->cmyk)
            esra_samples_load(to, (unsigned char *)(job->line + c), SAMPLE_16, pixels->width, 3);
        else
            esra_samples_load(to, job->row + c, SAMPLE_8, pixels->width, pixels->channels);
    }
}

static void read_rows(struct job *job)
{
    jpeg_start_decompress(&job->in);
    for (; job->rows_done < job->decoding->photo->pixels.height; job->rows_done++) {
        jpeg_read_scanlines(&job->in, &job->row, 1);
        store_row(job);
    }
    jpeg_finish_decompress(&job->in);
}

static esra_status explain(struct job *job)
{
    if (job->status != ESRA_BAD_DATA || !job->words[0])
        return job->status;
    int code = job->errors.msg_code;
    if (code == JERR_SOF_UNSUPPORTED || code == JERR_BAD_PRECISION || code == JERR_ARITH_NOTIMPL)
        return esra_decoding_refuse(job->decoding,
                                    "is JPEG of a rare kind (12 bit or lossless), which esra does not read",
                                    "convert it to PNG");
    return esra_decoding_damaged(job->decoding, job->words);
}

static esra_status decode(struct job *job)
{
    struct photo *photo = job->decoding->photo;
    esra_status status;
    if (!guarded(job, read_head) || !guarded(job, take_metadata))
        return explain(job);
    TRY(claim(job));
    if (!job->decoding->options->head_only && !guarded(job, read_rows)) {
        if (!job->decoding->options->tolerate_truncated || job->rows_done == 0 || job->status != ESRA_BAD_DATA)
            return explain(job);
        esra_decoding_blacken(job->decoding, job->rows_done);
        job->tolerated = true;
    }
    photo->incomplete = job->tolerated;
    if (job->cmyk)
        esra_bytes_free(&photo->icc); /* the pixels are sRGB now */
fail:
    return status;
}

esra_status esra_jpeg_decode(struct decoding *decoding)
{
    esra_status status = check_markers(decoding);
    if (status != ESRA_OK)
        return status;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return esra_fail_memory(decoding->message);
    job->decoding = decoding;
    set_errors(job);
    job->in.err = &job->errors;
    job->in.client_data = job;
    status = decode(job);
    jpeg_destroy_decompress(&job->in);
    esra_cmyk_free(&job->cmyk);
    free(job->row);
    free(job->line);
    free(job);
    return status;
}

/* ---- Encoding ---- */

static void on_begin(j_compress_ptr out)
{
    struct job *job = out->client_data;
    job->destination.next_output_byte = job->chunk;
    job->destination.free_in_buffer = CHUNK;
}

static void write_chunk(struct job *job, size_t size)
{
    esra_status status = esra_output_write(job->encoding->output, job->chunk, size, job->encoding->message);
    if (status != ESRA_OK)
        give_up(job, status);
}

static boolean on_full(j_compress_ptr out)
{
    write_chunk(out->client_data, CHUNK);
    on_begin(out);
    return TRUE;
}

static void on_end(j_compress_ptr out)
{
    write_chunk(out->client_data, CHUNK - out->dest->free_in_buffer);
}

/* Full chroma: a layer is looked at closely and worked on, and half-size chroma would smear what was separated. */
static void set_parameters(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    job->out.image_width = (JDIMENSION)pixels->width;
    job->out.image_height = (JDIMENSION)pixels->height;
    job->out.input_components = pixels->channels;
    job->out.in_color_space = pixels->channels == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&job->out);
    jpeg_set_quality(&job->out, job->encoding->quality, TRUE);
    job->out.optimize_coding = TRUE;
    for (int n = 0; n < job->out.num_components; n++)
        job->out.comp_info[n].h_samp_factor = job->out.comp_info[n].v_samp_factor = 1;
}

static void write_metadata(struct job *job)
{
    const struct photo *photo = job->encoding->photo;
    if (photo->exif.size) {
        jpeg_write_m_header(&job->out, JPEG_APP0 + 1, (unsigned)photo->exif.size + EXIF_NAME_SIZE);
        for (int n = 0; n < EXIF_NAME_SIZE; n++)
            jpeg_write_m_byte(&job->out, EXIF_NAME[n]);
        for (size_t n = 0; n < photo->exif.size; n++)
            jpeg_write_m_byte(&job->out, photo->exif.data[n]);
    }
    if (photo->icc.size)
        jpeg_write_icc_profile(&job->out, photo->icc.data, (unsigned)photo->icc.size);
}

static void write_all(struct job *job)
{
    const struct image *pixels = &job->encoding->photo->pixels;
    jpeg_create_compress(&job->out);
    job->destination = (struct jpeg_destination_mgr){
        .init_destination = on_begin, .empty_output_buffer = on_full, .term_destination = on_end};
    job->out.dest = &job->destination;
    set_parameters(job);
    jpeg_start_compress(&job->out, TRUE);
    write_metadata(job);
    for (int y = 0; y < pixels->height; y++) {
        for (int c = 0; c < pixels->channels; c++)
            esra_samples_save(job->row + c, pixels->channels, plane_row(image_plane(pixels, c), y), SAMPLE_8,
                              pixels->width);
        jpeg_write_scanlines(&job->out, &job->row, 1);
    }
    jpeg_finish_compress(&job->out);
}

static esra_status check_encoding(const struct encoding *encoding)
{
    const struct photo *photo = encoding->photo;
    if (photo->pixels.width > JPEG_MAX_DIMENSION || photo->pixels.height > JPEG_MAX_DIMENSION)
        return esra_fail(encoding->message, ESRA_BAD_DATA,
                         "%s would have over %ld pixels a side, which JPEG cannot; choose PNG", encoding->output->name,
                         (long)JPEG_MAX_DIMENSION);
    if (photo->exif.size + EXIF_NAME_SIZE > MAX_SEGMENT)
        return esra_fail(encoding->message, ESRA_BAD_DATA,
                         "%s would carry %zu bytes of EXIF, and a JPEG holds %d; choose PNG or TIFF",
                         encoding->output->name, photo->exif.size, MAX_SEGMENT - EXIF_NAME_SIZE);
    /* 255 segments of a profile, each with a head of 14 bytes (ICC.1:2010, B.4). */
    if (photo->icc.size > (size_t)255 * (MAX_SEGMENT - 14))
        return esra_fail(encoding->message, ESRA_BAD_DATA,
                         "%s would carry a colour profile too large for JPEG; choose PNG", encoding->output->name);
    return ESRA_OK;
}

static esra_status encode(struct job *job)
{
    const struct encoding *encoding = job->encoding;
    job->row = malloc((size_t)encoding->photo->pixels.width * (size_t)encoding->photo->pixels.channels);
    if (!job->row)
        return esra_fail_memory(encoding->message);
    if (guarded(job, write_all))
        return ESRA_OK;
    if (job->status == ESRA_BAD_DATA)
        return esra_fail(encoding->message, ESRA_BAD_DATA, "%s cannot be written as JPEG: %.200s; choose PNG",
                         encoding->output->name, job->words);
    return job->status;
}

esra_status esra_jpeg_encode(const struct encoding *encoding)
{
    esra_status status = check_encoding(encoding);
    if (status != ESRA_OK)
        return status;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return esra_fail_memory(encoding->message);
    job->encoding = encoding;
    set_errors(job);
    job->out.err = &job->errors;
    job->out.client_data = job;
    status = encode(job);
    jpeg_destroy_compress(&job->out);
    free(job->row);
    free(job);
    return status;
}
