/* solve/pactv.h - PACTV: the proximal step of ESRA, one layer at a time (paper, section 2). */
#ifndef ESRA_SOLVE_PACTV_H
#define ESRA_SOLVE_PACTV_H

#include <stdbool.h>

#include "base/plane.h"
#include "kernels/kernels.h"

/* min over 0 <= L <= 1 of 1/2 |L - d|^2 + beta |D L - E|_1. All planes have one size, and rows with the room and
 * paddings of kernels/kernels.h, which hold zeros; p, q and the gradients are laid out as in ops/diff.h. */
struct pactv {
    struct plane d;
    struct plane e_vertical, e_horizontal; /* E_1, E_2 */
    float beta;

    struct plane layer;            /* out: L */
    struct plane p, q;             /* out: the dual solution; in: where to start, with warm_start */
    struct plane p_tilde, q_tilde; /* scratch: the extrapolated duals */
    const float *zeros;            /* a row of them, with its paddings */
    const struct kernels *kernels;

    bool warm_start;
    bool restart; /* drop the momentum where it leads uphill */
    double tolerance;
    int max_iterations;

    /* Called between iterations; true ends the work early with the last iterate. May be NULL. */
    bool (*interrupted)(void *context);
    void *context;
};

/* Returns the number of iterations made. */
int esra_pactv_solve(struct pactv *prox);

#endif
