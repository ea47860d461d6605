/* io/jpeg_write.c - JPEG out, by libjpeg-turbo. */
#include <stdlib.h>

#include "io/jpeg.h"
#include "io/samples.h"

/* A marker's length field counts itself and has 16 bits. */
#define MAX_SEGMENT (65535 - 2)

/* Bytes handed to the output at once. */
#define CHUNK 65536

struct job {
    struct jpeg_trouble trouble;
    const struct encoding *encoding;
    struct jpeg_compress_struct out;
    struct jpeg_destination_mgr destination;
    unsigned char *row;
    unsigned char chunk[CHUNK];
};

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
        esra_jpeg_give_up(&job->trouble, status);
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

static void write_all(void *user)
{
    struct job *job = user;
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

esra_status esra_jpeg_check(const struct photo *photo, const char *name, struct message *message)
{
    if (photo->pixels.width > JPEG_MAX_DIMENSION || photo->pixels.height > JPEG_MAX_DIMENSION)
        return esra_fail(message, ESRA_BAD_DATA, "%s would have over %ld pixels a side, which JPEG cannot; choose PNG",
                         name, (long)JPEG_MAX_DIMENSION);
    if (photo->exif.size + EXIF_NAME_SIZE > MAX_SEGMENT)
        return esra_fail(message, ESRA_BAD_DATA,
                         "%s would carry %zu bytes of EXIF, and a JPEG holds %d; choose PNG or TIFF", name,
                         photo->exif.size, MAX_SEGMENT - EXIF_NAME_SIZE);
    /* 255 segments of a profile, each with a head of 14 bytes (ICC.1:2010, B.4). */
    if (photo->icc.size > (size_t)255 * (MAX_SEGMENT - 14))
        return esra_fail(message, ESRA_BAD_DATA, "%s would carry a colour profile too large for JPEG; choose PNG",
                         name);
    return ESRA_OK;
}

static esra_status encode(struct job *job)
{
    const struct encoding *encoding = job->encoding;
    job->row = malloc((size_t)encoding->photo->pixels.width * (size_t)encoding->photo->pixels.channels);
    if (!job->row)
        return esra_fail_memory(encoding->message);
    if (esra_jpeg_guarded(&job->trouble, write_all, job))
        return ESRA_OK;
    if (job->trouble.status == ESRA_BAD_DATA)
        return esra_fail(encoding->message, ESRA_BAD_DATA, "%s cannot be written as JPEG: %.200s; choose PNG",
                         encoding->output->name, job->trouble.words);
    return job->trouble.status;
}

esra_status esra_jpeg_encode(const struct encoding *encoding)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return esra_fail_memory(encoding->message);
    job->encoding = encoding;
    job->trouble.message = encoding->message;
    esra_jpeg_watch(&job->trouble);
    job->out.err = &job->trouble.errors;
    job->out.client_data = job;
    esra_status status = encode(job);
    jpeg_destroy_compress(&job->out);
    free(job->row);
    free(job);
    return status;
}
