/* solve/certificate.c - the objective and its lower bound.
 *
 * With u any field |u| <= 1 and c_l = lambda D'u_l, |t| = max over |u|<=1 of ut gives, for every L in the box,
 *
 *     F(L) >= sum_x phi_x(L(x)) - lambda sum_l <u_l, E_l>,
 *     phi_x(L) = 1/2 sum_i w_i (I_i - a_i L_0 - L_i)^2 + sum_l c_l L_l,
 *
 * and the right side falls apart into pixels. At a pixel each L_i has its best value for given t = L_0,
 *
 *     y_i(t) = clip(I_i - a_i t - c_i / w_i, 0, 1)       (w_i = 0: 1 where c_i < 0, else 0),
 *
 * which leaves a convex, piecewise quadratic phi(t) on [0,1]: safeguarded Newton on its slope. The bound does not rest
 * on that having converged: with slopes of opposite sign at the ends of the bracket [lo,hi], convexity puts the minimum
 * above phi(t) + phi'(t)(s - t) for the end s that lies downhill.
 *
 * What is summed is not D but F - D, from terms that are nowhere negative and belong to one pixel each,
 *
 *     F - D = sum_x (phi_x(L(x)) - min phi_x) + lambda sum (|D L - E| - u (D L - E)),
 *
 * so that a small gap is not the difference of two large sums, and a sample of rows tells what the whole is like.
 * Without a field D is 0, which no F is below.
 *
 * All goes by chunks of a row: each line of code is a loop over columns that compilers turn into vectors. */
#include "solve/certificate.h"

#include <math.h>
#include <stdbool.h>

#include "base/rows.h"
#include "base/wide.h"

#define INLINE static inline __attribute__((always_inline))

/* Before a loop whose turns do not touch one another's data: compilers cannot see that rows of a chunk are apart. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Columns of a chunk: its rows of doubles fit in the L1 cache. */
#define CHUNK 64

/* Newton's method takes at most as many steps as the slope has pieces; the rest is for bisection, enough to shrink the
 * bracket to one double. */
#define MAX_STEPS 100

/* A pixel's loss this small is lost in the rounding of the sums: relative to the pixel's share of F, and, where that
 * share is zero, to a tenth of the square of a float32 rounding, 2^-25. */
#define RELATIVE_LOSS 1e-15
#define ABSOLUTE_LOSS 1e-16

/* Stands for c_i / w_i where w_i = 0: it carries y_i to its bound. */
#define BOUNDLESS 1e300

/* A chunk in doubles; rows of CHUNK columns, one for each layer or photo where the comment says so. */
struct chunk {
    const struct problem *problem;
    const struct held *held;
    int channel, columns;
    bool weighted, bounding;         /* photos have weights; there is a dual field */
    double *layer, *tilt;            /* L_l, c_l [layers] */
    double *mixture, *weight, *pull; /* I_i, w_i, c_i / w_i [photos] */
    double *t, *lo, *hi;             /* Newton's iterate and bracket */
    double *value, *first, *second;  /* phi, phi', phi'' at t; before that, E of a layer downwards and across */
    double *bound;                   /* of min phi */
    double *near_, *bend;            /* way from t to where phi' first bends, and phi'' past that */
    double *objective, *gap, *slack; /* sums, by column modulo CHUNK */
};

static size_t chunk_rows(const struct problem *problem)
{
    return 2 * (size_t)problem->layers + 3 * (size_t)problem->photos + 12;
}

size_t esra_certificate_scratch(const struct problem *problem)
{
    return chunk_rows(problem) * CHUNK;
}

static double *take_rows(double **scratch, int count)
{
    double *rows = *scratch;
    *scratch += (ptrdiff_t)count * CHUNK;
    return rows;
}

static struct chunk make_chunk(const struct problem *problem, const struct held *held, int channel, double *scratch)
{
    struct chunk chunk = {.problem = problem, .held = held, .channel = channel};
    chunk.layer = take_rows(&scratch, problem->layers);
    chunk.tilt = take_rows(&scratch, problem->layers);
    chunk.mixture = take_rows(&scratch, problem->photos);
    chunk.weight = take_rows(&scratch, problem->photos);
    chunk.pull = take_rows(&scratch, problem->photos);
    double **const single[] = {&chunk.t,     &chunk.lo,    &chunk.hi,   &chunk.value,     &chunk.first, &chunk.second,
                               &chunk.bound, &chunk.near_, &chunk.bend, &chunk.objective, &chunk.gap,   &chunk.slack};
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        *single[n] = take_rows(&scratch, 1);
    for (int c = 0; c < CHUNK; c++)
        chunk.objective[c] = chunk.gap[c] = chunk.slack[c] = 0;
    return chunk;
}

