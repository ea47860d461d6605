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
 *
 * All goes by chunks of a row: each line of code is a loop over columns that compilers turn into vectors. */
#include "solve/certificate.h"

#include <math.h>
#include <stdbool.h>

#include "base/cpu.h"

#define INLINE static inline __attribute__((always_inline))

/* Before a loop whose turns do not touch one another's data: compilers cannot see that rows of a chunk are apart. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* Columns of a chunk: what its rows of doubles need stays in the first cache. */
#define CHUNK 64

/* Newton ends after as many steps as the slope has pieces; what bisection may add halves the bracket to nothing. */
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
    int channel, columns;
    double *layer, *tilt;             /* L_l, c_l [layers] */
    double *mixture, *weight, *pull;  /* I_i, w_i, c_i / w_i [photos] */
    double *t, *lo, *hi;              /* Newton's iterate and bracket */
    double *value, *first, *second;   /* phi, phi', phi'' at t */
    double *bound;                    /* of min phi */
    double *near_, *bend;             /* way from t to where phi' first bends, and phi'' past that */
    double *objective, *gap;          /* sums, by column modulo CHUNK */
};

static size_t chunk_rows(const struct problem *problem)
{
    return 2 * (size_t)problem->layers + 3 * (size_t)problem->photos + 11;
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

static struct chunk make_chunk(const struct problem *problem, int channel, double *scratch)
{
    struct chunk chunk = {.problem = problem, .channel = channel};
    chunk.layer = take_rows(&scratch, problem->layers);
    chunk.tilt = take_rows(&scratch, problem->layers);
    chunk.mixture = take_rows(&scratch, problem->photos);
    chunk.weight = take_rows(&scratch, problem->photos);
    chunk.pull = take_rows(&scratch, problem->photos);
    double **const single[] = {&chunk.t,      &chunk.lo,    &chunk.hi,    &chunk.value,     &chunk.first, &chunk.second,
                               &chunk.bound,  &chunk.near_, &chunk.bend,  &chunk.objective, &chunk.gap};
    for (size_t n = 0; n < sizeof single / sizeof single[0]; n++)
        *single[n] = take_rows(&scratch, 1);
    for (int c = 0; c < CHUNK; c++)
        chunk.objective[c] = chunk.gap[c] = 0;
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
    else
        INDEPENDENT
        for (int c = 0; c < columns; c++)
            to[c] = from[c * stride];
}

/* to += sign * u. */
INLINE void add_dual(double *restrict to, const float *u, float scale, double sign, int columns)
{
    INDEPENDENT
    for (int c = 0; c < columns; c++)
        to[c] += sign * candidate_dual(u[c], scale);
}

/* c_l = lambda D'u_l. */
INLINE void load_tilt(struct chunk *chunk, const struct candidate *candidate, int l, int x, int y)
{
    const struct problem *problem = chunk->problem;
    const float *p = plane_row(candidate->p[l], y) + x, *q = plane_row(candidate->q[l], y) + x;
    int columns = chunk->columns;
    bool starts = x == 0, ends = x + columns == problem->width;
    double *tilt = chunk->tilt + (ptrdiff_t)l * CHUNK;
    INDEPENDENT
    for (int c = 0; c < columns; c++)
        tilt[c] = 0;
    if (y > 0)
        add_dual(tilt, p - candidate->p[l].stride, candidate->dual_scale, 1, columns);
    if (y < problem->height - 1)
        add_dual(tilt, p, candidate->dual_scale, -1, columns);
    add_dual(tilt + starts, q - 1 + starts, candidate->dual_scale, 1, columns - starts);
    add_dual(tilt, q, candidate->dual_scale, -1, columns - ends);
    INDEPENDENT
    for (int c = 0; c < columns; c++)
        tilt[c] *= problem->lambda;
}

/* lambda |D L - E| for F and lambda (|D L - E| - u (D L - E)) for the gap, over differences from `here` to `there`. */
INLINE void add_differences(struct chunk *chunk, const float *here, const float *there, const double *extracted,
                            const float *u, float scale, int columns)
{
    double lambda = chunk->problem->lambda;
    double *restrict objective = chunk->objective, *restrict gap = chunk->gap;
    INDEPENDENT
    for (int c = 0; c < columns; c++) {
        double step = (double)candidate_layer(there[c]) - candidate_layer(here[c]) - extracted[c];
        double size = lambda * fabs(step);
        objective[c] += size;
        gap[c] += size - lambda * candidate_dual(u[c], scale) * step;
    }
}

INLINE void add_gradients(struct chunk *chunk, const struct candidate *candidate, int l, int x, int y)
{
    const struct problem *problem = chunk->problem;
    const float *here = plane_row(candidate->x[l], y) + x;
    double *extracted = chunk->value;
    int across = x + chunk->columns < problem->width ? chunk->columns : chunk->columns - 1;
    if (y < problem->height - 1) {
        load(extracted, &problem->gradients[2 * l], chunk->channel, x, y, chunk->columns);
        add_differences(chunk, here, here + candidate->x[l].stride, extracted, plane_row(candidate->p[l], y) + x,
                        candidate->dual_scale, chunk->columns);
    }
    load(extracted, &problem->gradients[2 * l + 1], chunk->channel, x, y, across);
    add_differences(chunk, here, here + 1, extracted, plane_row(candidate->q[l], y) + x, candidate->dual_scale, across);
}

INLINE void load_photo(struct chunk *chunk, int i, int x, int y)
{
    const struct problem *problem = chunk->problem;
    ptrdiff_t row = (ptrdiff_t)i * CHUNK;
    double *restrict weight = chunk->weight + row, *restrict pull = chunk->pull + row;
    const double *tilt = chunk->tilt + row + CHUNK;
    load(chunk->mixture + row, &problem->mixtures[i], chunk->channel, x, y, chunk->columns);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        weight[c] = 1;
    if (problem->weights)
        load(weight, &problem->weights[i], 0, x, y, chunk->columns);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double bound = tilt[c] < 0 ? -BOUNDLESS : BOUNDLESS;
        pull[c] = weight[c] > 0 ? tilt[c] / weight[c] : bound;
    }
}

