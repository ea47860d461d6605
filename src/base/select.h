/* base/select.h - order statistics. */
#ifndef ESRA_BASE_SELECT_H
#define ESRA_BASE_SELECT_H

#include <stddef.h>

struct weighted {
    float value, weight; /* weight >= 0 */
};

/* The value that `rank` of the others precede in order, rank < count; reorders the values, among which is no NaN. */
float esra_select_rank(float *values, size_t count, size_t rank);

/* The value with half of the weight on either side, or the mean of the two values between which half is reached; 0
 * where there is none. Sorts by insertion: for a few. */
float esra_weighted_median(struct weighted *values, int count);

/* Weight of a value 0 beside others of weights near 1, two of which may disagree: the median of two of one sign is then
 * the smaller, of two signs 0. Any weight does that which is more than the two differ by, and less than they have
 * together. */
#define TIE_BREAKER .5f

#endif
