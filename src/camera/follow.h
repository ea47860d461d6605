/* camera/follow.h - tracking points from one photo to others, to parts of a pixel (Lucas & Kanade 1981). */
#ifndef ESRA_CAMERA_FOLLOW_H
#define ESRA_CAMERA_FOLLOW_H

#include "camera/tracks.h"
#include "ops/pyramid.h"

/* Grey levels with FOLLOW_PAD pixels repeated around them, so that windows may reach past the border. */
#define FOLLOW_PAD 16

struct grey {
    struct image level[PYRAMID_LEVELS]; /* level[0] is the finest */
    int levels;
};

esra_status esra_grey_create(struct grey *grey, const struct pyramid *pyramid, struct message *message);

void esra_grey_free(struct grey *grey);

/* Corners are followed from here: a window of 21 pixels is then 672 wide. */
#define FOLLOW_COARSEST 5

/* Points to be tracked. In a photo where a feature has a match, tracking starts at that; a corner's starts at its place
 * in the reference. */
struct points {
    struct tracks *tracks;          /* in px of level 0; seen, before tracking: a match has given it */
    const struct grey *const *grey; /* [photos] */
    const int *level;               /* [tracks->count]: the coarsest level to track at; FOLLOW_COARSEST for corners */
};

/* Tracks the points from the reference to every photo, level by level down to 0, and back. One is seen where its window
 * has a corner, it does not leave the photo, and the way back ends where it began. */
esra_status esra_follow(const struct points *points, struct context *context);

#endif
