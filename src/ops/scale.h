/* ops/scale.h - images of other sizes. The frame keeps its place: pixel x of `from` stands at (x + 1/2) s - 1/2 of
 * `to`, s the ratio of the sides. */
#ifndef ESRA_OPS_SCALE_H
#define ESRA_OPS_SCALE_H

#include "base/context.h"
#include "base/image.h"

/* The size of an image reduced until no side is longer than side_px. */
void esra_scale_sides(int width, int height, int side_px, int *to_width, int *to_height);

struct range {
    float lowest, highest;
};

/* to = the means of `from` over the areas of its pixels, each sample clipped to the range first (NaN: to the lowest).
 * At most three channels. No side of `to` is longer than from's. */
esra_status esra_scale_down(struct image *to, struct context *context, const struct image *from, int width, int height,
                            struct range range);

/* to = from, bilinear; one channel. */
void esra_scale_up(struct context *context, struct plane from, struct plane to);

#endif
