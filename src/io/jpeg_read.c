/* io/jpeg_read.c - JPEG in, by libjpeg-turbo. */
#include <stdlib.h>
#include <string.h>

#include "io/jpeg.h"
#include "io/profile.h"
#include "io/samples.h"

#include <jerror.h>

struct job {
    struct jpeg_trouble trouble;
    struct decoding *decoding;
    struct jpeg_decompress_struct in;
    struct jpeg_source_mgr source;
    unsigned char *row;
    uint16_t *line; /* CMYK: a row of RGB */
    int rows_done;  /* -1 before the head is read */
    struct cmyk *cmyk;
};

/* ---- What libjpeg calls ---- */

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
        esra_jpeg_give_up(&job->trouble, status);
    if (count == 0) {
        if (!job->decoding->options->tolerate_truncated || job->rows_done < 0)
            esra_jpeg_give_up(&job->trouble, esra_decoding_truncated(job->decoding));
        job->trouble.tolerated = true;
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
        esra_jpeg_give_up(&job->trouble, status);
    in->src->bytes_in_buffer = 0;
}

/* ---- The head ---- */

static void read_head(void *user)
{
    struct job *job = user;
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
                esra_jpeg_give_up(&job->trouble, status);
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

static void take_metadata(void *user)
{
    struct job *job = user;
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
done:
    return status;
}

/* ---- Pixels ---- */

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

static void read_rows(void *user)
{
    struct job *job = user;
    jpeg_start_decompress(&job->in);
    for (; job->rows_done < job->decoding->photo->pixels.height; job->rows_done++) {
        jpeg_read_scanlines(&job->in, &job->row, 1);
        store_row(job);
    }
    jpeg_finish_decompress(&job->in);
}

static esra_status explain(struct job *job)
{
    if (job->trouble.status != ESRA_BAD_DATA || !job->trouble.words[0])
        return job->trouble.status;
    int code = job->trouble.errors.msg_code;
    if (code == JERR_SOF_UNSUPPORTED || code == JERR_BAD_PRECISION || code == JERR_ARITH_NOTIMPL)
        return esra_decoding_refuse(job->decoding,
                                    "is JPEG of a rare kind (12 bit or lossless), which esra does not read",
                                    "convert it to PNG");
    return esra_decoding_damaged(job->decoding, job->trouble.words);
}

static esra_status decode(struct job *job)
{
    struct photo *photo = job->decoding->photo;
    esra_status status;
    if (!esra_jpeg_guarded(&job->trouble, read_head, job) || !esra_jpeg_guarded(&job->trouble, take_metadata, job))
        return explain(job);
    TRY(claim(job));
    if (!job->decoding->options->head_only && !esra_jpeg_guarded(&job->trouble, read_rows, job)) {
        if (!job->decoding->options->tolerate_truncated || job->rows_done == 0 || job->trouble.status != ESRA_BAD_DATA)
            return explain(job);
        job->trouble.tolerated = true;
    }
    photo->incomplete = job->trouble.tolerated;
    if (job->cmyk)
        esra_bytes_free(&photo->icc); /* the pixels are sRGB now */
done:
    return status;
}

esra_status esra_jpeg_decode(struct decoding *decoding)
{
    esra_status status = esra_jpeg_check_markers(decoding);
    if (status != ESRA_OK)
        return status;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return esra_fail_memory(decoding->message);
    job->decoding = decoding;
    job->trouble.message = decoding->message;
    job->trouble.tolerate = decoding->options->tolerate_truncated;
    esra_jpeg_watch(&job->trouble);
    job->in.err = &job->trouble.errors;
    job->in.client_data = job;
    status = decode(job);
    jpeg_destroy_decompress(&job->in);
    esra_cmyk_free(&job->cmyk);
    free(job->row);
    free(job->line);
    free(job);
    return status;
}
