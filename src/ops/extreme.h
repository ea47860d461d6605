/* ops/extreme.h - the largest and the smallest sample in a square window: what morphology calls dilation and erosion.
 */
#ifndef ESRA_OPS_EXTREME_H
#define ESRA_OPS_EXTREME_H

#include "base/context.h"
#include "base/plane.h"

/* to = the largest sample of `from` within `reach` pixels along both axes, the border cutting the window off.
 * Both have the same size; they may be the same plane. scratch has their size too, its rows without gaps. */
void esra_largest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch);

void esra_smallest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch);

#endif
