/* evidence/sharpness.c - the energy of blurred gradients. */
#include "evidence/sharpness.h"

#include <math.h>

#include "base/rows.h"
#include "base/wide.h"
#include "evidence/thresholds.h"
#include "ops/blur.h"

/* Photos are compared at sides no longer than this. */
#define SIDE 700

struct greying {
    const struct image *from, *to;
    bool root;
};

/* The mean of the channels, or its root. */
static void grey_rows(void *work, int task, int worker)
{
    const struct greying *g = work;
    float channels = (float)g->from->channels;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, g->to->height); y++) {
        float *restrict to = plane_row(image_plane(g->to, 0), y);
        for (int c = 0; c < g->from->channels; c++) {
            const float *from = plane_row(image_plane(g->from, c), y);
            for (int x = 0; x < g->to->width; x++)
                to[x] += from[x] / channels;
        }
        for (int x = 0; g->root && x < g->to->width; x++)
            to[x] = sqrtf(to[x] > 0 ? to[x] : 0);
    }
}
WIDE_TASK(grey_rows)

static esra_status to_grey(struct context *context, const struct image *image, bool root, struct image *grey)
{
    esra_status status = esra_image_create(grey, image->width, image->height, 1, context->message);
    if (status == ESRA_OK)
        esra_context_run(context, WIDE(context, grey_rows), &(struct greying){image, grey, root},
                         rows_blocks(image->height), NULL);
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

static double gradient_energy(struct plane plane)
{
    double sum = 0;
    for (int y = 0; y + 1 < plane.height; y++) {
        const float *row = plane_row(plane, y), *next = plane_row(plane, y + 1);
        for (int x = 0; x + 1 < plane.width; x++) {
            double right = row[x + 1] - row[x], down = next[x] - row[x];
            sum += right * right + down * down;
        }
    }
    return sum;
}

/* Of all channels, after a blur: black on red has no less of an edge than black on white. */
static esra_status blurred_energy(struct context *context, const struct image *image, double blur_px, double *energy)
{
    struct image smooth = {0};
    esra_status status;
    *energy = 0;
    TRY(esra_image_create(&smooth, image->width, image->height, 1, context->message));
    for (int c = 0; c < image->channels; c++) {
        esra_blur(context, image_plane(image, c), image_plane(&smooth, 0), blur_px);
        *energy += gradient_energy(image_plane(&smooth, 0));
    }
done:
    esra_image_free(&smooth);
    return status;
}

esra_status esra_sharpness(struct context *context, const struct image *photo, bool linear, double *sharpness)
{
    struct image grey = {0};
    double fine, coarse;
    esra_status status;
    TRY(to_grey(context, photo, linear, &grey));
    TRY(shrink(context, &grey));
    TRY(blurred_energy(context, &grey, evidence_thresholds.sharpness_fine_px, &fine));
    TRY(blurred_energy(context, &grey, evidence_thresholds.sharpness_coarse_px, &coarse));
    *sharpness = coarse > 0 ? fine / coarse : 1;
done:
    esra_image_free(&grey);
    return status;
}

esra_status esra_layer_energy(struct context *context, const struct image *transmitted, const struct image *reflected,
                              double *energy)
{
    double t, r;
    esra_status status;
    TRY(blurred_energy(context, transmitted, evidence_thresholds.sharpness_fine_px, &t));
    TRY(blurred_energy(context, reflected, evidence_thresholds.sharpness_fine_px, &r));
    *energy = t > 0 ? r / t : INFINITY;
done:
    return status;
}
