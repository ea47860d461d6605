/* pipeline/doubt.c - Wiener shrinkage of an estimate in the bands of a Laplacian pyramid. */
#include "pipeline/doubt.h"

#include <math.h>

#include "base/memory.h"
#include "ops/blur.h"

/* Bands from this one on are looked at, each twice as wide as the one before. */
#define FIRST_BAND 2

/* The last band has sides of at least this many px. */
#define LEAST_SIDE 6

/* Energies are averaged over this many px of a band's own scale. */
#define WINDOW_PX 2

/* Everything one band needs: image 0 is the estimate, the others its replicates' scatter. */
struct band {
    struct context *context;
    int count; /* of images */
    double factor;
};

static int half(int length)
{
    return (length + 1) / 2;
}

/* fine -= coarse seen at the finer size, where coarse pixel (x, y) stands at (2x, 2y); sign -1 adds. */
static void subtract_coarse(struct image *fine, const struct image *coarse, float sign)
{
    for (int c = 0; c < fine->channels; c++)
        for (int y = 0; y < fine->height; y++) {
            struct plane from = image_plane(coarse, c);
            const float *upper = plane_row(from, y / 2);
            const float *lower = plane_row(from, y % 2 && y / 2 + 1 < from.height ? y / 2 + 1 : y / 2);
            float *to = plane_row(image_plane(fine, c), y);
            for (int x = 0; x < fine->width; x++) {
                int left = x / 2, right = x % 2 && left + 1 < from.width ? left + 1 : left;
                to[x] -= sign * 0.25f * ((upper[left] + upper[right]) + (lower[left] + lower[right]));
            }
        }
}

static void subtract_mean(struct image *image)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (int c = 0; c < image->channels; c++) {
        float *plane = image->data + (size_t)c * pixels;
        double sum = 0;
        for (size_t n = 0; n < pixels; n++)
            sum += plane[n];
        for (size_t n = 0; n < pixels; n++)
            plane[n] -= (float)(sum / (double)pixels);
    }
}

static void add_energy(struct image *energy, const struct image *image, float factor)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (int c = 0; c < image->channels; c++)
        for (size_t n = 0; n < pixels; n++) {
            float v = image->data[(size_t)c * pixels + n];
            energy->data[n] += factor * v * v;
        }
}

/* image -= the Wiener factor's share of it: what is left is in doubt. */
static esra_status keep_doubtful(const struct band *band, struct image *images)
{
    struct image energy[2] = {{0}}, around[2] = {{0}};
    int width = images[0].width, height = images[0].height;
    size_t pixels = (size_t)width * (size_t)height;
    esra_status status = ESRA_OK;
    for (int k = 0; k < 2; k++) {
        TRY(esra_image_create(&energy[k], width, height, 1, band->context->message));
        TRY(esra_image_create(&around[k], width, height, 1, band->context->message));
    }
    add_energy(&energy[0], &images[0], 1);
    for (int j = 1; j < band->count; j++)
        add_energy(&energy[1], &images[j], (float)band->factor);
    for (int k = 0; k < 2; k++)
        esra_blur(band->context, image_plane(&energy[k], 0), image_plane(&around[k], 0), WINDOW_PX);
    for (int c = 0; c < images[0].channels; c++)
        for (size_t n = 0; n < pixels; n++) {
            float e = around[0].data[n], v = around[1].data[n];
            images[0].data[(size_t)c * pixels + n] *= v < e ? v / e : 1;
        }
done:
    for (int k = 0; k < 2; k++) {
        esra_image_free(&energy[k]);
        esra_image_free(&around[k]);
    }
    return status;
}

/* Makes of the estimate, images[0], what is in doubt of it; uses up the others. */
static esra_status doubt_band(const struct band *band, struct image *images, int depth)
{
    int width = half(images[0].width), height = half(images[0].height);
    bool last = width < LEAST_SIDE || height < LEAST_SIDE;
    esra_status status = ESRA_OK;
    struct image *coarse = esra_allocate((size_t)band->count, sizeof *coarse);
    if (!coarse)
        return esra_fail_memory(band->context->message);
    for (int j = 0; j < band->count; j++) {
        if (last) {
            subtract_mean(&images[j]);
            continue;
        }
        TRY(esra_image_create(&coarse[j], width, height, images[j].channels, band->context->message));
        for (int c = 0; c < images[j].channels; c++)
            esra_halve(band->context, image_plane(&images[j], c), image_plane(&coarse[j], c), 1);
        subtract_coarse(&images[j], &coarse[j], 1);
    }
    if (!last)
        TRY(doubt_band(band, coarse, depth + 1));
    if (depth >= FIRST_BAND)
        TRY(keep_doubtful(band, images));
    else
        for (size_t n = 0; n < (size_t)images[0].width * (size_t)images[0].height * (size_t)images[0].channels; n++)
            images[0].data[n] = 0;
    if (!last)
        subtract_coarse(&images[0], &coarse[0], -1);
done:
    esra_images_free(&coarse, band->count);
    return status;
}

static esra_status copy(struct image *to, const struct image *from, struct message *message)
{
    esra_status status = esra_image_create(to, from->width, from->height, from->channels, message);
    size_t samples = (size_t)from->width * (size_t)from->height * (size_t)from->channels;
    for (size_t n = 0; status == ESRA_OK && n < samples; n++)
        to->data[n] = from->data[n];
    return status;
}

esra_status esra_doubt(struct image *doubt, const struct image *estimate, const struct image *scatter, int count,
                       double factor, struct context *context)
{
    struct band band = {context, count + 1, factor};
    esra_status status = ESRA_OK;
    *doubt = (struct image){0};
    struct image *images = esra_allocate((size_t)count + 1, sizeof *images);
    if (!images)
        return esra_fail_memory(context->message);
    TRY(copy(&images[0], estimate, context->message));
    for (int j = 0; j < count; j++)
        TRY(copy(&images[j + 1], &scatter[j], context->message));
    TRY(doubt_band(&band, images, 0));
    *doubt = images[0];
    images[0] = (struct image){0};
done:
    esra_images_free(&images, count + 1);
    return status;
}
