/* tests/ops/vectors.h - arrays as planes and as vectors. */
#ifndef ESRA_TESTS_OPS_VECTORS_H
#define ESRA_TESTS_OPS_VECTORS_H

#include "base/plane.h"

static inline struct plane plane(float *data, int width, int height)
{
    return (struct plane){data, width, height, width};
}

static inline double dot(const float *x, const float *y, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += (double)x[k] * y[k];
    return sum;
}

#endif
