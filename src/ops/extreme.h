/* ops/extreme.h - the largest and the smallest sample in a square window: what morphology calls dilation and erosion;
 * and non-maximum suppression.
 */
#ifndef ESRA_OPS_EXTREME_H
#define ESRA_OPS_EXTREME_H

#include "base/context.h"
#include "base/plane.h"

/* to = the largest sample of `from` within `reach` pixels along both axes, the border cutting the window off.
 * Both have the same size; they may be the same plane. scratch has their size too, its rows without gaps. */
void esra_largest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch);

void esra_smallest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch);

/* Whether the sample at (x, y), at least `reach` px inside, is the largest of the square window around it. Of equal
 * ones it is the first. */
static inline bool plane_has_peak(struct plane plane, int x, int y, int reach)
{
    float here = plane_row(plane, y)[x];
    for (int j = -reach; j <= reach; j++)
        for (int i = -reach; i <= reach; i++) {
            float there = plane_row(plane, y + j)[x + i];
            if (there > here || (there == here && (j < 0 || (j == 0 && i < 0))))
                return false;
        }
    return true;
}

#endif