/* Samples from column x on; contiguous ones in a loop of their own, which is the common case. */
INLINE void load(double *restrict to, const esra_image *image, int channel, int x, int y, int columns)
{
    const float *from = image_sample(image, x, y, channel);
    ptrdiff_t stride = image->column_stride;
    if (stride == 1)
        INDEPENDENT
    for (int c = 0; c < columns; c++)
        to[c] = from[c];
    else INDEPENDENT for (int c = 0; c < columns; c++) to[c] = from[c * stride];
}

INLINE void load_held(double *restrict to, struct plane plane, int x, int y, int columns)
{
    const float *from = plane_row(plane, y) + x;
    INDEPENDENT
    for (int c = 0; c < columns; c++)
        to[c] = from[c];
}

/* E_l of layers that are held: past the last column and row there is no difference. */
INLINE void load_differences(double *restrict to, const struct chunk *chunk, int n, int x, int y)
{
    struct plane layer = chunk->held->expected[n / 2];
    bool right = n % 2;
    const float *here = plane_row(layer, y) + x, *there = right ? here + 1 : here + layer.stride;
    int there_are = chunk->problem->width - right - x;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        float difference = there[c] - here[c];
        to[c] = difference == difference && c < there_are ? difference : 0;
    }
}

INLINE void load_gradients(double *restrict to, const struct chunk *chunk, int n, int x, int y)
{
    float row[CHUNK];
    if (chunk->held) {
        load_differences(to, chunk, n, x, y);
        return;
    }
    if (chunk->problem->gradients) {
        load(to, &chunk->problem->gradients[n], chunk->channel, x, y, chunk->columns);
        return;
    }
    esra_problem_gradients(chunk->problem, n, chunk->channel, x, y, chunk->columns, row);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        to[c] = row[c];
}

INLINE void load_weights(double *restrict to, const struct chunk *chunk, int i, int x, int y)
{
    float row[CHUNK];
    if (chunk->problem->weights) {
        load(to, &chunk->problem->weights[i], 0, x, y, chunk->columns);
        return;
    }
    esra_problem_weights(chunk->problem, i, x, y, chunk->columns, row);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        to[c] = row[c];
}

static const float no_field[CHUNK];
static const double no_gradient[CHUNK];

/* What a chunk of a layer is made of: its own samples and those below, the duals of the differences that end here from
 * above and begin here downwards and across, and what E says of the latter. Where there is no such difference the
 * neighbour is the pixel itself, dual and E are zero, and all that comes of it is zero. */
struct strip {
    const float *here, *below;
    const float *from_above, *down, *across;
    const double *gradient_down, *gradient_across;
    float scale, by;
};

INLINE struct strip make_strip(struct chunk *chunk, const struct candidate *candidate, int l, int x, int y)
{
    const struct problem *problem = chunk->problem;
    const float *here = plane_row(candidate->x[l], y) + x;
    struct strip strip = {.here = here,
                          .below = here,
                          .from_above = no_field,
                          .down = no_field,
                          .across = no_field,
                          .gradient_down = no_gradient,
                          .gradient_across = chunk->second,
                          .scale = candidate->dual_scale,
                          .by = candidate_step(candidate, problem, l)};
    bool last = y == problem->height - 1;
    if (!last) {
        load_gradients(chunk->first, chunk, 2 * l, x, y);
        strip.below = here + candidate->x[l].stride;
        strip.gradient_down = chunk->first;
    }
    load_gradients(chunk->second, chunk, 2 * l + 1, x, y);
    if (chunk->bounding) {
        const float *p = plane_row(candidate->p[l], y) + x;
        strip.from_above = y > 0 ? p - candidate->p[l].stride : no_field;
        strip.down = last ? no_field : p;
        strip.across = plane_row(candidate->q[l], y) + x;
    }
    return strip;
}

/* Columns first..end-1 of layer l, of which left says that there is one before, right that there is one after: L_l, c_l
 * = lambda D'u_l, lambda |D L - E| for F, and lambda (|D L - E| - u (D L - E)) + c_l L_l for the gap. Seven parameters,
 * of which the compiler sees four as constants where the call is inlined: that is what takes the branches out of the
 * loop. */
