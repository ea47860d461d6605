/* ops/lanczos.h - one axis of Lanczos-3: from(u) = sum_j w(u - j) from(j), w(s) = sinc(s) sinc(s/3) for |s| < 3, the
 * six weights scaled to sum to one so that constants stay. */
#ifndef ESRA_OPS_LANCZOS_H
#define ESRA_OPS_LANCZOS_H

#include <math.h>
#include <stdbool.h>

#include "base/context.h"

/* weights[p] are those of the samples at floor(u) - 2 .. floor(u) + 3 for u - floor(u) = p/LANCZOS_PHASES. Positions
 * are rounded to 1/2048 px: at the steepest edge, one full step a pixel, an error of 1/4096, the step of 12-bit
 * samples. The context keeps them. */
typedef float lanczos_weights[LANCZOS_TAPS];
const lanczos_weights *esra_lanczos_weights(struct context *context);

/* Where an axis is sampled: six indices kept inside 0..size-1, and their weights. */
struct taps {
    int index[LANCZOS_TAPS];
    const float *weight;
    bool inside; /* the whole support lies inside */
};

static inline struct taps taps_at(const lanczos_weights *weights, double position, int size)
{
    struct taps taps;
    position = fmin(fmax(position, 0), size - 1);
    int first = (int)position;
    taps.weight = weights[(int)((position - first) * LANCZOS_PHASES + .5)];
    taps.inside = first >= 2 && first + 3 < size;
    for (int tap = 0; tap < LANCZOS_TAPS; tap++) {
        int index = first - 2 + tap;
        taps.index[tap] = index < 0 ? 0 : index >= size ? size - 1 : index;
    }
    return taps;
}

/* The sum along a row. */
static inline float taps_sum(const struct taps *taps, const float *row)
{
    float sum = 0;
    if (taps->inside)
        for (int i = 0; i < LANCZOS_TAPS; i++)
            sum += taps->weight[i] * row[taps->index[0] + i];
    else
        for (int i = 0; i < LANCZOS_TAPS; i++)
            sum += taps->weight[i] * row[taps->index[i]];
    return sum;
}

#endif
