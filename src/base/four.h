/* base/four.h - four pixels beside one another, for loops that a compiler does not make vectors of because every pixel
 * goes its own number of steps, or looks something up on the way. The compiler's portable vectors: the same operations
 * in the same order on every instruction set. They are handed over by reference: how else depends on the instruction
 * set. */
#ifndef ESRA_BASE_FOUR_H
#define ESRA_BASE_FOUR_H

#include <stdint.h>

#define FOUR 4

typedef double four __attribute__((vector_size(FOUR * sizeof(double))));
typedef float four_floats __attribute__((vector_size(FOUR * sizeof(float))));
typedef int32_t four_whole __attribute__((vector_size(FOUR * sizeof(int32_t))));
/* All bits of a lane, or none: what comparisons give. */
typedef int64_t four_bits __attribute__((vector_size(FOUR * sizeof(int64_t))));

/* a where the mask is set, b elsewhere. */
#define four_select(mask, a, b) ((four)(((four_bits)(a) & (mask)) | ((four_bits)(b) & ~(mask))))

/* 0 <= value <= most; 0 of what is no number. */
static inline void four_clamp(four *value, double most)
{
    const four limit = {most, most, most, most};
    *value = four_select(*value > 0, four_select(*value < most, *value, limit), (four){0});
}

static inline int four_any(const four_bits *mask)
{
    return ((*mask)[0] | (*mask)[1] | (*mask)[2] | (*mask)[3]) != 0;
}

#endif
