/* pipeline/flat.h - layers that move by homographies. */
#ifndef ESRA_PIPELINE_FLAT_H
#define ESRA_PIPELINE_FLAT_H

#include "pipeline/model.h"

/* T's motion, found or given, the photos in the reference's frame, and a_i. */
esra_status esra_flat_align(struct model *model, const struct series *series, struct run *run);

/* R's motion: candidates of every photo, ranked by the joint objective. */
esra_status esra_flat_find_reflection(struct model *model, struct run *run);

/* T and R together, then rounds, each of which makes motions and gains exact and solves again. `small`, or NULL: the
 * model of smaller photos, which has made its rounds and whose layers are the start. */
esra_status esra_flat_solve(struct model *model, const struct series *series, struct model *small, struct run *run);

/* What was found to be the reflection becomes the scene, and is solved for as such. */
esra_status esra_flat_exchange(struct model *model, const struct series *series, struct run *run);

/* The model of small photos taken to the size of the series, and solved there. */
esra_status esra_flat_enlarge(struct model *model, const struct series *series, struct model *small, struct run *run);

/* Warps the photos into the reference's frame. A photo that is not aligned sees nothing: its mask is 0 everywhere. */
esra_status esra_flat_warp(struct model *model, const struct series *series, struct run *run);

/* After esra_model_park(): photos and joint solution as they were. */
esra_status esra_flat_unpark(struct model *model, const struct series *series, struct run *run);

/* How freely layers may move, as the caller wishes. */
enum motion esra_flat_motion(const esra_photos *input);

#endif
