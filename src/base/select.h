/* base/select.h - order statistics. */
#ifndef ESRA_BASE_SELECT_H
#define ESRA_BASE_SELECT_H

#include <stddef.h>

/* The value that `rank` of the others precede in order, rank < count; reorders the values, among which is no NaN. */
float esra_select_rank(float *values, size_t count, size_t rank);

#endif
