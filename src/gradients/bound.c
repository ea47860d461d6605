/* gradients/bound.c - the upper bound of the transmitted layer.
 *
 * Photo i is a_i T and a reflection that only adds light, so T <= I_i/a_i; but a photo that a map brings a pixel beside
 * its place would cut off T's bright edges. So another photo than the reference bounds T by its brightest sample within
 * a few pixels, smoothed, and only where it does show T's gradients: where E is strong and the photo has it not, the
 * map is wrong, or the photo is hidden from that place. */
#include "gradients/bound.h"

#include <math.h>

#include "base/memory.h"
#include "base/rows.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "ops/extreme.h"

struct bounding {
    const struct bound_problem *problem;
    const struct image *upper;
    int photo;
    struct plane missing, bad, allowed, scratch, brightest;
};

/* |E| where photo i is far from it, else 0. */
static float missing_at(const struct bounding *b, int x, int y)
{
    const struct bound_problem *p = b->problem;
    const struct image *image = &p->images[b->photo];
    float scale = (float)(1 / p->mixing[b->photo]), strength = 0, away = 0;
    for (int c = 0; c < image->channels; c++) {
        struct plane plane = image_plane(image, c);
        const float *at = plane_row(plane, y) + x;
        float down = y < plane.height - 1 ? scale * (at[plane.stride] - at[0]) : 0;
        float right = x < plane.width - 1 ? scale * (at[1] - at[0]) : 0;
        float e[2] = {plane_row(image_plane(&p->expected[0], c), y)[x],
                      plane_row(image_plane(&p->expected[1], c), y)[x]};
        strength += e[0] * e[0] + e[1] * e[1];
        away += (down - e[0]) * (down - e[0]) + (right - e[1]) * (right - e[1]);
    }
    strength = sqrtf(strength);
    return sqrtf(away) > (float)gradients_thresholds.bound_missing_share * strength + (float)gradients_thresholds.bound_missing_least ? strength : 0;
}

static void missing_rows(void *work, int task, int worker)
{
    const struct bounding *b = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, b->missing.height); y++)
        for (int x = 0; x < b->missing.width; x++)
            plane_row(b->missing, y)[x] = missing_at(b, x, y);
}

/* 1 where photo i may be asked. */
static void find_allowed(const struct bounding *b, struct context *context)
{
    const struct image *steps = b->problem->steps;
    esra_context_run(context, missing_rows, (void *)b, rows_blocks(b->missing.height), NULL);
    esra_blur(context, b->missing, b->bad, gradients_thresholds.bound_missing_blur_px);
    esra_largest(context, b->bad, b->bad, (int)gradients_thresholds.bound_beside_px, b->scratch);
    esra_smallest(context, image_plane(&b->problem->masks[b->photo], 0), b->allowed, (int)gradients_thresholds.bound_beside_px, b->scratch);
    for (size_t n = 0; n < (size_t)b->allowed.width * (size_t)b->allowed.height; n++)
        if (b->bad.data[n] >= (float)gradients_thresholds.bound_missing_most || (steps && steps->data[n] != 0))
            b->allowed.data[n] = 0;
}

static void bound_by_reference(const struct bounding *b)
{
    const struct image *image = &b->problem->images[b->photo];
    for (size_t n = 0; n < (size_t)image->width * (size_t)image->height * (size_t)image->channels; n++)
        b->upper->data[n] = image->data[n] + (float)gradients_thresholds.bound_slack;
}

static void bound_by(const struct bounding *b, struct context *context)
{
    const struct image *image = &b->problem->images[b->photo];
    float scale = (float)(1 / b->problem->mixing[b->photo]);
    size_t pixels = (size_t)image->width * (size_t)image->height;
    find_allowed(b, context);
    for (int c = 0; c < image->channels; c++) {
        float *upper = b->upper->data + c * pixels;
        esra_largest(context, image_plane(image, c), b->brightest, (int)gradients_thresholds.bound_near_px, b->scratch);
        esra_blur(context, b->brightest, b->bad, gradients_thresholds.bound_blur_px);
        for (size_t n = 0; n < pixels; n++)
            if (b->allowed.data[n] > 0)
                upper[n] = fminf(upper[n], scale * b->bad.data[n] + (float)gradients_thresholds.bound_slack);
    }
}

esra_status esra_bound_find(const struct bound_problem *problem, const struct image *upper, struct context *context)
{
    size_t pixels = (size_t)upper->width * (size_t)upper->height, count;
    float *floats = esra_size_multiply(pixels, 5, &count) ? esra_allocate_untouched(count, sizeof *floats) : NULL;
    if (!floats)
        return esra_fail_memory(context->message);
    struct bounding b = {.problem = problem, .upper = upper, .photo = problem->reference};
    struct plane *planes[5] = {&b.missing, &b.bad, &b.allowed, &b.scratch, &b.brightest};
    for (int k = 0; k < 5; k++)
        *planes[k] = (struct plane){floats + k * pixels, upper->width, upper->height, upper->width};
    bound_by_reference(&b);
    for (b.photo = 0; b.photo < problem->photos && !esra_context_stopping(context); b.photo++)
        if (b.photo != problem->reference)
            bound_by(&b, context);
    esra_release(&floats);
    return ESRA_OK;
}
