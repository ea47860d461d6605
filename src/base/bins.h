/* base/bins.h - histograms of positive floats over their whole range: their order is that of their bits, and the upper
 * half of these, exponent and seven bits of mantissa, numbers bins that are at most 1 % wide. */
#ifndef ESRA_BASE_BINS_H
#define ESRA_BASE_BINS_H

#include <stdint.h>
#include <string.h>

#define BINS 32768

static inline int bins_number(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 16 & (BINS - 1));
}

/* The middle of a bin. */
static inline float bins_value(int bin)
{
    uint32_t bits = (uint32_t)bin << 16 | 0x8000;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
