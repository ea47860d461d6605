/* ops/extreme.h - the largest and the smallest sample in a square window: what morphology calls dilation and erosion.
 */
#ifndef ESRA_OPS_EXTREME_H
#define ESRA_OPS_EXTREME_H

#include "base/plane.h"
#include "base/pool.h"

/* to = the largest sample of `from` within `reach` pixels along both axes, what lies beyond the border not counting.
 * Both have the same size; they may be the same plane. scratch has their size too, its rows without gaps. */
void esra_largest(struct pool *pool, struct plane from, struct plane to, int reach, struct plane scratch);

void esra_smallest(struct pool *pool, struct plane from, struct plane to, int reach, struct plane scratch);

#endif
