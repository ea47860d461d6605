/* ops/poisson.h - least-squares integration of a gradient field: u = argmin |D u - (p,q)|^2, that is D'D u = D'(p,q),
 * by multigrid. D as in ops/diff.h. */
#ifndef ESRA_OPS_POISSON_H
#define ESRA_OPS_POISSON_H

#include "base/plane.h"

/* Floats that the solver needs beside u for an image of this size. */
size_t esra_poisson_scratch(int width, int height);

/* u gets nearer to the solution whose mean is zero: each V-cycle leaves about a tenth of the error, twelve what float32
 * can tell. p and q have u's size; none of the planes has gaps between its rows. */
void esra_poisson_improve(struct plane p, struct plane q, struct plane u, int cycles, float *scratch);

#endif
