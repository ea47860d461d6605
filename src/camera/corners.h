/* camera/corners.h - corners of a photo, which can be tracked. */
#ifndef ESRA_CAMERA_CORNERS_H
#define ESRA_CAMERA_CORNERS_H

#include "ops/pyramid.h"

struct corner {
    float x, y; /* px of level 0 */
    float strength;
};

/* The strongest corners of a grey pyramid, strongest first, no two of them near one another; *count of them, `most` at
 * most. *corners is the caller's to release. */
esra_status esra_corners_find(struct corner **corners, int *count, int most, struct context *context,
                              const struct pyramid *pyramid);

#endif
