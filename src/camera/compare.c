/* camera/compare.c - the matching cost of a plane sweep (Collins 1996): every photo compared with the reference at
 * every depth of a list, the labels.
 *
 * The cost is the sum of absolute differences (SAD) of gradients, not of values: a reflection that varies slowly leaves
 * gradients as they are, and where layers overlap a pixel's gradient mostly belongs to one of them. It is truncated:
 * what belongs to the other layer fits at no depth, and must not outweigh its neighbours. Work goes by bands of rows:
 * all labels of a band before the next. */
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "camera/model.h"
#include "camera/sweep.h"
#include "camera/thresholds.h"
#include "ops/thresholds.h"

#define SHARE_REACH 6 /* of the Gaussian window for shares: three times the largest sigma */
/* The photos that fit best make the cost: in the others the point may be occluded, or under a reflection. */
#define BEST      3
#define BAND_MOST (BLOCK_ROWS + 2 * SHARE_REACH)

/* One worker's buffers for a band. */
struct band {
    float *turned;                 /* [field][row][3][width]: R (q~, 1) */
    float *depths;                 /* [BAND_MOST][width]: w */
    float *across, *down;          /* [width]: the projection of a row into a photo */
    float *errors, *sums, *smooth; /* [BAND_MOST][width]; sums has `reach` more at either end */
    float *best[BEST];             /* [BLOCK_ROWS][width]: the least, the second ... */
    float *strength, *normal;      /* [BAND_MOST][width] */
};

struct sweeping {
    const struct sweep *sweep;
    struct context *context;
    struct band *bands; /* [threads] */
    float kernel[SHARE_REACH + 1];
    int reach;
    uint8_t *volume;                  /* costs are wanted ... */
    const struct unexplained *shares; /* ... or these; else NULL */
};

static size_t band_floats(const struct sweep *s)
{
    size_t width = (size_t)s->width;
    return width * BAND_MOST * 3 * (size_t)s->count + 2 * width + (3 * BAND_MOST + 1) * width + 2 * SHARE_REACH +
           BEST * BLOCK_ROWS * width + 2 * BAND_MOST * width;
}

static void layout_band(const struct sweep *s, struct band *band, float *at)
{
    size_t width = (size_t)s->width;
    band->turned = at;
    band->across = band->turned + width * BAND_MOST * 3 * (size_t)s->count;
    band->down = band->across + width;
    band->depths = band->down + width;
    band->errors = band->depths + BAND_MOST * width;
    band->smooth = band->errors + BAND_MOST * width;
    band->sums = band->smooth + BAND_MOST * width + SHARE_REACH;
    band->best[0] = band->sums + width + SHARE_REACH;
    for (int k = 1; k < BEST; k++)
        band->best[k] = band->best[k - 1] + BLOCK_ROWS * width;
    band->strength = band->best[BEST - 1] + BLOCK_ROWS * width;
    band->normal = band->strength + BAND_MOST * width;
}

static int clamp_row(int y, int height)
{
    return y < 0 ? 0 : y >= height ? height - 1 : y;
}

/* R (q~, 1) of one row, for one photo. */
static void turn_row(const struct sweep *s, int field, int y, float *turned)
{
    const struct camera *camera = s->camera;
    double across = (double)camera->width / s->width, down = (double)camera->height / s->height, qx, qy, v[3];
    for (int x = 0; x < s->width; x++) {
        model_look(camera, (x + .5) * across - .5, (y + .5) * down - .5, &qx, &qy);
        model_turn(&camera->pose[s->photo[field]], qx, qy, v);
        for (int k = 0; k < 3; k++)
            turned[k * s->width + x] = (float)v[k];
    }
}

/* The projection of a row at inverse depths w, in px of the reduced photo. Points behind the camera come out far
 * outside. */