INLINE void add_columns(struct chunk *chunk, const struct strip *strip, int l, int first, int end, bool left,
                        bool right)
{
    double lambda = chunk->problem->lambda;
    double *restrict objective = chunk->objective, *restrict gap = chunk->gap, *restrict slack = chunk->slack;
    double *restrict layer = chunk->layer + (ptrdiff_t)l * CHUNK, *restrict tilt = chunk->tilt + (ptrdiff_t)l * CHUNK;
    const float *here = strip->here, *below = strip->below, *next = right ? here + 1 : here;
    const float *from_above = strip->from_above, *down = strip->down;
    const float *across = right ? strip->across : no_field;
    const float *from_left = left && chunk->bounding ? strip->across - 1 : no_field;
    const double *gradient_down = strip->gradient_down, *gradient_across = right ? strip->gradient_across : no_gradient;
    float scale = strip->scale, by = strip->by;
    INDEPENDENT
    for (int c = first; c < end; c++) {
        double value = candidate_moved(here[c], by);
        double step_down = candidate_moved(below[c], by) - value - gradient_down[c];
        double step_across = candidate_moved(next[c], by) - value - gradient_across[c];
        double u_down = candidate_dual(down[c], scale), u_across = candidate_dual(across[c], scale);
        double arriving = candidate_dual(from_above[c], scale), arriving_left = candidate_dual(from_left[c], scale);
        double pull = lambda * (arriving - u_down + arriving_left - u_across);
        double size = lambda * (fabs(step_down) + fabs(step_across));
        double loose = size - lambda * (u_down * step_down + u_across * step_across);
        objective[c] += size;
        slack[c] += loose;
        gap[c] += loose + pull * value;
        layer[c] = value;
        tilt[c] = pull;
    }
}

INLINE void add_layer(struct chunk *chunk, const struct candidate *candidate, int l, int x, int y)
{
    struct strip strip = make_strip(chunk, candidate, l, x, y);
    int columns = chunk->columns;
    bool starts = x == 0, ends = x + columns == chunk->problem->width;
    if (starts)
        add_columns(chunk, &strip, l, 0, 1, false, !ends || columns > 1);
    add_columns(chunk, &strip, l, starts, columns - ends, true, true);
    if (ends && columns > starts)
        add_columns(chunk, &strip, l, columns - 1, columns, true, false);
}

/* 1/2 w_i (I_i - a_i L_0 - L_i)^2 for both sums, and what Newton's method needs of a photo. */
INLINE void add_photo(struct chunk *chunk, int i, int x, int y)
{
    double a = chunk->problem->mixing[i];
    ptrdiff_t row = (ptrdiff_t)i * CHUNK;
    double *restrict weight = chunk->weight + row, *restrict pull = chunk->pull + row;
    double *restrict objective = chunk->objective, *restrict gap = chunk->gap;
    const double *mixture = chunk->mixture + row, *scene = chunk->layer;
    const double *layer = chunk->layer + row + CHUNK, *tilt = chunk->tilt + row + CHUNK;
    if (chunk->held)
        load_held(chunk->mixture + row, chunk->held->mixture[i], x, y, chunk->columns);
    else
        load(chunk->mixture + row, &chunk->problem->mixtures[i], chunk->channel, x, y, chunk->columns);
    if (chunk->weighted && chunk->held)
        load_held(weight, chunk->held->weight[i], x, y, chunk->columns);
    else if (chunk->weighted)
        load_weights(weight, chunk, i, x, y);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double w = chunk->weighted ? weight[c] : 1, bound = tilt[c] < 0 ? -BOUNDLESS : BOUNDLESS;
        double residual = mixture[c] - a * scene[c] - layer[c], share = 0.5 * w * residual * residual;
        objective[c] += share;
        gap[c] += share;
        if (chunk->weighted)
            pull[c] = w > 0 ? tilt[c] / w : bound;
    }
}

INLINE double clip01(double x)
{
    x = x < 0 ? 0 : x;
    return x > 1 ? 1 : x;
}

