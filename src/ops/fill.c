/* ops/fill.c - edge-aware smoothing by solves along rows and columns in turn (Min et al. 2014): each line solves
 *
 *     (1 + s sum_q w_pq) u_p - s sum_q w_pq u_q = f_p,    w_pq = exp(-|guide_p - guide_q|/edge), q the neighbours on
 * the line,
 *
 * with s falling to a quarter from one round to the next, so that streaks of one are smoothed by the other. */
#include "ops/fill.h"

#include <math.h>

#include "base/maths.h"
#include "base/rows.h"

#define ROUNDS 3
#define STRIPE 16

/* values * weights, and weights: both smoothed. */
enum { WEIGHTED, WEIGHT, ACROSS, DOWN, SCRATCH, PLANES };

struct filling {
    struct image planes; /* ACROSS, DOWN: w to the next pixel of the row, of the column; SCRATCH: of the solves */
    const struct image *guide;
    float smoothness, edge;
};

static float nearness(const struct filling *f, size_t a, size_t b)
{
    size_t pixels = image_pixels(f->guide);
    float sum = 0;
    for (int c = 0; c < f->guide->channels; c++) {
        float apart = f->guide->data[(size_t)c * pixels + a] - f->guide->data[(size_t)c * pixels + b];
        sum += apart * apart;
    }
    return esra_expf(-sqrtf(sum) / f->edge);
}

static void weigh_block(void *work, int task, int worker)
{
    const struct filling *f = work;
    int width = f->planes.width, height = f->planes.height;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, height); y++)
        for (int x = 0; x < width; x++) {
            size_t n = (size_t)y * (size_t)width + (size_t)x;
            image_plane(&f->planes, ACROSS).data[n] = x + 1 < width ? nearness(f, n, n + 1) : 0;
            image_plane(&f->planes, DOWN).data[n] = y + 1 < height ? nearness(f, n, n + (size_t)width) : 0;
        }
}

/* Gauss on `lines` lines side by side, `length` pixels long, a pixel to the next of a line `stride` apart: eliminates
 * forward, keeping the factors in `scratch`, and substitutes back. weight: to the next pixel of the line. */
static void solve_lines(const struct filling *f, size_t start, int length, size_t stride, int lines,
                        const float *weight)
{
    float *a = image_plane(&f->planes, WEIGHTED).data, *b = image_plane(&f->planes, WEIGHT).data;
    float *scratch = image_plane(&f->planes, SCRATCH).data, s = f->smoothness;
    for (int k = 0; k < length; k++)
        for (int line = 0; line < lines; line++) {
            size_t n = start + (size_t)k * stride + (size_t)line, before = k ? n - stride : n;
            float back = k ? s * weight[before] : 0, ahead = k + 1 < length ? s * weight[n] : 0;
            float pivot = 1 / (1 + back + ahead - back * (k ? scratch[before] : 0));
            scratch[n] = ahead * pivot;
            a[n] = (a[n] + back * (k ? a[before] : 0)) * pivot;
            b[n] = (b[n] + back * (k ? b[before] : 0)) * pivot;
        }
    for (int k = length - 2; k >= 0; k--)
        for (int line = 0; line < lines; line++) {
            size_t n = start + (size_t)k * stride + (size_t)line;
            a[n] += scratch[n] * a[n + stride];
            b[n] += scratch[n] * b[n + stride];
        }
}

static void solve_rows(void *work, int task, int worker)
{
    const struct filling *f = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, f->planes.height); y++)
        solve_lines(f, (size_t)y * (size_t)f->planes.width, f->planes.width, 1, 1,
                    image_plane(&f->planes, ACROSS).data);
}

static void solve_columns(void *work, int task, int worker)
{
    const struct filling *f = work;
    int width = f->planes.width, left = task * STRIPE;
    (void)worker;
    solve_lines(f, (size_t)left, f->planes.height, (size_t)width, width - left < STRIPE ? width - left : STRIPE,
                image_plane(&f->planes, DOWN).data);
}

esra_status esra_fill(struct context *context, const struct image *guide, struct plane values, struct plane weights,
                      double smoothness, double edge)
{
    struct filling f = {.guide = guide, .smoothness = (float)smoothness, .edge = (float)edge};
    size_t pixels = image_pixels(guide);
    esra_status status = esra_image_create(&f.planes, guide->width, guide->height, PLANES, context->message);
    if (status != ESRA_OK)
        return status;
    float *a = image_plane(&f.planes, WEIGHTED).data, *b = image_plane(&f.planes, WEIGHT).data;
    for (size_t n = 0; n < pixels; n++) {
        b[n] = weights.data[n];
        a[n] = values.data[n] * b[n];
    }
    esra_context_run(context, weigh_block, &f, rows_blocks(guide->height), NULL);
    for (int round = 0; round < ROUNDS; round++, f.smoothness /= 4) {
        esra_context_run(context, solve_rows, &f, rows_blocks(guide->height), NULL);
        esra_context_run(context, solve_columns, &f, (guide->width + STRIPE - 1) / STRIPE, NULL);
    }
    for (size_t n = 0; n < pixels; n++)
        values.data[n] = a[n] / (b[n] + 1e-6f);
    esra_image_free(&f.planes);
    return ESRA_OK;
}
