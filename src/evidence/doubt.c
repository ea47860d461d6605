/* evidence/doubt.c - Wiener shrinkage of an estimate in the bands of a Laplacian pyramid. */
#include "evidence/doubt.h"

#include <math.h>

#include "base/memory.h"
#include "evidence/thresholds.h"
#include "ops/blur.h"
#include "ops/thresholds.h"

/* The coarsest band has sides of at least this many px. */
#define LEAST_SIDE 6

/* What is the same for every band. Images are [count]: 0 is the estimate, the others its replicates' scatter. */
struct shrinkage {
    struct context *context;
    int count; /* of images */
    double factor;
    int halvings;
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
    size_t pixels = image_pixels(image);
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
    size_t pixels = image_pixels(image);
    for (int c = 0; c < image->channels; c++)
        for (size_t n = 0; n < pixels; n++) {
            float v = image->data[(size_t)c * pixels + n];
            energy->data[n] += factor * v * v;
        }
}

/* images[0] *= min(1, v/e): the part that the Wiener factor max(0, 1 - v/e) takes off. e and v are energies averaged
 * over a window. */
static esra_status keep_doubtful(const struct shrinkage *shrinkage, struct image *images)
{
    struct image energy[2] = {{0}}, around[2] = {{0}};
    int width = images[0].width, height = images[0].height;
    size_t pixels = (size_t)width * (size_t)height;
    esra_status status = ESRA_OK;
    for (int k = 0; k < 2; k++) {
        TRY(esra_image_create(&energy[k], width, height, 1, shrinkage->context->message));
        TRY(esra_image_create(&around[k], width, height, 1, shrinkage->context->message));
    }
    add_energy(&energy[0], &images[0], 1);
    for (int j = 1; j < shrinkage->count; j++)
        add_energy(&energy[1], &images[j], (float)shrinkage->factor);
    for (int k = 0; k < 2; k++)
        esra_blur(shrinkage->context, image_plane(&energy[k], 0), image_plane(&around[k], 0),
                  ops_thresholds.explain_window_px);
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

/* Turns the estimate, images[0], into its doubtful part, from this band to the coarsest; overwrites the others. */
static esra_status doubt_band(const struct shrinkage *shrinkage, struct image *images, int depth)
{
    int width = half(images[0].width), height = half(images[0].height);
    bool last = width < LEAST_SIDE || height < LEAST_SIDE;
    esra_status status = ESRA_OK;
    struct image *coarse = esra_allocate((size_t)shrinkage->count, sizeof *coarse);
    if (!coarse)
        return esra_fail_memory(shrinkage->context->message);
    for (int j = 0; j < shrinkage->count; j++) {
        if (last) {
            subtract_mean(&images[j]);
            continue;
        }
        TRY(esra_image_create(&coarse[j], width, height, images[j].channels, shrinkage->context->message));
        for (int c = 0; c < images[j].channels; c++)
            esra_halve(shrinkage->context, image_plane(&images[j], c), image_plane(&coarse[j], c), 1);
        subtract_coarse(&images[j], &coarse[j], 1);
    }
    if (!last)
        TRY(doubt_band(shrinkage, coarse, depth + 1));
    if (depth + shrinkage->halvings >= evidence_thresholds.doubt_first_band)
        TRY(keep_doubtful(shrinkage, images));
    else
        for (size_t n = 0; n < image_samples(&images[0]); n++)
            images[0].data[n] = 0;
    if (!last)
        subtract_coarse(&images[0], &coarse[0], -1);
done:
    esra_images_free(&coarse, shrinkage->count);
    return status;
}

static esra_status copy(struct image *to, const struct image *from, struct message *message)
{
    esra_status status = esra_image_create(to, from->width, from->height, from->channels, message);
    size_t samples = image_samples(from);
    for (size_t n = 0; status == ESRA_OK && n < samples; n++)
        to->data[n] = from->data[n];
    return status;
}

esra_status esra_doubt(struct context *context, const struct replicates *replicates, struct image *doubt)
{
    int count = replicates->count + 1;
    struct shrinkage shrinkage = {context, count, replicates->factor, replicates->halvings};
    esra_status status = ESRA_OK;
    *doubt = (struct image){0};
    struct image *images = esra_allocate((size_t)count, sizeof *images);
    if (!images)
        return esra_fail_memory(context->message);
    for (int j = 0; j < count; j++)
        TRY(copy(&images[j], j == 0 ? replicates->estimate : &replicates->scatter[j - 1], context->message));
    TRY(doubt_band(&shrinkage, images, 0));
    *doubt = images[0];
    images[0] = (struct image){0};
done:
    esra_images_free(&images, count);
    return status;
}
