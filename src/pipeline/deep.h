/* pipeline/deep.h - layers that are rigid scenes before one moving camera: every pixel of each has a depth. */
#ifndef ESRA_PIPELINE_DEEP_H
#define ESRA_PIPELINE_DEEP_H

#include "pipeline/model.h"

/* start: a model of the same scene found before, or NULL. A new one takes from it which kind of motion R has and which
 * surface the scene is; of the same size, the camera and the depths too, which are then taken out of it; of another
 * size, the gains, and the camera if it is one of these photos.
 *
 * The camera, the scene's depth, the photos warped by it with what each sees of the reference's frame, gains and
 * offsets. Photos whose pose was not found stay unaligned. */
esra_status esra_deep_align(struct model *model, const struct series *series, struct model *start, struct run *run);

/* The camera, or camera and depths, move from one model to another. */
void esra_deep_take_camera(struct model_depth *to, struct model_depth *from);
void esra_deep_take_scene(struct model_depth *to, struct model_depth *from);

/* R's maps, likewise. */
void esra_deep_take_maps(struct model *to, struct model *from);

/* Two surfaces before the camera of `one`, a model of the same photos: a start for esra_deep_align(), in which the
 * farther is the scene. */
esra_status esra_deep_find_pair(struct model *pair, const struct series *series, const struct model *one,
                                struct run *run);

/* The other surface of a pair is the scene: what was found with the first stays as it is. */
void esra_deep_exchange_surfaces(struct model *pair);

/* T's gradients by voting, then the reflection's depth and maps from what T leaves of the photos; follow: see
 * deep_mirror.h. */
esra_status esra_deep_find_reflection(struct model *model, const struct series *series, bool follow, struct run *run);

/* The roots of the same photos, with the motions of `known`, which are taken out of it, and T's gradients by voting. */
esra_status esra_deep_in_roots(struct model *model, const struct series *roots, struct model *known, struct run *run);

/* The same photos once more, up to R's motion: of whatever kind, and looked for in what the T of `known`, which is
 * solved, leaves of the photos. Camera and depths are taken out of `known`. */
esra_status esra_deep_look_again(struct model *model, const struct series *series, struct model *known,
                                 struct run *run);

/* How strong R is, and the photos' light where R is determined: what a solve for the layers begins with. R is held
 * towards zero, much more so where it is not determined. Frees what only led to the motions. */
esra_status esra_deep_prepare(struct model *model, bool determined, struct run *run);

/* T and R together, of a model that is prepared, unless it has them. */
esra_status esra_deep_solve(struct model *model, struct run *run);

/* `image`, in the reference frame, as photo i shows it; 0 where the reference does not reach. */
esra_status esra_deep_return(const struct model *model, int i, const struct image *image, struct image *own,
                             struct image *mask, struct context *context);

/* Where photo i has the scene's point at (x, y) of the reference; false where that is behind the camera. */
bool esra_deep_follow(const struct model *model, int i, int x, int y, double *u, double *v);

/* The median shift of a map of the model's size: for those who want one transform a photo. */
esra_status esra_deep_median_shift(const struct image *map, struct transform *shift, struct message *message);

#endif
