/* ops/resample.c - Lanczos-3 resampling: to(x) = sum_k sum_j w(u - j) w(v - k) from(j, k), (u, v) = t x,
 * w(s) = sinc(s) sinc(s/3) for |s| < 3, the six weights of an axis scaled to sum to one so that constants stay. */
#include "ops/resample.h"

#include <math.h>
#include <string.h>

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

/* ---- Pixels side by side ---- */

/* Motions are smooth: pixels beside one another mostly lie beside one another in `from`, too, by fractions of their
 * own. */
#define RUN 8
/* Aligned as any object may be: not every system's stack can do more. */
typedef float run_floats __attribute__((vector_size(RUN * sizeof(float)), aligned(16)));

struct run_taps {
    int across, down; /* the first of the taps of the first pixel */
    run_floats weight_across[LANCZOS_TAPS], weight_down[LANCZOS_TAPS];
};

/* Where the whole support of a pixel lies inside. */
static bool locate_inside(const struct resampling *r, int x, int y, double *u, double *v)
{
    return locate(r, x, y, u, v) && *u >= 2 && *v >= 2 && *u < r->from->width - 3 && *v < r->from->height - 3;
}

static const float *weights_at(const struct resampling *r, double position)
{
    return r->weights[(int)((position - (int)position) * LANCZOS_PHASES + .5)];
}

/* False where pixels x .. x + RUN - 1 do not lie so. */
static bool find_run(const struct resampling *r, int x, int y, struct run_taps *run)
{
    int across_first = 0, down_first = 0;
    for (int n = 0; n < RUN; n++) {
        double u, v;
        if (!locate_inside(r, x + n, y, &u, &v))
            return false;
        if (n == 0) {
            across_first = (int)u;
            down_first = (int)v;
        }
        if ((int)u != across_first + n || (int)v != down_first)
            return false;
        const float *across = weights_at(r, u), *down = weights_at(r, v);
        for (int tap = 0; tap < LANCZOS_TAPS; tap++) {
            run->weight_across[tap][n] = across[tap];
            run->weight_down[tap][n] = down[tap];
        }
    }
    run->across = across_first - 2;
    run->down = down_first - 2;
    return true;
}

/* Every pixel's sums in the order of sample(). */
static void sample_run(struct plane plane, const struct run_taps *run, float *to)
{
    run_floats sum = {0};
    for (int j = 0; j < LANCZOS_TAPS; j++) {
        const float *row = plane_row(plane, run->down + j) + run->across;
        run_floats along = {0}, samples;
        for (int i = 0; i < LANCZOS_TAPS; i++) {
            memcpy(&samples, row + i, sizeof samples);
            along += run->weight_across[i] * samples;
        }
        sum += run->weight_down[j] * along;
    }
    memcpy(to, &sum, sizeof sum);
}

static void resample_run(const struct resampling *r, int x, int y)
{
    struct run_taps run;
    if (!find_run(r, x, y, &run)) {
        for (int n = 0; n < RUN; n++)
            resample_pixel(r, x + n, y);
        return;
    }
    for (int n = 0; r->mask.data && n < RUN; n++)
        plane_row(r->mask, y)[x + n] = 1;
    for (int c = 0; c < r->to->channels; c++)
        sample_run(image_plane(r->from, c), &run, plane_row(image_plane(r->to, c), y) + x);
}

static void resample_block(void *work, int task, int worker)
{
    const struct resampling *r = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, r->to->height); y++) {
        int x = 0;
        for (; x + RUN <= r->to->width; x += RUN)
            resample_run(r, x, y);
        for (; x < r->to->width; x++)
            resample_pixel(r, x, y);
    }
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