/* phi, phi' and phi'' at t. Between its bounds y_i leaves the residual c_i / w_i, and phi' does not change. */
INLINE void add_photo_slope(struct chunk *chunk, int i)
{
    double a = chunk->problem->mixing[i];
    ptrdiff_t row = (ptrdiff_t)i * CHUNK;
    const double *mixture = chunk->mixture + row, *weight = chunk->weight + row, *t = chunk->t;
    const double *tilt = chunk->tilt + row + CHUNK, *pull = chunk->weighted ? chunk->pull + row : tilt;
    double *restrict value = chunk->value, *restrict first = chunk->first, *restrict second = chunk->second;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double w = chunk->weighted ? weight[c] : 1, given = pull[c];
        double rest = mixture[c] - a * t[c], wanted = rest - given, y = clip01(wanted);
        double outside = rest - y, bend = a * a * w;
        double residual = y == wanted ? given : outside, curvature = y == wanted ? 0 : bend;
        value[c] += 0.5 * w * residual * residual + tilt[c] * y;
        first[c] -= a * w * residual;
        second[c] += curvature;
    }
}

INLINE void take_slope(struct chunk *chunk)
{
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        chunk->value[c] = chunk->tilt[c] * chunk->t[c];
        chunk->first[c] = chunk->tilt[c];
        chunk->second[c] = 0;
    }
    for (int i = 0; i < chunk->problem->photos; i++)
        add_photo_slope(chunk, i);
}

/* Where no y_i is at a bound, phi' does not change before the first of them gets there: downhill, y_i ends at 1 or at
 * 0. */
INLINE void find_bend(struct chunk *chunk)
{
    double *restrict near_ = chunk->near_, *restrict bend = chunk->bend;
    const double *t = chunk->t, *first = chunk->first;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        near_[c] = INFINITY;
    for (int i = 0; i < chunk->problem->photos; i++) {
        double a = chunk->problem->mixing[i], inverse = 1 / a;
        ptrdiff_t row = (ptrdiff_t)i * CHUNK;
        const double *mixture = chunk->mixture + row, *weight = chunk->weight + row;
        const double *pull = chunk->weighted ? chunk->pull + row : chunk->tilt + row + CHUNK;
        INDEPENDENT
        for (int c = 0; c < chunk->columns; c++) {
            double end = first[c] > 0 ? 1 : 0, way = fabs((mixture[c] - pull[c] - end) * inverse - t[c]);
            double own = a * a * (chunk->weighted ? weight[c] : 1), before = near_[c], bend_before = bend[c];
            near_[c] = way < before ? way : before;
            bend[c] = way < before ? own : bend_before;
        }
    }
}

/* The bound that t gives, and in place of value the most by which phi can still fall, less the tolerance. */
INLINE void judge(struct chunk *chunk)
{
    double *restrict bounds = chunk->bound, *restrict values = chunk->value;
    const double *at = chunk->t, *los = chunk->lo, *his = chunk->hi, *firsts = chunk->first;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double t = at[c], lo = los[c], hi = his[c], first = firsts[c], value = values[c], before = bounds[c];
        double loss = first * (t - (first > 0 ? lo : hi)), bound = value - loss;
        bounds[c] = bound > before ? bound : before;
        values[c] = loss - (RELATIVE_LOSS * fabs(value) + ABSOLUTE_LOSS);
    }
}

/* One step of the safeguarded Newton iteration in every column where there is something to lose. leap: where phi'' is
 * 0, to where it would end if nothing bends but what find_bend() found, in place of the end of the bracket. Flags are
 * numbers, 0 or 1, so that all of a turn fits into vectors of doubles. */
INLINE void advance(struct chunk *chunk, double early, double leap)
{
    double *restrict at = chunk->t, *restrict los = chunk->lo, *restrict his = chunk->hi;
    const double *firsts = chunk->first, *seconds = chunk->second, *excesses = chunk->value;
    const double *nears = chunk->near_, *bends = chunk->bend;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double t = at[c], first = firsts[c], second = seconds[c], excess = excesses[c];
        double lo_before = los[c], hi_before = his[c], downhill = first > 0 ? lo_before : hi_before;
        double lo = first > 0 ? lo_before : t, hi = first > 0 ? t : hi_before;
        double divisor = second > 0 ? second : bends[c], step = first / divisor, newton = t - step;
        double way = nears[c], bent = first > 0 ? newton - way : newton + way;
        double leaping = way <= 1 ? leap : 0, level = leaping > 0 ? bent : downhill;
        double next = second > 0 ? newton : level;
        /* An end of [0,1] itself may be the minimum and is worth one look; an end already seen is not. */
        double new_low = t != 0 ? early : 0, new_high = t != 1 ? early : 0;
        double low_end = lo == 0 ? new_low : 0, high_end = hi == 1 ? new_high : 0;
        double to_low = next <= lo ? low_end : 0, to_high = next >= hi ? high_end : 0;
        double middle = 0.5 * (lo + hi), retreat = to_low + to_high > 0 ? downhill : middle;
        double below_high = next < hi ? next : retreat, target = next > lo ? below_high : retreat;
        los[c] = excess > 0 ? lo : lo_before;
        his[c] = excess > 0 ? hi : hi_before;
        at[c] = excess > 0 ? target : t;
    }
}

