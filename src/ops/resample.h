/* ops/resample.h - Lanczos-3 resampling of an image through a transform or a dense map: for estimation and for output.
 * Solvers use the bilinear warp, whose adjoint is exact; this one keeps what bilinear interpolation blurs away, on
 * which the ratio of gradients depends (gradients/mixing.h). */
#ifndef ESRA_OPS_RESAMPLE_H
#define ESRA_OPS_RESAMPLE_H

#include "base/context.h"
#include "base/image.h"
#include "base/transform.h"

/* to(x) = from(t x) for every pixel x of `to`, which has from's channels and any size. Where t x lies outside `from`
 * the nearest border samples are taken; past the horizon 0. mask (to's size), where its data is not NULL, becomes 1
 * where t x lies inside `from`, 0 elsewhere. */
void esra_resample(struct context *context, const struct image *from, const struct transform *t, const struct image *to,
                   struct plane mask);

/* The same through a dense map of to's size: channel 0 says in which column of `from` a pixel lies, channel 1 in which
 * row; pixels whose position is not finite become 0. */
void esra_resample_map(struct context *context, const struct image *from, const struct image *map,
                       const struct image *to, struct plane mask);

#endif