static void place_row(const struct sweep *s, int field, const float *restrict turned, const float *restrict w,
                      float *restrict across, float *restrict down)
{
    const struct camera *camera = s->camera;
    const double *t = camera->pose[s->photo[field]].t;
    float ax = (float)t[0], ay = (float)t[1], az = (float)t[2], k1 = (float)camera->k1;
    float sx = (float)s->width / (float)camera->width, sy = (float)s->height / (float)camera->height;
    float fx = (float)camera->focal_px * sx, fy = (float)camera->focal_px * sy;
    float cx = ((float)camera->cx + .5f) * sx - .5f, cy = ((float)camera->cy + .5f) * sy - .5f;
    const float *tx = turned, *ty = turned + s->width, *tz = turned + 2 * s->width;
    for (int x = 0; x < s->width; x++) {
        float z = tz[x] + w[x] * az, over = z > (float)MODEL_BEHIND ? 1 / z : 1e6f;
        float px = (tx[x] + w[x] * ax) * over, py = (ty[x] + w[x] * ay) * over, wide = 1 + k1 * (px * px + py * py);
        across[x] = cx + fx * px * wide;
        down[x] = cy + fy * py * wide;
    }
}

/* Gradients of one sample, right and down, in one vector. By reference: how such vectors are handed over depends on the
 * instruction set. */
typedef float gradients __attribute__((vector_size(FIELD_FLOATS * sizeof(float)), aligned(sizeof(float)), may_alias));

static const gradients *sample_at(const struct field *field, int x, int y)
{
    return (const gradients *)field_sample(field, x, y);
}

/* Right and down are added first, then the colours. */
static float absolute_sum(const gradients *of)
{
    typedef int32_t bits __attribute__((vector_size(FIELD_FLOATS * sizeof(float))));
    const bits mask = {0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff};
    bits absolute = (bits)*of & mask;
    colours halves[2];
    memcpy(halves, &absolute, sizeof halves);
    return colours_sum(halves[0] + halves[1]);
}

/* errors = SAD of the photo's gradients at (across, down), bilinear, and the reference's in row y; -1 outside the
 * photo. */
static void compare_row(const struct field *photo, const struct field *reference, int y, const float *across,
                        const float *down, float *restrict errors)
{
    int width = photo->width, height = photo->height;
    for (int x = 0; x < width; x++) {
        float u = across[x], v = down[x];
        errors[x] = -1;
        if (!(u >= 0 && v >= 0 && u < (float)(width - 1) && v < (float)(height - 1)))
            continue;
        int i = (int)u, j = (int)v;
        float fx = u - (float)i, fy = v - (float)j;
        const gradients *a = sample_at(photo, i, j), *b = sample_at(photo, i, j + 1);
        gradients here = a[0] + fx * (a[1] - a[0]), below = b[0] + fx * (b[1] - b[0]);
        gradients error = here + fy * (below - here) - *sample_at(reference, x, y);
        errors[x] = absolute_sum(&error);
    }
}

static void truncate_row(float *restrict errors, int width, float most)
{
    const float outside = (float)camera_thresholds.outside;
    for (int x = 0; x < width; x++)
        errors[x] = errors[x] < 0 ? outside * most : errors[x] < most ? errors[x] : most;
}

/* A share left unexplained is at most 1: errors are bounded by the reference's own gradients. */
static void bound_row(float *restrict errors, const float *restrict strength, int width)
{
    for (int x = 0; x < width; x++)
        errors[x] = errors[x] < 0 || errors[x] > strength[x] ? strength[x] : errors[x];
}

/* to[j] = rows[j .. j + 2 reach] weighted, then along the row; borders repeated. */
static void smooth_rows(const struct sweeping *w, const float *rows, int count, float *restrict sums, float *to)
{
    int width = w->sweep->width, reach = w->reach;
    for (int j = 0; j < count; j++, to += width) {
        const float *middle = rows + (ptrdiff_t)(j + reach) * width;
        for (int x = 0; x < width; x++)
            sums[x] = w->kernel[0] * middle[x];
        for (int k = 1; k <= reach; k++) {
            const float *above = middle - (ptrdiff_t)k * width, *below = middle + (ptrdiff_t)k * width;
            for (int x = 0; x < width; x++)
                sums[x] += w->kernel[k] * (above[x] + below[x]);
        }
        for (int k = 1; k <= reach; k++) {
            sums[-k] = sums[0];
            sums[width - 1 + k] = sums[width - 1];
        }
        float *restrict out = to;
        for (int x = 0; x < width; x++)
            out[x] = w->kernel[0] * sums[x];
        for (int k = 1; k <= reach; k++)
            for (int x = 0; x < width; x++)
                out[x] += w->kernel[k] * (sums[x - k] + sums[x + k]);
    }
}

