/* camera/blocks.h - where photos show what a block of the reference shows, by normalised cross-correlation: for layers
 * too faint, too blurred or too much mixed with others for features. */
#ifndef ESRA_CAMERA_BLOCKS_H
#define ESRA_CAMERA_BLOCKS_H

#include "camera/tracks.h"

/* Blocks are matched where no side is longer. */
#define BLOCKS_SIDE_PX 400
/* The square that is matched, there. */
#define BLOCK_PX 48

struct blocks_options {
    const struct image *seen;  /* [photos], one channel, 0..1: where a photo is known; the photos' size, or reduced to
                                  BLOCKS_SIDE_PX as they will be */
    const struct image *still; /* [photos]: maps from the reference, as camera/camera.h has them, by which another layer
                                  moves: a block is not matched to where that has it */
};

/* One track a block, from its middle to where photos were matched to it. The size of the blocks is that of the photos
 * over BLOCKS_SIDE_PX. There may be none. */
esra_status esra_blocks_find(struct tracks *tracks, struct context *context, const struct image *photos, int count,
                             int reference, const struct blocks_options *options);

#endif
