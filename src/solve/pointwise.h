/* solve/pointwise.h - the exact solution where the gradient term is negligible: each pixel by itself. */
#ifndef ESRA_SOLVE_POINTWISE_H
#define ESRA_SOLVE_POINTWISE_H

#include "solve/fast_level.h"

/* Row y of x = argmin over 0 <= x <= 1 of 1/2 sum_i w_i (I_i - a_i x_0 - x_i)^2. */
void esra_pointwise_row(const struct level *level, const struct problem *problem, int y);

#endif
