/* kernels/vector.h - the kernels for vectors of LANES pixels, once for all instruction sets. An instance defines
 *
 *     LANES            floats in a vector, dividing KERNEL_GROUP
 *     TARGET           the attribute that lets the compiler use the instruction set
 *     NAME(kernel)     the instance's name of a kernel
 *     vector_min(a,b)  a < b ? a : b in every lane, and vector_max(a,b) = a > b ? a : b
 *     EVEN_LANES, ODD_LANES, LOW_PAIRS, HIGH_PAIRS   index lists of the shuffles between a row and its pixel pairs
 *
 * and includes this file. Every expression has the operations of pixel.h and reference.c in the same order. */
#include <stdbool.h>
#include <string.h>

#include "kernels/kernels.h"

typedef float vector __attribute__((vector_size(LANES * 4)));
typedef int32_t integers __attribute__((vector_size(LANES * 4)));

#define INLINE TARGET static inline __attribute__((always_inline))

INLINE vector load(const float *from)
{
    vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(float *to, vector v)
{
    memcpy(to, &v, sizeof v);
}

/* pixel_clip() keeps t where it equals a bound and lets a NaN through, as these do. */
INLINE vector clip(vector t, vector lowest, vector highest)
{
    return vector_min(highest, vector_max(lowest, t));
}

INLINE vector force(const struct sweep *sweep, const struct sweep_row *row, ptrdiff_t at)
{
    vector vertical = load(row->p_above + at) - load(row->p + at);
    vector horizontal = load(row->q + at - 1) - load(row->q + at);
    return sweep->lambda * (vertical + horizontal) + load(row->z + at);
}

INLINE void primal_columns(const struct sweep *sweep, const struct sweep_row *row, int first, int end, int photos)
{
    for (int c = first; c < end; c += LANES) {
        vector x0 = load(row->x + c), b0 = -force(sweep, row, c), sum = {0};
        for (int i = 0; i < photos; i++) {
            ptrdiff_t at = (i + 1) * row->pitch + c;
            vector residual = (load(row->mixture + i * row->pitch + c) - sweep->a[i] * x0) - load(row->x + at);
            vector b = residual - force(sweep, row, at);
            b0 = b0 + sweep->a[i] * residual;
            sum = sum + sweep->a[i] * b;
            store(row->bar + (i + 1) * row->bar_pitch + c, b);
        }
        vector d0 = (b0 - sweep->photo_inverse * sum) * sweep->arrow_inverse;
        vector null = load(row->correction + c) - load(row->g + c) * sweep->s_inverse;
        vector d = d0 + null;
        store(row->bar + c, x0 + 2 * d);
        store(row->x + c, x0 + sweep->rho * d);
        for (int i = 0; i < photos; i++) {
            float *at = row->x + (i + 1) * row->pitch + c, *bar = row->bar + (i + 1) * row->bar_pitch + c;
            vector x = load(at);
            d = (load(bar) - sweep->a[i] * d0) * sweep->photo_inverse - sweep->a[i] * null;
            store(bar, x + 2 * d);
            store(at, x + sweep->rho * d);
        }
    }
}

/* The usual numbers of photos have loops of fixed length. */
TARGET static void NAME(primal)(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    switch (sweep->photos) {
    case 2: primal_columns(sweep, row, first, end, 2); break;
    case 3: primal_columns(sweep, row, first, end, 3); break;
    default: primal_columns(sweep, row, first, end, sweep->photos);
    }
}

TARGET static void NAME(primal_weighted)(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    float s = sweep->s;
    for (int c = first; c < end; c += LANES) {
        vector x0 = load(row->x + c), b0 = -force(sweep, row, c), sum = {0}, arrow = sum + s;
        for (int i = 0; i < sweep->photos; i++) {
            ptrdiff_t at = (i + 1) * row->pitch + c;
            float a = sweep->a[i];
            vector w = load(row->weight + i * row->pitch + c), share = w / (w + s);
            vector residual = w * ((load(row->mixture + i * row->pitch + c) - a * x0) - load(row->x + at));
            vector b = residual - force(sweep, row, at);
            b0 = b0 + a * residual;
            sum = sum + (a * share) * b;
            arrow = arrow + (a * a) * (s * share);
            store(row->bar + (i + 1) * row->bar_pitch + c, b);
        }
        vector d0 = (b0 - sum) / arrow;
        vector null = load(row->correction + c) - load(row->g + c) * sweep->s_inverse;
        vector d = d0 + null;
        store(row->bar + c, x0 + 2 * d);
        store(row->x + c, x0 + sweep->rho * d);
        for (int i = 0; i < sweep->photos; i++) {
            float *at = row->x + (i + 1) * row->pitch + c, *bar = row->bar + (i + 1) * row->bar_pitch + c;
            float a = sweep->a[i];
            vector x = load(at), w = load(row->weight + i * row->pitch + c);
            d = (load(bar) - (a * w) * d0) / (w + s) - a * null;
            store(bar, x + 2 * d);
            store(at, x + sweep->rho * d);
        }
    }
}

INLINE vector dual_step(vector u, vector step, vector extracted, float sigma, float rho)
{
    vector zero = {0}, t = clip(u + sigma * (step - extracted), zero - 1, zero + 1);
    return u + rho * (t - u);
}

INLINE vector box_step(vector z, vector bar, vector r2, float rho)
{
    vector zero = {0}, t = z + r2 * bar;
    return z + rho * ((t - clip(t, zero, zero + r2)) - z);
}

TARGET static void NAME(dual)(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    float sigma = sweep->sigma, rho = sweep->rho;
    for (int l = 0; l <= sweep->photos; l++) {
        float *p = row->p + l * row->pitch, *q = row->q + l * row->pitch, *z = row->z + l * row->pitch;
        const float *e1 = row->e_vertical + l * row->pitch, *e2 = row->e_horizontal + l * row->pitch;
        const float *bar = row->bar + l * row->bar_pitch, *below = row->bar_below + l * row->bar_pitch;
        for (int c = first; c < end; c += LANES) {
            vector here = load(bar + c), r2 = sweep->r2 + sweep->r2_rise * (sweep->jacobi - load(row->jacobi + c));
            store(p + c, dual_step(load(p + c), load(below + c) - here, load(e1 + c), sigma, rho));
            store(q + c, dual_step(load(q + c), load(bar + c + 1) - here, load(e2 + c), sigma, rho));
            store(z + c, box_step(load(z + c), here, r2, rho));
        }
    }
}

/* A difference that is not a number has no bits left. */
INLINE vector expected(vector here, vector there)
{
    vector difference = there - here;
    return (vector)((integers)difference & (integers)(difference == difference));
}

TARGET static void NAME(dual_expected)(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    float sigma = sweep->sigma, rho = sweep->rho;
    for (int l = 0; l <= sweep->photos; l++) {
        float *p = row->p + l * row->pitch, *q = row->q + l * row->pitch, *z = row->z + l * row->pitch;
        const float *e = row->expected + l * row->pitch, *e_below = row->expected_below + l * row->pitch;
        const float *bar = row->bar + l * row->bar_pitch, *below = row->bar_below + l * row->bar_pitch;
        for (int c = first; c < end; c += LANES) {
            vector here = load(bar + c), e_here = load(e + c);
            vector r2 = sweep->r2 + sweep->r2_rise * (sweep->jacobi - load(row->jacobi + c));
            vector down = expected(e_here, load(e_below + c)), right = expected(e_here, load(e + c + 1));
            store(p + c, dual_step(load(p + c), load(below + c) - here, down, sigma, rho));
            store(q + c, dual_step(load(q + c), load(bar + c + 1) - here, right, sigma, rho));
            store(z + c, box_step(load(z + c), here, r2, rho));
        }
    }
}

INLINE void null_columns(const struct sweep *sweep, const struct sweep_row *row, int first, int end, int photos)
{
    for (int c = first; c < end; c += LANES) {
        vector g = sweep->null[0] * force(sweep, row, c);
        for (int l = 1; l <= photos; l++)
            g = g + sweep->null[l] * force(sweep, row, l * row->pitch + c);
        store(row->g + c, g);
    }
}

TARGET static void NAME(null)(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    switch (sweep->photos) {
    case 2: null_columns(sweep, row, first, end, 2); break;
    case 3: null_columns(sweep, row, first, end, 3); break;
    default: null_columns(sweep, row, first, end, sweep->photos);
    }
}

TARGET static void NAME(scale)(const float *jacobi, const float *f, float *out, int columns)
{
    for (int c = 0; c < columns; c += LANES)
        store(out + c, load(jacobi + c) * load(f + c));
}

INLINE vector neighbours(const float *above, const float *here, const float *below, int c)
{
    return (load(above + c) + load(below + c)) + (load(here + c - 1) + load(here + c + 1));
}

TARGET static void NAME(residual)(struct stencil stencil, const float *f, const float *above, const float *here,
                                  const float *below, float *out, int columns)
{
    for (int c = 0; c < columns; c += LANES)
        store(out + c, stencil.keep * load(f + c) + stencil.spread * neighbours(above, here, below, c));
}

TARGET static void NAME(relax)(struct stencil stencil, const float *jacobi, const float *f, const float *above,
                               const float *here, const float *below, float *out, int columns)
{
    for (int c = 0; c < columns; c += LANES) {
        vector pull = load(f + c) + stencil.spread * neighbours(above, here, below, c);
        store(out + c, stencil.keep * load(here + c) + load(jacobi + c) * pull);
    }
}

#define PARTS (KERNEL_GROUP / LANES)

TARGET static void NAME(pactv_layer)(struct pactv_row *row, int columns)
{
    vector zero = {0}, moved[PARTS] = {{0}}, norm[PARTS] = {{0}};
    for (int c = 0; c < columns; c += KERNEL_GROUP)
        for (int part = 0; part < PARTS; part++) {
            int at = c + part * LANES;
            vector across = load(row->q_tilde + at - 1) - load(row->q_tilde + at);
            vector adjoint = (across + load(row->p_tilde_above + at)) - load(row->p_tilde + at);
            vector now = clip(load(row->d + at) - row->beta * adjoint, zero, zero + 1);
            vector change = now - load(row->layer + at);
            moved[part] = moved[part] + change * change;
            norm[part] = norm[part] + now * now;
            store(row->layer + at, now);
        }
    for (int part = 0; part < PARTS; part++) {
        store(row->moved + part * LANES, moved[part]);
        store(row->norm + part * LANES, norm[part]);
    }
}

INLINE void pactv_step(const struct pactv_row *row, float *z, float *tilde, vector difference, vector extracted)
{
    vector zero = {0};
    vector next = clip(load(tilde) + row->step * (difference - extracted), zero - 1, zero + 1);
    store(tilde, next + row->momentum * (next - load(z)));
    store(z, next);
}

INLINE void pactv_dual_columns(const struct pactv_row *rows, int columns, bool vertical)
{
    const struct pactv_row copy = *rows, *row = &copy; /* which no store can change */
    for (int c = 0; c < columns; c += LANES) {
        vector here = load(row->layer + c);
        if (vertical)
            pactv_step(row, row->p + c, row->p_tilde + c, load(row->layer_below + c) - here, load(row->e_vertical + c));
        pactv_step(row, row->q + c, row->q_tilde + c, load(row->layer + c + 1) - here, load(row->e_horizontal + c));
    }
}

TARGET static void NAME(pactv_dual)(const struct pactv_row *row, int columns)
{
    pactv_dual_columns(row, columns, row->layer_below);
}

#ifdef EVEN_LANES
/* From -1 the pairs are (2c-1, 2c), from +1 they are (2c+1, 2c+2). */
TARGET static void NAME(restrict_)(const float *r0, const float *r1, const float *r2, const float *r3, float *t,
                                   float *out, int columns)
{
    for (int c = 0; c < 2 * columns; c += LANES)
        store(t + c, 0.25f * (load(r0 + c) + load(r3 + c)) + 0.75f * (load(r1 + c) + load(r2 + c)));
    for (int c = 0; c < columns; c += LANES) {
        vector a = load(t + 2 * c - 1), b = load(t + 2 * c - 1 + LANES);
        vector e = load(t + 2 * c + 1), f = load(t + 2 * c + 1 + LANES);
        vector before = __builtin_shufflevector(a, b, EVEN_LANES), even = __builtin_shufflevector(a, b, ODD_LANES);
        vector odd = __builtin_shufflevector(e, f, EVEN_LANES), after = __builtin_shufflevector(e, f, ODD_LANES);
        store(out + c, 0.25f * (before + after) + 0.75f * (even + odd));
    }
}

TARGET static void NAME(prolong)(const float *jacobi, const float *f, const float *near_, const float *far_, float *t,
                                 float *out, int n, int columns)
{
    for (int c = 0; c < columns / 2; c += LANES)
        store(t + c, 0.75f * load(near_ + c) + 0.25f * load(far_ + c));
    t[-1] = t[0];
    t[n] = t[n - 1];
    for (int c = 0; c < columns / 2; c += LANES) {
        vector here = 0.75f * load(t + c);
        vector even = here + 0.25f * load(t + c - 1), odd = here + 0.25f * load(t + c + 1);
        vector low = __builtin_shufflevector(even, odd, LOW_PAIRS),
               high = __builtin_shufflevector(even, odd, HIGH_PAIRS);
        store(out + 2 * c, load(jacobi + 2 * c) * load(f + 2 * c) + low);
        store(out + 2 * c + LANES, load(jacobi + 2 * c + LANES) * load(f + 2 * c + LANES) + high);
    }
}
#endif

#include "kernels/vector_photo.h"