INLINE bool any_positive(const double *values, int count)
{
    bool any = false;
    for (int n = 0; n < count && !any; n++)
        any = values[n] > 0;
    return any;
}

/* min phi over [0,1], from below and tight to rounding, starting at L_0. */
INLINE void bound_pixels(struct chunk *chunk)
{
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        chunk->t[c] = chunk->layer[c];
        chunk->lo[c] = 0;
        chunk->hi[c] = 1;
        chunk->bound[c] = -INFINITY;
    }
    for (int step = 0; step < MAX_STEPS; step++) {
        take_slope(chunk);
        judge(chunk);
        if (!any_positive(chunk->value, chunk->columns))
            break;
        if (step == 0)
            find_bend(chunk);
        advance(chunk, step < 8 ? 1 : 0, step == 0 ? 1 : 0);
    }
}

INLINE void add_chunk(struct chunk *chunk, const struct candidate *candidate, int x, int y)
{
    for (int l = 0; l < chunk->problem->layers; l++)
        add_layer(chunk, candidate, l, x, y);
    for (int i = 0; i < chunk->problem->photos; i++)
        add_photo(chunk, i, x, y);
    if (!chunk->bounding)
        return;
    bound_pixels(chunk);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        chunk->gap[c] -= chunk->bound[c];
}

INLINE struct certificate certify_chunks(struct chunk *chunk, const struct candidate *candidate, int first, int end)
{
    int width = chunk->problem->width;
    for (int y = first; y < end; y++)
        for (int x = 0; x < width; x += CHUNK) {
            chunk->columns = width - x < CHUNK ? width - x : CHUNK;
            add_chunk(chunk, candidate, x, y);
        }
    double objective = 0, gap = 0, slack = 0;
    for (int c = 0; c < CHUNK; c++) {
        objective += chunk->objective[c];
        gap += chunk->gap[c];
        slack += chunk->slack[c];
    }
    return (struct certificate){objective, objective - gap, slack};
}

/* The common case (no weights, with a dual field) gets its flags as constants, so that the compiler removes the
 * branches from its copy of the loops. */
INLINE struct certificate certify_rows(const struct problem *problem, int channel, const struct candidate *candidate,
                                       int first, int end, double *scratch)
{
    struct chunk chunk = make_chunk(problem, candidate->held, channel, scratch);
    chunk.weighted = problem_is_weighted(problem);
    chunk.bounding = candidate->p;
    if (chunk.weighted || !chunk.bounding)
        return certify_chunks(&chunk, candidate, first, end);
    chunk.weighted = false;
    chunk.bounding = true;
    return certify_chunks(&chunk, candidate, first, end);
}

static void certify_block(void *work, int task, int worker)
{
    const struct certifying *job = work;
    int block = task * job->every, first = rows_begin(block), height = job->problem->height;
    int end = height - first < job->rows ? height : first + job->rows;
    double *scratch = job->scratch + (size_t)worker * esra_certificate_scratch(job->problem);
    job->shares[block] = certify_rows(job->problem, job->channel, job->candidate, first, end, scratch);
}
WIDE_TASK(certify_block)

struct certificate esra_certify(struct context *context, struct certifying *job)
{
    int blocks = rows_blocks(job->problem->height);
    struct certificate sum = {0, 0, 0};
    esra_context_run(context, WIDE(context, certify_block), job, (blocks - 1) / job->every + 1, NULL);
    for (int b = 0; b < blocks; b += job->every) {
        sum.objective += job->shares[b].objective;
        sum.bound += job->shares[b].bound;
        sum.slack += job->shares[b].slack;
    }
    return sum;
}
