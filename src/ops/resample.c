/* ops/resample.c - Lanczos-3 resampling: to(x) = sum_k sum_j w(u - j) w(v - k) from(j, k), (u, v) = t x,
 * w(s) = sinc(s) sinc(s/3) for |s| < 3, the six weights of an axis scaled to sum to one so that constants stay. */
#include "ops/resample.h"

#include <math.h>

#include "base/maths.h"
#include "base/rows.h"
#include "base/wide.h"

#define TAPS LANCZOS_TAPS
/* Positions are rounded to 1/2048 px: at the steepest edge, one full step a pixel, an error of 1/4096, the step of
 * 12-bit samples. */
#define PHASES LANCZOS_PHASES

struct resampling {
    const struct image *from, *to;
    const struct transform *transform; /* one of these two */
    const struct image *map;
    struct plane mask;
    float (*weights)[TAPS]; /* [PHASES + 1] */
};

static double lanczos(double s)
{
    const double pi = 3.14159265358979323846;
    if (fabs(s) < 1e-9)
        return 1;
    if (fabs(s) >= 3)
        return 0;
    return 3 * esra_sin(pi * s) * esra_sin(pi * s / 3) / (pi * pi * s * s);
}

/* weights[p] are those of the samples at floor(u) - 2 .. floor(u) + 3 for u - floor(u) = p/PHASES. */
static void fill_weights(float (*weights)[TAPS])
{
    for (int phase = 0; phase <= PHASES; phase++) {
        double fraction = (double)phase / PHASES, value[TAPS], sum = 0;
        for (int tap = 0; tap < TAPS; tap++)
            sum += value[tap] = lanczos(fraction + 2 - tap);
        for (int tap = 0; tap < TAPS; tap++)
            weights[phase][tap] = (float)(value[tap] / sum);
    }
}

/* Where one axis is sampled: six indices kept inside 0..size-1, and their weights. */
struct taps {
    int index[TAPS];
    const float *weight;
    bool inside; /* the whole support lies inside */
};

static struct taps place(float (*weights)[TAPS], double position, int size)
{
    struct taps taps;
    position = fmin(fmax(position, 0), size - 1);
    int first = (int)position;
    taps.weight = weights[(int)((position - first) * PHASES + .5)];
    taps.inside = first >= 2 && first + 3 < size;
    for (int tap = 0; tap < TAPS; tap++) {
        int index = first - 2 + tap;
        taps.index[tap] = index < 0 ? 0 : index >= size ? size - 1 : index;
    }
    return taps;
}

static float sample(struct plane plane, const struct taps *across, const struct taps *down)
{
    float sum = 0;
    for (int j = 0; j < TAPS; j++) {
        const float *row = plane_row(plane, down->index[j]);
        float line = 0;
        if (across->inside)
            for (int i = 0; i < TAPS; i++)
                line += across->weight[i] * row[across->index[0] + i];
        else
            for (int i = 0; i < TAPS; i++)
                line += across->weight[i] * row[across->index[i]];
        sum += down->weight[j] * line;
    }
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
    struct taps across = place(r->weights, seen ? u : 0, from->width),
                down = place(r->weights, seen ? v : 0, from->height);
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
    struct lanczos *lanczos = context->lanczos;
    esra_lock_take(&lanczos->lock);
    if (!lanczos->filled)
        fill_weights(lanczos->weights);
    lanczos->filled = true;
    esra_lock_leave(&lanczos->lock);
    r->weights = lanczos->weights;
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
