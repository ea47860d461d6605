/* align/explain.c - how much of the reference's gradients a motion explains, and where. */
#include "align/explain.h"

#include <math.h>

#include "align/thresholds.h"
#include "base/maths.h"
#include "base/rows.h"
#include "base/wide.h"
#include "ops/blur.h"
#include "ops/thresholds.h"

enum { VALID, ERROR, ENERGY, SMOOTH_ERROR, PLANES };

static struct plane plane_of(const struct explainer *explainer, int which)
{
    return image_plane(&explainer->planes, which);
}

static float energy_of(const float *sample)
{
    float sum = 0;
    for (int k = 0; k < FIELD_FLOATS; k++)
        sum += sample[k] * sample[k];
    return sum;
}

static double sum_of(struct plane plane)
{
    double total = 0;
    for (int y = 0; y < plane.height; y++) {
        double sum = 0;
        const float *row = plane_row(plane, y);
        for (int x = 0; x < plane.width; x++)
            sum += row[x];
        total += sum;
    }
    return total;
}

esra_status esra_explainer_create(struct explainer *explainer, struct context *context, const struct field *reference)
{
    int width = reference->width, height = reference->height;
    esra_status status;
    *explainer = (struct explainer){.reference = reference};
    TRY(esra_field_create(&explainer->warped, width, height, context->message));
    TRY(esra_image_create(&explainer->planes, width, height, PLANES, context->message));
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            plane_row(plane_of(explainer, ERROR), y)[x] = energy_of(field_sample(reference, x, y));
    esra_blur(context, plane_of(explainer, ERROR), plane_of(explainer, ENERGY), ops_thresholds.explain_window_px);
    explainer->energy = sum_of(plane_of(explainer, ENERGY));
    return ESRA_OK;
done:
    esra_explainer_free(explainer);
    return status;
}

void esra_explainer_free(struct explainer *explainer)
{
    esra_field_free(&explainer->warped);
    esra_image_free(&explainer->planes);
}

struct explaining {
    struct explainer *explainer;
    struct plane map;
    float gain;
};

static void error_block(void *work, int task, int worker)
{
    const struct explaining *e = work;
    const struct field *reference = e->explainer->reference, *warped = &e->explainer->warped;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, warped->height); y++) {
        const float *w = field_sample(warped, 0, y), *c = field_sample(reference, 0, y);
        const float *valid = plane_row(plane_of(e->explainer, VALID), y);
        float *error = plane_row(plane_of(e->explainer, ERROR), y), difference[FIELD_FLOATS];
        for (int x = 0; x < warped->width; x++, w += FIELD_FLOATS, c += FIELD_FLOATS) {
            for (int k = 0; k < FIELD_FLOATS; k++)
                difference[k] = w[k] / e->gain - c[k];
            error[x] = valid[x] * energy_of(difference);
        }
    }
}
WIDE_TASK(error_block)

static void map_block(void *work, int task, int worker)
{
    const struct explaining *e = work;
    const float misfit = (float)align_thresholds.misfit, noise = (float)align_thresholds.explain_noise;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, e->map.height); y++) {
        const float *valid = plane_row(plane_of(e->explainer, VALID), y);
        const float *error = plane_row(plane_of(e->explainer, SMOOTH_ERROR), y);
        const float *energy = plane_row(plane_of(e->explainer, ENERGY), y);
        float *map = plane_row(e->map, y);
        for (int x = 0; x < e->map.width; x++)
            map[x] = valid[x] * energy[x] * esra_expf(-error[x] / (misfit * energy[x] + noise));
    }
}
WIDE_TASK(map_block)

/* Sums in one thread and in order: the level is small. */
static struct explained sum_up(const struct explainer *explainer, struct plane map)
{
    struct plane valid = plane_of(explainer, VALID);
    double error = 0, energy = 1e-30;
    for (int y = 0; y < valid.height; y++)
        for (int x = 0; x < valid.width; x++) {
            ptrdiff_t n = y * valid.stride + x;
            error += valid.data[n] * (double)plane_of(explainer, SMOOTH_ERROR).data[n];
            energy += valid.data[n] * (double)plane_of(explainer, ENERGY).data[n];
        }
    double pixels = (double)valid.width * valid.height;
    return (struct explained){sum_of(map) / (explainer->energy + 1e-30), error / energy, sum_of(valid) / pixels};
}

struct explained esra_explain(struct explainer *explainer, struct context *context, const struct field *photo,
                              const struct transform *transform, double gain, struct plane map)
{
    int blocks = rows_blocks(explainer->warped.height);
    /* The error itself is no longer needed once it is smoothed: its plane is the map where the caller wants none. */
    struct explaining e = {explainer, map.data ? map : plane_of(explainer, ERROR), (float)gain};
    esra_field_warp(context, photo, transform, &explainer->warped, plane_of(explainer, VALID));
    esra_context_run(context, WIDE(context, error_block), &e, blocks, NULL);
    esra_blur(context, plane_of(explainer, ERROR), plane_of(explainer, SMOOTH_ERROR), ops_thresholds.explain_window_px);
    esra_context_run(context, WIDE(context, map_block), &e, blocks, NULL);
    return sum_up(explainer, e.map);
}

void esra_explain_weights(const struct explainer *explainer, struct plane map, int finer, struct plane weights)
{
    struct plane energy = plane_of(explainer, ENERGY);
    for (int y = 0; y < weights.height; y++) {
        int row = y >> finer < map.height ? y >> finer : map.height - 1;
        for (int x = 0; x < weights.width; x++) {
            int column = x >> finer < map.width ? x >> finer : map.width - 1;
            float share = plane_row(map, row)[column] / (plane_row(energy, row)[column] + 1e-20f);
            plane_row(weights, y)[x] = share > (float)align_thresholds.explain_share ? share : 0;
        }
    }
}
