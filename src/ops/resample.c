/* ops/resample.c - Lanczos-3 resampling: to(x) = sum_k sum_j w(u - j) w(v - k) from(j, k), (u, v) = t x,
 * w(s) = sinc(s) sinc(s/3) for |s| < 3, the six weights of an axis scaled to sum to one so that constants stay. */
#include "ops/resample.h"

#include <math.h>

#include "base/rows.h"
#include "base/wide.h"
#include "ops/lanczos.h"

struct resampling {
    const struct image *from, *to;
    const struct transform *transform; /* one of these two */
    const struct image *map;
    struct plane mask;
    const lanczos_weights *weights;
};

static float sample(struct plane plane, const struct taps *across, const struct taps *down)
{
    float sum = 0;
    for (int j = 0; j < LANCZOS_TAPS; j++)
        sum += down->weight[j] * taps_sum(across, plane_row(plane, down->index[j]));
    return sum;
}

/* Where pixel (x, y) lies in `from`; false, with (0, 0), where nowhere. */
static bool locate(const struct resampling *r, int x, int y, double *u, double *v)
{
    if (r->transform)
        return transform_apply(r->transform, x, y, u, v);
    *u = plane_row(image_plane(r->map, 0), y)[x];
    *v = plane_row(image_plane(r->map, 1), y)[x];
    bool finite = isfinite(*u) && isfinite(*v);
    if (!finite)
        *u = *v = 0;
    return finite;
}

static void resample_pixel(const struct resampling *r, int x, int y)
{
    const struct image *from = r->from, *to = r->to;
    double u, v;
    bool seen = locate(r, x, y, &u, &v);
    /* A hundredth of a pixel of slack: the identity found by estimation is not cut at the border. */
    bool valid = seen && u > -.01 && v > -.01 && u < from->width - .99 && v < from->height - .99;
    if (r->mask.data)
        plane_row(r->mask, y)[x] = valid ? 1 : 0;
    struct taps across = taps_at(r->weights, seen ? u : 0, from->width),
                down = taps_at(r->weights, seen ? v : 0, from->height);
    for (int c = 0; c < to->channels; c++)
        plane_row(image_plane(to, c), y)[x] = seen ? sample(image_plane(from, c), &across, &down) : 0;
}

static void resample_block(void *work, int task, int worker)
{
    const struct resampling *r = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, r->to->height); y++)
        for (int x = 0; x < r->to->width; x++)
            resample_pixel(r, x, y);
}
WIDE_TASK(resample_block)

static void resample(struct context *context, struct resampling *r)
{
    r->weights = esra_lanczos_weights(context);
    esra_context_run(context, WIDE(context, resample_block), r, rows_blocks(r->to->height), NULL);
}

void esra_resample(struct context *context, const struct image *from, const struct transform *t, const struct image *to,
                   struct plane mask)
{
    resample(context, &(struct resampling){.from = from, .to = to, .transform = t, .mask = mask});
}

void esra_resample_map(struct context *context, const struct image *from, const struct image *map,
                       const struct image *to, struct plane mask)
{
    resample(context, &(struct resampling){.from = from, .to = to, .map = map, .mask = mask});
}
