/* solve/vcycle.h - one multigrid V-cycle for (r1 D'D + r2) G = g on a single plane, g's own grid being level 0. r2 is a
 * number at each pixel.
 *
 * V(1,1) with damped Jacobi on the diagonal 4 r1 + r2, bilinear cell-centred prolongation P, restriction P', and coarse
 * operators discretised anew. The engine needs that the cycle never exceeds the inverse it stands for: I - B A is then
 * positive semi-definite, which holds because each coarse operator dominates P'AP and every smoother is applied an even
 * number of times in all. */
#ifndef ESRA_SOLVE_VCYCLE_H
#define ESRA_SOLVE_VCYCLE_H

#include <stdbool.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/plane.h"
#include "kernels/kernels.h"

/* Halving 2^31 this often leaves one pixel. */
#define VCYCLE_LEVELS 33

struct vlevel {
    struct plane f, e;   /* right side and answer */
    struct plane jacobi; /* the damped inverse of the diagonal */
    double r1;
    struct stencil stencil;
};

struct vcycle {
    const struct kernels *kernels;
    struct context *context;
    struct plane f[VCYCLE_LEVELS], e[VCYCLE_LEVELS]; /* storage by size; entry 0 has none */
    struct plane jacobi[VCYCLE_LEVELS];              /* likewise, of the largest size too */
    float *scratch;                                  /* [threads], rows of scratch_row floats */
    size_t scratch_row;
    int depth; /* levels in use */
    struct vlevel level[VCYCLE_LEVELS];
};

/* Takes what width x height and coarser grids need. */
void esra_vcycle_lay_out(struct vcycle *v, struct arena *arena, int width, int height, int threads);

/* Clears the storage, paddings included. */
void esra_vcycle_clear(struct vcycle *v);

/* Solves from now on for g, a grid that is the original halved `halvings` times, and r2 no less than `least`: the
 * caller puts r2 into level[0].jacobi, and esra_vcycle_take() makes of it what the cycle needs. */
void esra_vcycle_set(struct vcycle *v, struct plane g, int halvings, double r1, double least);
void esra_vcycle_take(struct vcycle *v);

/* What stands for r2 in level[0].jacobi then. */
float esra_vcycle_jacobi(double r1, float r2);

/* Everything of the cycle but the last smoothing on level 0. */
void esra_vcycle_run(struct vcycle *v);

/* The last smoothing, row by row: esra_vring_begin() before row `first`, then esra_vring_next() for each row from there
 * on gives G in *out, whose padding stays zero. */
struct vring {
    const struct vcycle *v;
    int level;
    float *rows[3], *t;
};

void esra_vring_begin(struct vring *ring, const struct vcycle *v, int level, int worker, int first);
void esra_vring_next(struct vring *ring, int y, float *out);

#endif
