/* ops/poisson.h - least-squares integration of a gradient field: u = argmin |D u - (p,q)|^2, that is D'D u = D'(p,q),
 * by multigrid. D as in ops/diff.h. */
#ifndef ESRA_OPS_POISSON_H
#define ESRA_OPS_POISSON_H

#include "base/memory.h"
#include "base/plane.h"

/* Floats that the solver needs beside u for an image of this size. */
size_t esra_poisson_scratch(int width, int height);

/* u gets the solution whose mean is zero, exact to about 1e-5 of its range; what it held is where the cycles start. p
 * and q have u's size; none of the planes has gaps between its rows. */
void esra_poisson_solve(struct plane p, struct plane q, struct plane u, float *scratch);

/* The same with fewer or more cycles: each leaves about a tenth of the error. */
void esra_poisson_improve(struct plane p, struct plane q, struct plane u, int cycles, float *scratch);

#endif
