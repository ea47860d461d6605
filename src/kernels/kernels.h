/* kernels/kernels.h - the inner loops, without policy. A kernel's signature stands once, in ESRA_KERNELS; its
 * arithmetic stands once for a pixel (pixel.h) and once for a vector of pixels (vector.h), with the same operations in
 * the same order, so that every instruction set gives the same bits.
 *
 * Rows come in groups of KERNEL_GROUP floats: a row of n pixels has room for kernel_columns(n), and KERNEL_PAD floats
 * before and after that a kernel may read but never writes. What stands in the room past n is computed like any pixel
 * and must stay finite; engines keep it at zero. */
#ifndef ESRA_KERNELS_KERNELS_H
#define ESRA_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "base/colours.h"

/* The widest vector, AVX-512, in floats. */
#define KERNEL_GROUP 16
#define KERNEL_PAD   16

static inline int kernel_columns(int width)
{
    return (width + KERNEL_GROUP - 1) / KERNEL_GROUP * KERNEL_GROUP;
}

/* The constants of one primal-dual iteration (solve/fast.c has the symbols). */
struct sweep {
    int photos;
    const float *a;    /* [photos] */
    const float *null; /* [photos + 1]: g = sum_l null_l w_l, the part of w along c */
    float lambda, rho;
    float sigma;                                   /* r1/lambda: step of the gradients' dual u */
    float r2, r2_rise, jacobi;                     /* step of the box's dual z: r2 + r2_rise (jacobi - the row's) */
    float s;                                       /* 8 r1 + the largest r2 */
    float s_inverse, photo_inverse, arrow_inverse; /* 1/s, 1/(1+s), 1/(s + sum a_i^2 s/(1+s)) */
};

/* A row of everything that has one plane for each layer: layer l's stands l * pitch floats further on. */
struct sweep_row {
    ptrdiff_t pitch;
    float *x, *p, *q, *z;
    const float *p_above; /* of the row above, zeros in the first */
    const float *e_vertical, *e_horizontal;
    const float *expected, *expected_below; /* of which E is the difference, 0 beside NaN; in place of the two above */
    const float *mixture, *weight;          /* [photos]; weight NULL: all 1 */
    float *g;
    const float *correction; /* G, the V-cycle's answer to g */
    const float *jacobi;     /* the V-cycle's, which is less where the box binds */
    float *bar;              /* x + 2d */
    const float *bar_below;
    ptrdiff_t bar_pitch;
};

/* What weighs a pixel of a multigrid level, and what its four neighbours; the missing neighbour of an outer row is that
 * row itself. */
struct stencil {
    float keep, spread;
};

/* A row of PACTV (solve/pactv.c): z = (p,q) and the extrapolated z~. */
struct pactv_row {
    const float *d, *e_vertical, *e_horizontal;
    const float *p_tilde_above; /* zeros in the first row */
    float *p_tilde, *q_tilde, *p, *q;
    float *layer;
    const float *layer_below;
    float beta, step;
    float momentum; /* of the next extrapolation */
    float moved[KERNEL_GROUP],
        norm[KERNEL_GROUP]; /* squared change and squared norm of the row, by column modulo the group */
};

/* Where a pixel lies on a canvas (ops/warp.h). Fractions in 2^-15: 3e-5 px is a hundredth of the best alignment, and
 * both ends of [0,1] fit in 16 bits. */
#define WARP_FRACTION 0x1p-15f

struct warp_point {
    int32_t index;      /* upper left of the four samples: y * canvas_width + x; negative outside the canvas */
    uint32_t fractions; /* how far towards the right ones, in 2^-15; and 2^16 times how far towards the lower ones */
};

static inline float warp_right(struct warp_point point)
{
    return (float)(point.fractions & 0xffff) * WARP_FRACTION;
}

static inline float warp_down(struct warp_point point)
{
    return (float)(point.fractions >> 16) * WARP_FRACTION;
}

/* A row of a photo in the joint solve (solve/joint_apply.c), whose pixels and samples are COLOURS floats side by side
 * (base/colours.h). */
