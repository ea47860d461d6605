/* ops/enlarge.h - small images as large ones, by Lanczos-3: what ops/resample.h does through a scaling, which is done
 * along rows and columns one after the other. */
#ifndef ESRA_OPS_ENLARGE_H
#define ESRA_OPS_ENLARGE_H

#include "base/context.h"
#include "base/image.h"

/* to(x) = from(scale x) for every pixel x of `to`, which has from's channels; scale is 1/2 at most. Where a base is
 * given, of to's size, that is added to it and kept within [0,1]: to(x) = clip01(base(x) + from(scale x)); it may be
 * `to` itself. */
void esra_enlarge(struct context *context, const struct image *from, double scale, const esra_image *base,
                  const esra_image *to);

#endif
