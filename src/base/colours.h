/* base/colours.h - the colours of one pixel side by side, four floats in one of the compiler's portable vectors. Where
 * an operator has one weight a pixel for all channels, as the joint solve has, this layout turns every random access
 * into one vector load, whatever the instruction set. Channels that an image does not have are zero, and every linear
 * operator keeps them so. */
#ifndef ESRA_BASE_COLOURS_H
#define ESRA_BASE_COLOURS_H

#include <stddef.h>

#include "base/image.h"

#define COLOURS 4

typedef float colours __attribute__((vector_size(COLOURS * sizeof(float))));

/* Compilers may not reorder sums of floats: this is the order. */
static inline float colours_sum(colours v)
{
    return (v[0] + v[1]) + (v[2] + v[3]);
}

/* Rows [begin, end) between an image of at most COLOURS channels and width x height pixels. */
static inline void colours_load(colours *to, const struct image *from, int begin, int end)
{
    size_t plane = image_pixels(from);
    for (size_t n = (size_t)begin * from->width; n < (size_t)end * from->width; n++)
        for (int c = 0; c < COLOURS; c++)
            to[n][c] = c < from->channels ? from->data[c * plane + n] : 0;
}

static inline void colours_store(const colours *from, struct image *to, int begin, int end)
{
    size_t plane = image_pixels(to);
    for (int c = 0; c < to->channels; c++)
        for (size_t n = (size_t)begin * to->width; n < (size_t)end * to->width; n++)
            to->data[c * plane + n] = from[n][c];
}

#endif