/* Keeps the BEST least values of every pixel so far, the least first. */
static void keep_best(const struct band *band, const float *values, int count)
{
    float *restrict first = band->best[0], *restrict second = band->best[1], *restrict third = band->best[2];
    for (int n = 0; n < count; n++) {
        float value = values[n];
        float rest = value > first[n] ? value : first[n];
        first[n] = value < first[n] ? value : first[n];
        value = rest;
        rest = value > second[n] ? value : second[n];
        second[n] = value < second[n] ? value : second[n];
        third[n] = rest < third[n] ? rest : third[n];
    }
}

/* w of a label, row by row. */
static void set_depths(const struct sweeping *w, const struct band *band, int begin, int rows, int label)
{
    const struct sweep *s = w->sweep;
    float lowest = (float)(s->lowest + label * s->step), step = (float)s->step;
    for (int j = 0; j < rows; j++) {
        const float *base = s->base.data ? plane_row(s->base, clamp_row(begin - w->reach + j, s->height)) : NULL;
        for (int x = 0; x < s->width; x++)
            band->depths[(ptrdiff_t)j * s->width + x] = lowest + (base ? step * base[x] : 0);
    }
}

/* The cost of one label, the mean over the photos that fit best, into band->best[0]. */
static void compare_label(const struct sweeping *w, struct band *band, int begin, int end, int label)
{
    const struct sweep *s = w->sweep;
    int rows = end - begin + 2 * w->reach, count = (end - begin) * s->width;
    float most = (float)s->options.truncate;
    int best = BEST < s->count - 1 ? BEST : s->count - 1;
    for (int k = 0; k < BEST; k++)
        for (int n = 0; n < count; n++)
            band->best[k][n] = INFINITY;
    set_depths(w, band, begin, rows, label);
    for (int field = 1; field < s->count; field++) {
        for (int j = 0; j < rows; j++) {
            float *errors = band->errors + (ptrdiff_t)j * s->width;
            place_row(s, field, band->turned + ((ptrdiff_t)field * BAND_MOST + j) * 3 * s->width,
                      band->depths + (ptrdiff_t)j * s->width, band->across, band->down);
            compare_row(&s->fields[field], &s->fields[0], clamp_row(begin - w->reach + j, s->height), band->across,
                        band->down, errors);
            if (w->shares)
                bound_row(errors, band->strength + (ptrdiff_t)j * s->width, s->width);
            else
                truncate_row(errors, s->width, most);
        }
        smooth_rows(w, band->errors, end - begin, band->sums, band->smooth);
        keep_best(band, band->smooth, count);
    }
    for (int n = 0; n < count; n++) {
        float sum = band->best[0][n];
        for (int k = 1; k < best; k++)
            sum += band->best[k][n];
        band->best[0][n] = sum / (float)best;
    }
}

static void strength_row(const struct field *field, int y, float *to)
{
    for (int x = 0; x < field->width; x++)
        to[x] = absolute_sum(sample_at(field, x, y));
}

static void prepare_band(const struct sweeping *w, struct band *band, int begin, int end)
{
    const struct sweep *s = w->sweep;
    for (int j = 0; j < end - begin + 2 * w->reach; j++) {
        int y = clamp_row(begin - w->reach + j, s->height);
        for (int field = 1; field < s->count; field++)
            turn_row(s, field, y, band->turned + ((ptrdiff_t)field * BAND_MOST + j) * 3 * s->width);
        strength_row(&s->fields[0], y, band->strength + (ptrdiff_t)j * s->width);
    }
    smooth_rows(w, band->strength, end - begin, band->sums, band->normal);
}

static void store_costs(const struct sweeping *w, const struct band *band, int begin, int end, int label)
{
    const struct sweep *s = w->sweep;
    uint8_t *to = w->volume + (size_t)begin * s->width * s->padded + label;
    float scale = SWEEP_WHOLE / (float)s->options.truncate;
    for (int n = 0; n < (end - begin) * s->width; n++, to += s->padded)
        *to = (uint8_t)(band->best[0][n] * scale + .5f);
}