struct photo_row {
    int width;
    float a, b;
    const float *weight;             /* [width] */
    const struct warp_point *points; /* [width]; pixels outside the canvas, or of weight 0, do not count */
    ptrdiff_t right, down;           /* from a sample to its neighbours; 0 where the canvas is one wide or high */
    const float *p;                  /* [width] */
    float *q;
    ptrdiff_t offset; /* index of the sample where the canvas' part begins that is at hand */
    const float *canvas;
    float *strip;
};

/* Rows are passed as pointers of their own, up to eight parameters, where a struct would have to be filled anew for
 * every row. */
#define ESRA_KERNELS(KERNEL)                                                                                           \
    /* x += rho d, bar = x + 2d in columns first..end-1, multiples of KERNEL_GROUP. */                                 \
    KERNEL(primal, (const struct sweep *sweep, const struct sweep_row *row, int first, int end))                       \
    KERNEL(primal_weighted, (const struct sweep *sweep, const struct sweep_row *row, int first, int end))              \
    /* The duals u = (p,q) and z of all layers, after bar and bar_below are known. */                                  \
    KERNEL(dual, (const struct sweep *sweep, const struct sweep_row *row, int first, int end))                         \
    /* The same with E from what is expected. */                                                                       \
    KERNEL(dual_expected, (const struct sweep *sweep, const struct sweep_row *row, int first, int end))                \
    /* g from the duals. */                                                                                            \
    KERNEL(null, (const struct sweep *sweep, const struct sweep_row *row, int first, int end))                         \
    /* out = jacobi f. */                                                                                              \
    KERNEL(scale, (const float *jacobi, const float *f, float *out, int columns))                                      \
    /* out = keep f + spread (the neighbours of here); above, here and below are readable from -1 to columns. */       \
    KERNEL(residual, (struct stencil stencil, const float *f, const float *above, const float *here,                   \
                      const float *below, float *out, int columns))                                                    \
    /* out = keep here + jacobi (f + spread (its neighbours)). */                                                      \
    KERNEL(relax, (struct stencil stencil, const float *jacobi, const float *f, const float *above, const float *here, \
                   const float *below, float *out, int columns))                                                       \
    /* out[c] = 1/4 t[2c-1] + 3/4 (t[2c] + t[2c+1]) + 1/4 t[2c+2],                                                     \
     * t = 1/4 r0 + 3/4 (r1 + r2) + 1/4 r3: the adjoint of prolong, but for the borders. */                            \
    KERNEL(restrict_,                                                                                                  \
           (const float *r0, const float *r1, const float *r2, const float *r3, float *t, float *out, int columns))    \
    /* out = jacobi f + prolongation of the coarse rows near (3/4) and far (1/4), through t, a coarse row with its     \
     * padding; n is the coarse row's width, columns the fine row's. */                                                \
    KERNEL(prolong, (const float *jacobi, const float *f, const float *near_, const float *far_, float *t, float *out, \
                     int n, int columns))                                                                              \
    /* layer = clip(d - beta D'z~, 0, 1), and how far that is from what stood there. */                                \
    KERNEL(pactv_layer, (struct pactv_row * row, int columns))                                                         \
    /* The next z and z~ from the layer; those of p where there is a row below. */                                     \
    KERNEL(pactv_dual, (const struct pactv_row *row, int columns))                                                     \
    /* u = weight (a p + b S canvas), q += a u, strip += b S'u; S bilinear at the points. Every sample of the strip    \
     * gets its parts in the order of the pixels. No room past the row is touched. */                                  \
    KERNEL(photo, (const struct photo_row *row))

#define KERNEL(name, arguments) void(*name) arguments;
struct kernels {
    ESRA_KERNELS(KERNEL)
};
#undef KERNEL

/* The best kernels for a set of enum cpu_feature; with none, the C reference. */
void esra_kernels_fill(struct kernels *kernels, unsigned features);

#define KERNEL(name, arguments) void esra_##name##_c arguments;
ESRA_KERNELS(KERNEL)
#undef KERNEL

#endif
