/* ops/map.h - dense maps: an image of two channels, the column and the row at which a pixel of one frame is found in
 * another. Pixel centres are whole numbers. */
#ifndef ESRA_OPS_MAP_H
#define ESRA_OPS_MAP_H

#include "base/context.h"
#include "base/image.h"

/* A map known on a rectangle whose first sample is pixel (left, top) of its frame. Beyond the rectangle pixels are
 * moved as the nearest one inside is. */
struct placed_map {
    const struct image *map;
    int left, top;
};

/* out(x) = y with map(y) = target(x), for every pixel x of `out`; target NULL: map(y) = x, the inverse. Where the map
 * folds, as behind the edge of something near, there may be two such y or none: `met` (out's size; data NULL: not
 * asked for) becomes 1 where y was found to a quarter of a pixel, and 0 where out is only the nearest that was seen. */
void esra_map_meet(struct context *context, const struct image *target, const struct placed_map *map,
                   const struct image *out, struct plane met);

#endif
