/* evidence/sharpness.c - the energy of gradients after two blurs. */
#include "evidence/sharpness.h"

#include <math.h>

#include "evidence/thresholds.h"
#include "ops/blur.h"

/* Photos are compared at sides no longer than this. */
#define SIDE 700

/* The mean of the channels, or its root. */
static esra_status to_grey(const struct image *image, bool root, struct image *grey, struct message *message)
{
    size_t pixels = image_pixels(image);
    esra_status status = esra_image_create(grey, image->width, image->height, 1, message);
    for (size_t n = 0; status == ESRA_OK && n < pixels; n++) {
        float sum = 0;
        for (int c = 0; c < image->channels; c++)
            sum += image->data[(size_t)c * pixels + n] / (float)image->channels;
        grey->data[n] = root ? sqrtf(fmaxf(sum, 0)) : sum;
    }
    return status;
}

static esra_status shrink(struct context *context, struct image *grey)
{
    while (grey->width > SIDE || grey->height > SIDE) {
        struct image half = {0};
        esra_status status =
            esra_image_create(&half, (grey->width + 1) / 2, (grey->height + 1) / 2, 1, context->message);
        if (status != ESRA_OK)
            return status;
        esra_halve(context, image_plane(grey, 0), image_plane(&half, 0), 1);
        esra_image_free(grey);
        *grey = half;
    }
    return ESRA_OK;
}

static double gradient_energy(const struct image *image)
{
    double sum = 0;
    for (int y = 0; y + 1 < image->height; y++) {
        const float *row = plane_row(image_plane(image, 0), y), *next = row + image->width;
        for (int x = 0; x + 1 < image->width; x++) {
            double right = row[x + 1] - row[x], down = next[x] - row[x];
            sum += right * right + down * down;
        }
    }
    return sum;
}

struct energies {
    double fine, coarse;
};

static esra_status measure(struct context *context, const struct image *grey, const double blurs_px[2],
                           struct energies *energies)
{
    struct image smooth = {0};
    esra_status status = esra_image_create(&smooth, grey->width, grey->height, 1, context->message);
    for (int k = 0; status == ESRA_OK && k < 2; k++) {
        esra_blur(context, image_plane(grey, 0), image_plane(&smooth, 0), blurs_px[k]);
        *(k ? &energies->coarse : &energies->fine) = gradient_energy(&smooth);
    }
    esra_image_free(&smooth);
    return status;
}

esra_status esra_sharpness(struct context *context, const struct image *photo, bool linear, double *sharpness)
{
    const double blurs_px[2] = {evidence_thresholds.photo_fine_px, evidence_thresholds.photo_coarse_px};
    struct image grey = {0};
    struct energies energies = {0, 0};
    esra_status status;
    TRY(to_grey(photo, linear, &grey, context->message));
    TRY(shrink(context, &grey));
    TRY(measure(context, &grey, blurs_px, &energies));
    *sharpness = energies.coarse > 0 ? energies.fine / energies.coarse : 1;
done:
    esra_image_free(&grey);
    return status;
}

static esra_status measure_layer(struct context *context, const struct image *layer, struct energies *energies)
{
    const double blurs_px[2] = {evidence_thresholds.layer_fine_px, evidence_thresholds.layer_coarse_px};
    struct image grey = {0};
    esra_status status;
    TRY(to_grey(layer, false, &grey, context->message));
    TRY(measure(context, &grey, blurs_px, energies));
done:
    esra_image_free(&grey);
    return status;
}

esra_status esra_layer_focus(struct context *context, const struct image *transmitted, const struct image *reflected,
                             struct layer_focus *focus)
{
    struct energies t = {0, 0}, r = {0, 0};
    esra_status status;
    TRY(measure_layer(context, transmitted, &t));
    TRY(measure_layer(context, reflected, &r));
    focus->sharpness = r.fine * t.coarse > 0 ? t.fine * r.coarse / (r.fine * t.coarse) : 1;
    focus->energy = t.fine > 0 ? r.fine / t.fine : INFINITY;
done:
    return status;
}