INLINE void load_chunk(struct chunk *chunk, const struct candidate *candidate, int x, int y)
{
    for (int l = 0; l < chunk->problem->layers; l++) {
        const float *from = plane_row(candidate->x[l], y) + x;
        double *to = chunk->layer + (ptrdiff_t)l * CHUNK;
        INDEPENDENT
        for (int c = 0; c < chunk->columns; c++)
            to[c] = candidate_layer(from[c]);
        load_tilt(chunk, candidate, l, x, y);
    }
    for (int i = 0; i < chunk->problem->photos; i++)
        load_photo(chunk, i, x, y);
}

/* phi(L(x)) - sum c_l L_l goes to F, phi(L(x)) to the gap. */
INLINE void add_data(struct chunk *chunk)
{
    double *restrict objective = chunk->objective, *restrict gap = chunk->gap;
    const double *scene = chunk->layer;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        gap[c] += chunk->tilt[c] * scene[c];
    for (int i = 0; i < chunk->problem->photos; i++) {
        double a = chunk->problem->mixing[i];
        ptrdiff_t row = (ptrdiff_t)i * CHUNK;
        const double *mixture = chunk->mixture + row, *weight = chunk->weight + row;
        const double *layer = chunk->layer + row + CHUNK, *tilt = chunk->tilt + row + CHUNK;
        INDEPENDENT
        for (int c = 0; c < chunk->columns; c++) {
            double residual = mixture[c] - a * scene[c] - layer[c], share = 0.5 * weight[c] * residual * residual;
            objective[c] += share;
            gap[c] += share + tilt[c] * layer[c];
        }
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
    const double *mixture = chunk->mixture + row, *weight = chunk->weight + row, *pull = chunk->pull + row;
    const double *tilt = chunk->tilt + row + CHUNK, *t = chunk->t;
    double *restrict value = chunk->value, *restrict first = chunk->first, *restrict second = chunk->second;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double rest = mixture[c] - a * t[c], wanted = rest - pull[c], y = clip01(wanted);
        double given = pull[c], outside = rest - y, bend = a * a * weight[c];
        double residual = y == wanted ? given : outside, curvature = y == wanted ? 0 : bend;
        value[c] += 0.5 * weight[c] * residual * residual + tilt[c] * y;
        first[c] -= a * weight[c] * residual;
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

/* Where no y_i is at a bound, phi' does not change before the first of them gets there: downhill, y_i ends at 1 or at 0. */
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
        const double *mixture = chunk->mixture + row, *weight = chunk->weight + row, *pull = chunk->pull + row;
        INDEPENDENT
        for (int c = 0; c < chunk->columns; c++) {
            double end = first[c] > 0 ? 1 : 0, way = fabs((mixture[c] - pull[c] - end) * inverse - t[c]);
            double own = a * a * weight[c], before = near_[c], bend_before = bend[c];
            near_[c] = way < before ? way : before;
            bend[c] = way < before ? own : bend_before;
        }
    }
}

