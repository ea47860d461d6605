/* solve/balance.h - how far should the fast engine's steps go in the primal, how far in the duals?
 *
 * Of the distance from the optimum that a primal-dual method proves after k iterations, the gradient term's part is
 * (r1 |dx|_B^2 + lambda^2 |du|^2/r1)/k, with dx and du the way from where it began to the solution and r1 B that term's
 * part of the metric M of solve/fast.c: B is D'D along c and 8 across it. It is least at
 *
 *     r1 = lambda |du|/|dx|_B,
 *
 * and the way gone since the level began stands for the way to go, on a sample of rows. For the box, which few pixels
 * touch and late, that way is too short to go by; there the way of a single iteration tells whether z, whose r2 would
 * be |dz|/|dx| alike, lags behind x.
 *
 * Of the same distance the bound has the first part, which grows with r1, and the layers the second: at the end, where
 * the layers are good enough, a smaller r1 closes the gap sooner. The gap itself says when that has gone too far: its
 * slack, |D L - E| - u (D L - E), is of duals that have not come as far as the differences that they belong to, which
 * takes them the longer the smaller r1 is; the rest, forces that pixels do not balance, grows with r1. */
#ifndef ESRA_SOLVE_BALANCE_H
#define ESRA_SOLVE_BALANCE_H

#include "solve/fast_level.h"

struct steps {
    double r1;
    double box;  /* r2 over r1 where the box binds */
    double gain; /* r1 over the quotient of the ways */
};

struct balance {
    bool given;            /* the caller gave the start: the distance from it does not tell the scales of x and u */
    double slack;          /* share of the gap that is slack; 0: not known */
    bool ending;           /* the gap asked for is near, and what is left of it is mostly the bound's */
    float *start, *before; /* in the arena: x, p, q, z of the sampled rows */
};

void esra_balance_lay_out(struct balance *balance, struct arena *arena, const struct level *largest);

/* Remembers the level's state: where it starts with steps `now`, and where it is before one iteration. */
struct steps esra_balance_start(const struct balance *balance, const struct level *level, struct steps now);
void esra_balance_before(const struct balance *balance, const struct level *level);

/* Better steps than `now`, after that iteration; null = -c/|c|^2. late: rounding is all that is left. */
struct steps esra_balance_steps(const struct balance *balance, const struct level *level, const float *null,
                                struct steps now, bool late);

#endif
