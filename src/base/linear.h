/* base/linear.h - small dense symmetric systems. */
#ifndef ESRA_BASE_LINEAR_H
#define ESRA_BASE_LINEAR_H

#include <stdbool.h>

/* Replaces x by the solution of matrix x = x, by Cholesky's factors, which overwrite the matrix (n x n, symmetric).
 * False where it is not positive definite to working precision. */
bool esra_linear_solve(double *matrix, double *x, int n);

#endif
