/* camera/follow.h - tracking a point from one photo to another, to parts of a pixel (Lucas & Kanade 1981). */
#ifndef ESRA_CAMERA_FOLLOW_H
#define ESRA_CAMERA_FOLLOW_H

#include "ops/pyramid.h"

/* Grey levels with FOLLOW_PAD pixels repeated around them, so that windows may reach past the border. */
#define FOLLOW_PAD 16

struct grey {
    struct image level[PYRAMID_LEVELS]; /* level[0] is the finest */
    int levels;
};

esra_status esra_grey_create(struct grey *grey, const struct pyramid *pyramid, struct message *message);

void esra_grey_free(struct grey *grey);

/* (*u, *v) <- where `to` shows what `from` shows at (x, y), px of level 0: from level `coarsest` down to level 0,
 * starting at (*u, *v). False where the window has no corner or the point leaves the photo. Seven parameters: two of
 * them points. */
bool esra_follow(const struct grey *from, const struct grey *to, double x, double y, int coarsest, double *u,
                 double *v);

#endif
