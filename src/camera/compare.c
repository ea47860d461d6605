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

/* Eight pixels beside one another. */
typedef float eight __attribute__((vector_size(8 * sizeof(float)), aligned(sizeof(float)), may_alias));
typedef int32_t eight_whole __attribute__((vector_size(8 * sizeof(int32_t)), aligned(sizeof(int32_t)), may_alias));
#define EIGHT 8

/* One worker's buffers for a band. Rows that are worked on by eights have room for the last ones. */
struct band {
    float *turned;                 /* [field][row][3][width]: R (q~, 1) */
    float *depths;                 /* [BAND_MOST][width]: w */
    float *across, *down;          /* [width + EIGHT]: the projection of a row into a photo, then its fractions */
    int32_t *at;                   /* [width + EIGHT]: the sample above it to the left; -1 outside the photo */
    colours *parts;                /* [width + EIGHT]: |difference| of the gradients, right and down added */
    float *totals;                 /* [width + EIGHT]: their sums over the colours */
    float *errors, *sums, *smooth; /* [BAND_MOST][width]; sums has `reach` more at either end */
    float *best[BEST];             /* [BLOCK_ROWS][width]: the least, the second ... */
    float *strength, *normal;      /* [BAND_MOST][width] */
    uint8_t *asked;                /* [width]: whether a pixel of the column asks for the label */
};

