/* ops/pyramid.h - an image at its own size, at half, at a quarter ..., made ready for estimating motion. */
#ifndef ESRA_OPS_PYRAMID_H
#define ESRA_OPS_PYRAMID_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

#define PYRAMID_LEVELS 12

/* An image with a shorter side holds too few gradients to tell a shift from chance. */
#define PYRAMID_SIDE_LEAST 16

struct pyramid {
    struct image level[PYRAMID_LEVELS]; /* level[0] is the finest */
    int levels;
    double scale; /* of level 0: its pixel (x, y) stands at (x, y)/scale in the image; a power of two, at most 1 */
};

/* Photos are aligned and tracked at up to this many pixels: 12 MP are halved once, to 3 MP, where a tenth of a pixel is
 * a fifth of one of the photo's. */
#define PYRAMID_BASE_PIXELS 3.2e6

struct pyramid_options {
    double most_pixels; /* level 0 is halved until it has no more */
    bool compress;      /* take square roots, which makes of linear light nearly the values photos are stored in */
};

/* At most three channels are taken. Levels end before a side falls under PYRAMID_SIDE_LEAST; there is at least one. */
esra_status esra_pyramid_create(struct pyramid *pyramid, struct context *context, const struct image *image,
                                const struct pyramid_options *options);

void esra_pyramid_free(struct pyramid *pyramid);

#endif