static void store_shares(const struct sweeping *w, const struct band *band, int begin, int end, int label)
{
    const struct unexplained *to = w->shares;
    ptrdiff_t first = (ptrdiff_t)begin * w->sweep->width;
    for (int n = 0; n < (end - begin) * w->sweep->width; n++) {
        float share = band->best[0][n] / (band->normal[n] + (float)camera_thresholds.noise);
        float *least = &to->least.data[first + n];
        if ((float)label >= to->low.data[first + n] && (float)label <= to->high.data[first + n])
            *least = fminf(*least, share);
        if (label == (int)(to->at.data[first + n] + .5f))
            to->here.data[first + n] = share;
    }
}

/* Labels that a pixel of the band asks for. */
static bool is_wanted(const struct sweeping *w, int begin, int end, int label)
{
    const struct unexplained *of = w->shares;
    ptrdiff_t first = (ptrdiff_t)begin * w->sweep->width;
    for (int n = 0; n < (end - begin) * w->sweep->width; n++)
        if (((float)label >= of->low.data[first + n] && (float)label <= of->high.data[first + n]) ||
            label == (int)(of->at.data[first + n] + .5f))
            return true;
    return false;
}

static void sweep_block(void *work, int task, int worker)
{
    const struct sweeping *w = work;
    const struct sweep *s = w->sweep;
    struct band *band = &w->bands[worker];
    int begin = rows_begin(task), end = rows_end(task, s->height);
    prepare_band(w, band, begin, end);
    if (w->shares)
        for (int n = begin * s->width; n < end * s->width; n++)
            w->shares->least.data[n] = w->shares->here.data[n] = 1;
    else
        memset(w->volume + (size_t)begin * s->width * s->padded, 255, (size_t)(end - begin) * s->width * s->padded);
    /* Only worker 0, the caller's thread, may ask; once it is stopping, its remaining blocks return at once. */
    if (worker == 0 && esra_context_stopping(w->context))
        return;
    for (int label = 0; label < s->labels; label++) {
        if (w->shares && !is_wanted(w, begin, end, label))
            continue;
        compare_label(w, band, begin, end, label);
        if (w->shares)
            store_shares(w, band, begin, end, label);
        else
            store_costs(w, band, begin, end, label);
    }
}
WIDE_TASK(sweep_block)

static esra_status run(struct sweeping *w, struct context *context)
{
    size_t threads = (size_t)esra_context_threads(context), floats = band_floats(w->sweep);
    float *memory = NULL;
    esra_status status = ESRA_OK;
    w->bands = esra_allocate(threads, sizeof *w->bands);
    if (esra_size_multiply(threads, floats, &floats))
        memory = esra_allocate(floats, sizeof *memory);
    if (w->bands && memory) {
        for (size_t n = 0; n < threads; n++)
            layout_band(w->sweep, &w->bands[n], memory + n * (floats / threads));
        w->context = context;
        esra_context_run(context, WIDE(context, sweep_block), w, rows_blocks(w->sweep->height), NULL);
    } else {
        status = esra_fail_memory(context->message);
    }
    esra_release(&w->bands);
    esra_release(&memory);
    return status;
}

esra_status esra_sweep_costs(const struct sweep *sweep, struct context *context, uint8_t *volume)
{
    struct sweeping w = {.sweep = sweep, .reach = sweep->options.window, .volume = volume};
    for (int k = 0; k <= w.reach; k++)
        w.kernel[k] = 1 / (float)(2 * w.reach + 1);
    return run(&w, context);
}

esra_status esra_sweep_unexplained(const struct sweep *sweep, struct context *context, const struct unexplained *planes)
{
    struct sweeping w = {.sweep = sweep, .reach = SHARE_REACH, .shares = planes};
    const double sigma = ops_thresholds.explain_window_px;
    double sum = 0;
    for (int k = -SHARE_REACH; k <= SHARE_REACH; k++)
        sum += esra_exp(-.5 * k * k / (sigma * sigma));
    for (int k = 0; k <= SHARE_REACH; k++)
        w.kernel[k] = (float)(esra_exp(-.5 * k * k / (sigma * sigma)) / sum);
    return run(&w, context);
}

void esra_sweep_strength(const struct sweep *sweep, struct plane to)
{
    for (int y = 0; y < sweep->height; y++)
        strength_row(&sweep->fields[0], y, plane_row(to, y));
}