/* Columns left .. right - 1 of a band. */
struct columns {
    int left, right;
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

/* A multiple of MEMORY_ALIGNMENT's: every worker's colours are aligned. */
static size_t band_floats(const struct sweep *s)
{
    size_t width = (size_t)s->width, line = MEMORY_ALIGNMENT / sizeof(float);
    size_t floats = (width + EIGHT) * (COLOURS + 4) + 2 * SHARE_REACH + (width + 3) / 4 +
                    width * (BAND_MOST * 3 * (size_t)s->count + 1 + 5 * BAND_MOST + BEST * BLOCK_ROWS);
    return (floats + line - 1) / line * line;
}

static void layout_band(const struct sweep *s, struct band *band, float *at)
{
    size_t width = (size_t)s->width, room = width + EIGHT;
    band->parts = (colours *)at;
    band->totals = at + COLOURS * room;
    band->across = band->totals + room;
    band->down = band->across + room;
    band->at = (int32_t *)(band->down + room);
    band->turned = band->down + 2 * room;
    band->depths = band->turned + width * BAND_MOST * 3 * (size_t)s->count;
    band->errors = band->depths + BAND_MOST * width;
    band->smooth = band->errors + BAND_MOST * width;
    band->sums = band->smooth + BAND_MOST * width + SHARE_REACH;
    band->best[0] = band->sums + width + SHARE_REACH;
    for (int k = 1; k < BEST; k++)
        band->best[k] = band->best[k - 1] + BLOCK_ROWS * width;
    band->strength = band->best[BEST - 1] + BLOCK_ROWS * width;
    band->normal = band->strength + BAND_MOST * width;
    band->asked = (uint8_t *)(band->normal + BAND_MOST * width);
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
static void place_row(const struct sweep *s, int field, struct columns part, const float *restrict turned,
                      const float *restrict w, float *restrict across, float *restrict down)
{
    const struct camera *camera = s->camera;
    const double *t = camera->pose[s->photo[field]].t;
    float ax = (float)t[0], ay = (float)t[1], az = (float)t[2], k1 = (float)camera->k1;
    float sx = (float)s->width / (float)camera->width, sy = (float)s->height / (float)camera->height;
    float fx = (float)camera->focal_px * sx, fy = (float)camera->focal_px * sy;
    float cx = ((float)camera->cx + .5f) * sx - .5f, cy = ((float)camera->cy + .5f) * sy - .5f;
    const float *tx = turned, *ty = turned + s->width, *tz = turned + 2 * s->width;
    for (int x = part.left; x < part.right; x++) {
        float z = tz[x] + w[x] * az, over = z > (float)MODEL_BEHIND ? 1 / z : 1e6f;
        float px = (tx[x] + w[x] * ax) * over, py = (ty[x] + w[x] * ay) * over, wide = 1 + k1 * (px * px + py * py);
        across[x] = cx + fx * px * wide;
        down[x] = cy + fy * py * wide;
    }
}

/* The same as samples and fractions, which are zero outside. */
static void split_row(const struct field *photo, struct columns part, const struct band *band)
{
    float right = (float)(photo->width - 1), bottom = (float)(photo->height - 1);
    for (int x = part.left; x < part.right; x += EIGHT) {
        eight *across = (eight *)(band->across + x), *down = (eight *)(band->down + x);
        eight_whole inside = (*across >= 0) & (*across < right) & (*down >= 0) & (*down < bottom);
        eight u = (eight)((eight_whole)*across & inside), v = (eight)((eight_whole)*down & inside);
        eight_whole i = __builtin_convertvector(u, eight_whole), j = __builtin_convertvector(v, eight_whole);
        *across = u - __builtin_convertvector(i, eight);
        *down = v - __builtin_convertvector(j, eight);
        *(eight_whole *)(band->at + x) = (j * photo->width + i) | ~inside;
    }
}

/* Gradients of one sample, right and down, in one vector. By reference: how such vectors are handed over depends on the
 * instruction set. */
typedef float gradients __attribute__((vector_size(FIELD_FLOATS * sizeof(float)), aligned(sizeof(float)), may_alias));

static const gradients *sample_at(const struct field *field, int x, int y)
{
    return (const gradients *)field_sample(field, x, y);
}

/* Right and down of |gradients|. */
static colours absolute(const gradients *of)
{
    typedef int32_t bits __attribute__((vector_size(FIELD_FLOATS * sizeof(float))));
    const bits mask = {0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff};
    bits absolute = (bits)*of & mask;
    colours halves[2];
    memcpy(halves, &absolute, sizeof halves);
    return halves[0] + halves[1];
}

/* parts = |differences| of the photo's gradients, bilinear, and the reference's in row y. */
static void compare_row(const struct sweep *s, int field, struct columns part, int y, const struct band *band)
{
    const gradients *photo = sample_at(&s->fields[field], 0, 0), *reference = sample_at(&s->fields[0], 0, y);
    const float *across = band->across, *down = band->down;
    const int32_t *at = band->at;
    colours *restrict parts = band->parts;
    for (int x = part.left; x < part.right; x++) {
        if (at[x] < 0)
            continue;
        const gradients *a = photo + at[x], *b = a + s->width;
        gradients here = a[0] + across[x] * (a[1] - a[0]), below = b[0] + across[x] * (b[1] - b[0]);
        gradients error = here + down[x] * (below - here) - reference[x];
        parts[x] = absolute(&error);
    }
}

/* Sums of pairs: a's, then b's. */
static colours add_pairs(colours a, colours b)
{
    return __builtin_shufflevector(a, b, 0, 2, 4, 6) + __builtin_shufflevector(a, b, 1, 3, 5, 7);
}

/* totals = colours_sum() of the parts, four at a time. */
static void total_row(const struct band *band, struct columns part)
{
    for (int x = part.left; x < part.right; x += COLOURS) {
        const colours *p = band->parts + x;
        colours four = add_pairs(add_pairs(p[0], p[1]), add_pairs(p[2], p[3]));
        memcpy(band->totals + x, &four, sizeof four);
    }
}

/* errors = SAD, of which no more than `most` counts. */
static void truncate_row(const struct band *band, struct columns part, float most, float *restrict errors)
{
    const float outside = (float)camera_thresholds.outside * most, *sums = band->totals;
    const int32_t *at = band->at;
    for (int x = part.left; x < part.right; x++) {
        float error = sums[x] < most ? sums[x] : most;
        errors[x] = at[x] < 0 ? outside : error;
    }
}

/* A share left unexplained is at most 1: errors are bounded by the reference's own gradients. */
static void bound_row(const struct band *band, struct columns part, const float *restrict strength,
                      float *restrict errors)
{
    const int32_t *at = band->at;
    const float *sums = band->totals;
    for (int x = part.left; x < part.right; x++) {
        float error = sums[x] > strength[x] ? strength[x] : sums[x];
        errors[x] = at[x] < 0 ? strength[x] : error;
    }
}

/* to[n] = sum_k kernel[k] (from[n - k step] + from[n + k step]), the middle once. */
static void weigh(const struct sweeping *w, const float *from, ptrdiff_t step, int count, float *restrict to)
{
    int n = 0;
    for (; n + EIGHT <= count; n += EIGHT) {
        eight sum = w->kernel[0] * *(const eight *)(from + n);
        for (int k = 1; k <= w->reach; k++)
            sum += w->kernel[k] * (*(const eight *)(from + n - k * step) + *(const eight *)(from + n + k * step));
        *(eight *)(to + n) = sum;
    }
    for (; n < count; n++) {
        float sum = w->kernel[0] * from[n];
        for (int k = 1; k <= w->reach; k++)
            sum += w->kernel[k] * (from[n - k * step] + from[n + k * step]);
        to[n] = sum;
    }
}

/* The columns and those within reach of them. */
static struct columns widen(const struct sweeping *w, struct columns part)
{
    int left = part.left - w->reach, right = part.right + w->reach;
    return (struct columns){left > 0 ? left : 0, right < w->sweep->width ? right : w->sweep->width};
}

/* to[j] = rows[j .. j + 2 reach] weighted, then along the row; borders repeated. */
static void smooth_rows(const struct sweeping *w, struct columns part, const float *rows, int count, float *sums,
                        float *to)
{
    int width = w->sweep->width;
    struct columns wide = widen(w, part);
    for (int j = 0; j < count; j++, to += width) {
        weigh(w, rows + (ptrdiff_t)(j + w->reach) * width + wide.left, width, wide.right - wide.left, sums + wide.left);
        for (int k = 1; k <= w->reach; k++) {
            if (wide.left == 0)
                sums[-k] = sums[0];
            if (wide.right == width)
                sums[width - 1 + k] = sums[width - 1];
        }
        weigh(w, sums + part.left, 1, part.right - part.left, to + part.left);
    }
}

static void clear_best(const struct sweep *s, const struct band *band, struct columns part, int rows)
{
    for (int k = 0; k < BEST; k++)
        for (int j = 0; j < rows; j++)
            for (int x = part.left; x < part.right; x++)
                band->best[k][(ptrdiff_t)j * s->width + x] = INFINITY;
}

/* Keeps the BEST least values of every pixel so far, the least first. */
static void keep_best(const struct sweep *s, const struct band *band, struct columns part, int rows)
{
    for (int j = 0; j < rows; j++) {
        ptrdiff_t row = (ptrdiff_t)j * s->width;
        const float *values = band->smooth + row;
        float *restrict first = band->best[0] + row, *restrict second = band->best[1] + row,
                        *restrict third = band->best[2] + row;
        for (int n = part.left; n < part.right; n++) {
            float value = values[n];
            float rest = value > first[n] ? value : first[n];
            first[n] = value < first[n] ? value : first[n];
            value = rest;
            rest = value > second[n] ? value : second[n];
            second[n] = value < second[n] ? value : second[n];
            third[n] = rest < third[n] ? rest : third[n];
        }
    }
}

/* Their mean, in place of the least. */
static void average_best(const struct sweep *s, const struct band *band, struct columns part, int rows)
{
    int best = BEST < s->count - 1 ? BEST : s->count - 1;
    for (int j = 0; j < rows; j++) {
        float *restrict sum = band->best[0] + (ptrdiff_t)j * s->width;
        for (int k = 1; k < best; k++) {
            const float *next = band->best[k] + (ptrdiff_t)j * s->width;
            for (int x = part.left; x < part.right; x++)
                sum[x] += next[x];
        }
        for (int x = part.left; x < part.right; x++)
            sum[x] /= (float)best;
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

/* The errors of one photo at the depths of a label. */
static void compare_photo(const struct sweeping *w, const struct band *band, int field, struct columns part, int begin,
                          int rows)
{
    const struct sweep *s = w->sweep;
    for (int j = 0; j < rows; j++) {
        ptrdiff_t row = (ptrdiff_t)j * s->width;
        place_row(s, field, part, band->turned + ((ptrdiff_t)field * BAND_MOST + j) * 3 * s->width, band->depths + row,
                  band->across, band->down);
        split_row(&s->fields[field], part, band);
        compare_row(s, field, part, clamp_row(begin - w->reach + j, s->height), band);
        total_row(band, part);
        if (w->shares)
            bound_row(band, part, band->strength + row, band->errors + row);
        else
            truncate_row(band, part, (float)s->options.truncate, band->errors + row);
    }
}

/* The cost of one label, the mean over the photos that fit best, into band->best[0]. */
static void compare_label(const struct sweeping *w, const struct band *band, struct columns part, int begin, int end)
{
    const struct sweep *s = w->sweep;
    int rows = end - begin;
    clear_best(s, band, part, rows);
    for (int field = 1; field < s->count; field++) {
        compare_photo(w, band, field, widen(w, part), begin, rows + 2 * w->reach);
        smooth_rows(w, part, band->errors, rows, band->sums, band->smooth);
        keep_best(s, band, part, rows);
    }
    average_best(s, band, part, rows);
}

static void strength_row(const struct field *field, int y, float *to)
{
    for (int x = 0; x < field->width; x++)
        to[x] = colours_sum(absolute(sample_at(field, x, y)));
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
    smooth_rows(w, (struct columns){0, s->width}, band->strength, end - begin, band->sums, band->normal);
}

static void store_costs(const struct sweeping *w, const struct band *band, int begin, int end, int label)
{
    const struct sweep *s = w->sweep;
    const float *costs = band->best[0], scale = SWEEP_WHOLE / (float)s->options.truncate;
    ptrdiff_t apart = s->padded, count = (ptrdiff_t)(end - begin) * s->width;
    uint8_t *to = w->volume + (size_t)begin * s->width * s->padded + label;
    for (ptrdiff_t n = 0; n < count; n++)
        to[n * apart] = (uint8_t)(costs[n] * scale + .5f);
}

static void store_shares(const struct sweeping *w, const struct band *band, struct columns part, int begin, int end,
                         int label)
{
    const struct unexplained *to = w->shares;
    for (int y = begin; y < end; y++)
        for (int x = part.left; x < part.right; x++) {
            ptrdiff_t n = (ptrdiff_t)y * w->sweep->width + x, here = n - (ptrdiff_t)begin * w->sweep->width;
            float share = band->best[0][here] / (band->normal[here] + (float)camera_thresholds.noise);
            float *least = &to->least.data[n];
            if ((float)label >= to->low.data[n] && (float)label <= to->high.data[n])
                *least = fminf(*least, share);
            if (label == (int)(to->at.data[n] + .5f))
                to->here.data[n] = share;
        }
}

/* The columns of which pixels of the band ask for a label. */
static void find_asked(const struct sweeping *w, int begin, int end, int label, uint8_t *restrict asked)
{
    const struct unexplained *of = w->shares;
    int width = w->sweep->width;
    memset(asked, 0, (size_t)width);
    for (int y = begin; y < end; y++) {
        const float *low = plane_row(of->low, y), *high = plane_row(of->high, y), *at = plane_row(of->at, y);
        for (int x = 0; x < width; x++)
            asked[x] = (uint8_t)(asked[x] | (((float)label >= low[x]) & ((float)label <= high[x])) |
                                 (label == (int)(at[x] + .5f)));
    }
}

/* The next columns from x on that are asked for, and those between them that would be compared anyway. */
static struct columns next_asked(const struct sweeping *w, const uint8_t *asked, int x)
{
    int width = w->sweep->width;
    while (x < width && !asked[x])
        x++;
    struct columns part = {x, x};
    for (; x < width && x <= part.right + 2 * w->reach; x++)
        part.right = asked[x] ? x + 1 : part.right;
    return part;
}

static void find_costs(const struct sweeping *w, const struct band *band, int begin, int end)
{
    const struct sweep *s = w->sweep;
    for (int label = 0; label < s->labels; label++) {
        set_depths(w, band, begin, end - begin + 2 * w->reach, label);
        compare_label(w, band, (struct columns){0, s->width}, begin, end);
        store_costs(w, band, begin, end, label);
    }
}

static void find_shares(const struct sweeping *w, const struct band *band, int begin, int end)
{
    const struct sweep *s = w->sweep;
    for (int label = 0; label < s->labels; label++) {
        struct columns part = {0, 0};
        set_depths(w, band, begin, end - begin + 2 * w->reach, label);
        find_asked(w, begin, end, label, band->asked);
        while ((part = next_asked(w, band->asked, part.right)).left < s->width) {
            compare_label(w, band, part, begin, end);
            store_shares(w, band, part, begin, end, label);
        }
    }
}

static void sweep_block(void *work, int task, int worker)
{
    const struct sweeping *w = work;
    const struct sweep *s = w->sweep;
    struct band *band = &w->bands[worker];
    int begin = rows_begin(task), end = rows_end(task, s->height);
    prepare_band(w, band, begin, end);
    for (int n = begin * s->width; w->shares && n < end * s->width; n++)
        w->shares->least.data[n] = w->shares->here.data[n] = 1;
    if (w->volume)
        memset(w->volume + (size_t)begin * s->width * s->padded, 255, (size_t)(end - begin) * s->width * s->padded);
    /* Only worker 0, the caller's thread, may ask; once it is stopping, its remaining blocks return at once. */
    if (worker == 0 && esra_context_stopping(w->context))
        return;
    if (w->shares)
        find_shares(w, band, begin, end);
    else
        find_costs(w, band, begin, end);
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
