/* base/random.h - seeded random numbers, the same on every machine: splitmix64 (Steele, Lea & Flood 2014). */
#ifndef ESRA_BASE_RANDOM_H
#define ESRA_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in 0..count-1; the bias of 2^-32 count is of no concern for sampling. */
static inline int random_below(uint64_t *state, int count)
{
    return (int)((random_bits(state) >> 32) * (uint64_t)count >> 32);
}

#endif