/* One step of the safeguarded Newton iteration in every column; where phi'' stood, what is left to lose. leap: where phi''
 * is 0, to where it would end if nothing bends but what find_bend() found, in place of the end of the bracket. Flags are
 * numbers, 0 or 1, so that all of a turn fits into vectors of doubles. */
INLINE void advance(struct chunk *chunk, double early, double leap)
{
    double *restrict at = chunk->t, *restrict los = chunk->lo, *restrict his = chunk->hi, *restrict bounds = chunk->bound;
    double *restrict excesses = chunk->second;
    const double *firsts = chunk->first, *values = chunk->value, *nears = chunk->near_, *bends = chunk->bend;
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++) {
        double t = at[c], first = firsts[c], second = excesses[c], value = values[c];
        double lo_before = los[c], hi_before = his[c], bound_before = bounds[c];
        double downhill = first > 0 ? lo_before : hi_before;
        double lo = first > 0 ? lo_before : t, hi = first > 0 ? t : hi_before;
        double loss = first * (t - downhill), bound = value - loss;
        double excess = loss - (RELATIVE_LOSS * fabs(value) + ABSOLUTE_LOSS);
        double divisor = second > 0 ? second : 1, newton = t - first / divisor;
        double way = nears[c], past = first / bends[c], bent = first > 0 ? t - way - past : t + way - past;
        double leaping = way <= 1 ? leap : 0, level = leaping > 0 ? bent : downhill;
        double next = second > 0 ? newton : level;
        /* An end of [0,1] itself may be the minimum and is worth one look; an end already seen is not. */
        double new_low = t != 0 ? early : 0, new_high = t != 1 ? early : 0;
        double low_end = lo == 0 ? new_low : 0, high_end = hi == 1 ? new_high : 0;
        double to_low = next <= lo ? low_end : 0, to_high = next >= hi ? high_end : 0;
        double middle = 0.5 * (lo + hi), retreat = to_low + to_high > 0 ? downhill : middle;
        double below_high = next < hi ? next : retreat, target = next > lo ? below_high : retreat;
        bounds[c] = bound > bound_before ? bound : bound_before;
        los[c] = excess > 0 ? lo : lo_before;
        his[c] = excess > 0 ? hi : hi_before;
        at[c] = excess > 0 ? target : t;
        excesses[c] = excess;
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
    bool going = true;
    for (int step = 0; step < MAX_STEPS && going; step++) {
        take_slope(chunk);
        if (step == 0)
            find_bend(chunk);
        advance(chunk, step < 8 ? 1 : 0, step == 0 ? 1 : 0);
        going = any_positive(chunk->second, chunk->columns);
    }
}

INLINE void add_chunk(struct chunk *chunk, const struct candidate *candidate, int x, int y)
{
    for (int l = 0; l < chunk->problem->layers; l++)
        add_gradients(chunk, candidate, l, x, y);
    load_chunk(chunk, candidate, x, y);
    add_data(chunk);
    bound_pixels(chunk);
    INDEPENDENT
    for (int c = 0; c < chunk->columns; c++)
        chunk->gap[c] -= chunk->bound[c];
}

INLINE struct certificate certify_rows(const struct problem *problem, int channel, const struct candidate *candidate,
                                       int first, int end, double *scratch)
{
    struct chunk chunk = make_chunk(problem, channel, scratch);
    for (int y = first; y < end; y++)
        for (int x = 0; x < problem->width; x += CHUNK) {
            chunk.columns = problem->width - x < CHUNK ? problem->width - x : CHUNK;
            add_chunk(&chunk, candidate, x, y);
        }
    double objective = 0, gap = 0;
    for (int c = 0; c < CHUNK; c++) {
        objective += chunk.objective[c];
        gap += chunk.gap[c];
    }
    return (struct certificate){objective, objective - gap};
}

/* The same loops for each instruction set: what is inlined takes its caller's. */
#define INSTANCE(name, target)                                                                                      \
    target static struct certificate name(const struct problem *problem, int channel,                               \
                                          const struct candidate *candidate, int first, int end, double *scratch)   \
    {                                                                                                               \
        return certify_rows(problem, channel, candidate, first, end, scratch);                                      \
    }

INSTANCE(certify_rows_c, )
#if defined(__x86_64__) || defined(__i386__)
INSTANCE(certify_rows_avx2, __attribute__((target("avx2"))))
INSTANCE(certify_rows_avx512, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))
#endif

certify_function *esra_certificate_find(unsigned features)
{
#if defined(__x86_64__) || defined(__i386__)
    if (features & CPU_AVX512)
        return certify_rows_avx512;
    if (features & CPU_AVX2)
        return certify_rows_avx2;
#endif
    (void)features;
    return certify_rows_c;
}
