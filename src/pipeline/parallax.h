/* pipeline/parallax.h - the way by depth: what is behind the glass and what it mirrors are two rigid scenes seen by one
 * moving camera, so that motions are dense maps that follow from inverse depths. Its steps stand in for those of
 * motion.c and rounds.c. */
#ifndef ESRA_PIPELINE_PARALLAX_H
#define ESRA_PIPELINE_PARALLAX_H

#include "camera/depth.h"
#include "gradients/agreement.h"
#include "pipeline/pipeline.h"

/* What the steps hand on to one another beside the pipeline's own; arrays have one entry a photo. */
struct parallax {
    struct camera camera;
    struct depth scene, mirrored; /* inverse depths behind the glass, and in it */
    struct image *still;          /* reference px -> photo px of the scene */
    struct image *mirror;         /* g_i: reference px -> px of the reflection's frame */
    double (*offset)[3];          /* what photo i lacks in each channel against the reference, divided by a_i; it has
                                     been added to p->aligned */
    struct agreement agreement;   /* the scene's gradients, by voting */
    struct image voted;           /* the scene, integrated from them */
};

/* The camera, the scene's depth, and the photos in the reference frame with what each sees of it. Photos whose camera
 * was not found stay unaligned. */
esra_status esra_parallax_find_camera(struct pipeline *p);

/* Offsets, after p->mixing is known. */
esra_status esra_parallax_level(struct pipeline *p);

/* The scene by voting. */
esra_status esra_parallax_vote(struct pipeline *p);

/* The reflection's depth and maps, from what the scene leaves of the photos. */
esra_status esra_parallax_find_reflection(struct pipeline *p);

/* Both layers together: p->joint. */
esra_status esra_parallax_solve_jointly(struct pipeline *p);

/* `image`, in the reference frame, as photo i shows it; 0 where the reference does not reach. */
esra_status esra_parallax_return(struct pipeline *p, int i, const struct image *image, struct image *own,
                                 struct image *mask);

/* The median shift of a map: for those who want one transform a photo. */
esra_status esra_parallax_shift(const struct pipeline *p, const struct image *map, struct transform *shift);

/* Frees what only led to the layers: what is left brings them back into their photos. */
void esra_parallax_trim(struct parallax *parallax, int photos);

/* Frees the roots of the photos, but for the reference's: it is given back where there are no layers. */
void esra_parallax_forget_roots(struct pipeline *p);

/* Frees *parallax and sets it to NULL; NULL is fine. */
void esra_parallax_free(struct parallax **parallax, int photos);

#endif
