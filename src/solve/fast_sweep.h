/* solve/fast_sweep.h - one iteration of the fast engine over a level, in blocks of rows. */
#ifndef ESRA_SOLVE_FAST_SWEEP_H
#define ESRA_SOLVE_FAST_SWEEP_H

#include "solve/balance.h"
#include "solve/vcycle.h"

struct sweeper {
    const struct kernels *kernels;
    struct context *context;
    const struct level *level;
    struct sweep constants;
    float bound_r2; /* r2 where the box binds */
    struct vcycle vcycle;

    /* In the arena, for the largest level. */
    ptrdiff_t bar_pitch;
    float *zeros;    /* stands for p above the first row */
    float *seams;    /* [blocks][2]: bar of a block's first and last row */
    float *scratch;  /* [threads]: bar of two rows, and a row of G */
    float *a, *null; /* the constants' coefficients */
};

void esra_sweeper_lay_out(struct sweeper *sweeper, struct arena *arena, const struct level *largest, int threads);

/* To be called once the arena is placed: clears the buffers that must be zero, and copies a_i. */
void esra_sweeper_begin(struct sweeper *sweeper, const struct problem *problem);

/* From now on works on this level, halved `halvings` times, with these steps and relaxation rho. Where the box binds it
 * sees now. */
void esra_sweeper_set(struct sweeper *sweeper, const struct level *level, int halvings, struct steps steps, double rho);

/* g from the duals as they are: before the first iteration on a level. */
void esra_sweeper_gather(struct sweeper *sweeper);

/* One iteration. */
void esra_sweeper_run(struct sweeper *sweeper);

#endif
