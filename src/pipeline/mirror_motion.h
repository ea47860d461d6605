/* pipeline/mirror_motion.h - one candidate for the reflection's motion where T moves by depth. */
#ifndef ESRA_PIPELINE_MIRROR_MOTION_H
#define ESRA_PIPELINE_MIRROR_MOTION_H

#include "pipeline/rests.h"

/* R's frame -> photo i, by a camera and depths or by homographies. */
struct mirror_motion {
    struct camera own;
    const struct camera *camera; /* NULL: homographies */
    struct depth depth;
    struct photo_motion *motions; /* [photos] */
    bool *lost;                   /* [photos]: those that take part, and in which it was not found; NULL: none */
};

static inline bool mirror_motion_found(const struct mirror_motion *motion)
{
    return (motion->camera && motion->depth.inverse.data) || motion->motions;
}

/* R's motion of that kind in the photos less T; empty where there is none, or where fewer than two photos besides the
 * reference have it. Only the kind SHARED can do without tracks. */
esra_status esra_mirror_motion_find(struct mirror_motion *motion, enum mirror_kind kind, const struct model *model,
                                    const struct rests *rests, struct context *context);

/* The share of sightings that the motion puts within limit_px of where they are. 0 where there is none of either. */
double esra_mirror_motion_explains(const struct mirror_motion *motion, const struct tracks *sightings, double limit_px);

/* `from` is empty afterwards. */
void esra_mirror_motion_move(struct mirror_motion *to, struct mirror_motion *from);

/* Harmless on a zeroed one. */
void esra_mirror_motion_free(struct mirror_motion *motion);

#endif
