/* base/linear.c - small dense symmetric systems by Cholesky's method. */
#include "base/linear.h"

#include <math.h>

/* A = L L', L in the lower half. */
static bool factor(double *a, int n)
{
    for (int j = 0; j < n; j++) {
        double whole = a[j * n + j], pivot = whole;
        for (int k = 0; k < j; k++)
            pivot -= a[j * n + k] * a[j * n + k];
        /* A pivot that has lost all but 1e-14 of itself is rounding error: the matrix is singular. */
        if (!(pivot > 1e-14 * whole))
            return false;
        a[j * n + j] = sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = sum / a[j * n + j];
        }
    }
    return true;
}

bool esra_linear_solve(double *matrix, double *x, int n)
{
    if (!factor(matrix, n))
        return false;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= matrix[i * n + k] * x[k];
        x[i] /= matrix[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= matrix[k * n + i] * x[k];
        x[i] /= matrix[i * n + i];
    }
    return true;
}
