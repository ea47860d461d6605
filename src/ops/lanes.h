/* ops/lanes.h - the colours of one pixel side by side in a vector of four floats. Where an operator has one weight a
 * pixel for all channels, as the joint solve has, this layout turns every random access into one vector load, whatever
 * the instruction set: the compiler's portable vectors are enough. Channels that an image does not have are zero, and
 * every linear operator keeps them so. */
#ifndef ESRA_OPS_LANES_H
#define ESRA_OPS_LANES_H

#include <stddef.h>

#include "base/image.h"

#define LANES 4

typedef float lanes __attribute__((vector_size(LANES * sizeof(float))));

static inline float lanes_sum(lanes v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* Rows [begin, end) of width x height lanes into an image of at most LANES channels. */
static inline void lanes_store(const lanes *from, struct image *to, int begin, int end)
{
    size_t plane = (size_t)to->width * (size_t)to->height;
    for (int c = 0; c < to->channels; c++)
        for (size_t n = (size_t)begin * to->width; n < (size_t)end * to->width; n++)
            to->data[c * plane + n] = from[n][c];
}

#endif
