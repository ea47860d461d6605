/* ops/blur.c - Gaussian smoothing and halving (Burt & Adelson 1983) of planes. Both are separable: a stretch of the
 * sums over rows is kept on the stack, then summed along the row, so nothing is allocated. */
#include "ops/blur.h"

#include <math.h>

#include "base/maths.h"
#include "base/rows.h"
#include "base/wide.h"

#define STRETCH 256

struct blurring {
    struct plane from, to;
    int reach, floats;
    float kernel[BLUR_REACH + 1]; /* kernel[k] weighs the samples k to the left and to the right */
};

static int inside(int index, int size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : index;
}

static void sum_rows(const struct blurring *b, int y, int begin, int count, float *restrict sums)
{
    const float *middle = plane_row(b->from, y) + begin;
    for (int x = 0; x < count; x++)
        sums[x] = b->kernel[0] * middle[x];
    for (int k = 1; k <= b->reach; k++) {
        const float *above = plane_row(b->from, inside(y - k, b->from.height)) + begin;
        const float *below = plane_row(b->from, inside(y + k, b->from.height)) + begin;
        for (int x = 0; x < count; x++)
            sums[x] += b->kernel[k] * (above[x] + below[x]);
    }
}

static void repeat_border(float *sums, int first, int last)
{
    for (int k = 1; k <= BLUR_REACH; k++) {
        sums[first - k] = sums[first];
        sums[last + k] = sums[last];
    }
}

static void blur_stretch(const struct blurring *b, int y, int begin, int count)
{
    float buffer[STRETCH + 4 * BLUR_REACH], *sums = buffer + 2 * BLUR_REACH;
    int left = inside(begin - b->reach, b->from.width), right = inside(begin + count - 1 + b->reach, b->from.width);
    sum_rows(b, y, left, right - left + 1, sums + (left - begin));
    repeat_border(sums, left - begin, right - begin);
    float *restrict to = plane_row(b->to, y) + begin;
    for (int x = 0; x < count; x++)
        to[x] = b->kernel[0] * sums[x];
    for (int k = 1; k <= b->reach; k++)
        for (int x = 0; x < count; x++)
            to[x] += b->kernel[k] * (sums[x - k] + sums[x + k]);
}

static void blur_block(void *work, int task, int worker)
{
    const struct blurring *b = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, b->to.height); y++)
        for (int x = 0; x < b->to.width; x += STRETCH)
            blur_stretch(b, y, x, b->to.width - x < STRETCH ? b->to.width - x : STRETCH);
}
WIDE_TASK(blur_block)

void esra_blur(struct context *context, struct plane from, struct plane to, double sigma_px)
{
    double sigma = fmin(sigma_px, BLUR_SIGMA_MOST), sum = 0;
    struct blurring b = {.from = from, .to = to, .reach = (int)ceil(3 * sigma), .kernel = {1}};
    for (int k = -b.reach; k <= b.reach; k++)
        sum += sigma > 0 ? esra_exp(-.5 * k * k / (sigma * sigma)) : 1;
    for (int k = 0; k <= b.reach && sigma > 0; k++)
        b.kernel[k] = (float)(esra_exp(-.5 * k * k / (sigma * sigma)) / sum);
    esra_context_run(context, WIDE(context, blur_block), &b, rows_blocks(to.height), NULL);
}

/* The weights of the five samples around 2x that halving sums. */
static const float binomial[5] = {1 / 16.f, 4 / 16.f, 6 / 16.f, 4 / 16.f, 1 / 16.f};

/* Adds one of the five rows to the sums of pixel x, whose samples may lie past the border. */
static void halve_border(const struct blurring *b, const float *from, float factor, int x, float *to)
{
    for (int i = 0; i < 5; i++) {
        const float *sample = from + inside(2 * x + i - 2, b->from.width) * b->floats;
        float weight = binomial[i] * factor;
        for (int part = 0; part < b->floats; part++)
            to[x * b->floats + part] += weight * sample[part];
    }
}

/* The same for pixels [begin, end), whose samples lie inside. */
static inline void halve_middle(const float *from, float factor, int begin, int end, int floats, float *restrict to)
{
    for (int x = begin; x < end; x++)
        for (int part = 0; part < floats; part++) {
            const float *sample = from + (2 * x - 2) * floats + part;
            float sum = to[x * floats + part];
            for (int i = 0; i < 5; i++)
                sum += binomial[i] * factor * sample[i * floats];
            to[x * floats + part] = sum;
        }
}

static void halve_row(const struct blurring *b, int y)
{
    float *restrict to = plane_row(b->to, y);
    int end = b->from.width > 3 ? (b->from.width - 1) / 2 : 1; /* 2x + 2 lies inside before it */
    for (int n = 0; n < b->to.width * b->floats; n++)
        to[n] = 0;
    for (int j = 0; j < 5; j++) {
        const float *from = plane_row(b->from, inside(2 * y + j - 2, b->from.height));
        halve_border(b, from, binomial[j], 0, to);
        if (b->floats == 1) /* a constant, with which the compiler makes vectors */
            halve_middle(from, binomial[j], 1, end, 1, to);
        else
            halve_middle(from, binomial[j], 1, end, b->floats, to);
        for (int x = end; x < b->to.width; x++)
            halve_border(b, from, binomial[j], x, to);
    }
}

static void halve_block(void *work, int task, int worker)
{
    const struct blurring *b = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, b->to.height); y++)
        halve_row(b, y);
}
WIDE_TASK(halve_block)

void esra_halve(struct context *context, struct plane from, struct plane to, int floats)
{
    struct blurring b = {.from = from, .to = to, .floats = floats};
    esra_context_run(context, WIDE(context, halve_block), &b, rows_blocks(to.height), NULL);
}
