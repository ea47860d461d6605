/* evidence/leave_out.h - the leave-one-out error of two layers, and the jackknife's variance of T.
 *
 * Layers that are right predict a photo that had no part in them: that is the leave-one-out error. And T solved without
 * photo j differs from T most where the photos do not determine it. The jackknife (Tukey 1958) turns these differences
 * into a variance, here scale by scale: layers that move d px apart do not determine waves much longer than d. */
#ifndef ESRA_EVIDENCE_LEAVE_OUT_H
#define ESRA_EVIDENCE_LEAVE_OUT_H

#include "solve/joint.h"

/* Photos are left out at a size whose sides are no longer: a solve takes a tenth of a second a photo there, and what is
 * in doubt is larger than a pixel of it. */
#define LEAVE_OUT_SIDE 400

struct leave_out_options {
    int reference;
    int halvings; /* solved so many times smaller, where sides are longer: a quarter of the work each time. Blur and
                     bands keep their size in the picture, but errors grow: comparable at one size only */
    bool alone;   /* the error of T alone is wanted */
    bool brief;   /* with less effort at the finest levels (joint.h): errors change by some percent */
    bool doubt;   /* what takes T by all photos is wanted: opposed gradients and doubt */
};

struct leave_out {
    double error; /* mean distance of colour gradients between a photo and its prediction by the layers of the others */
    double baseline; /* the same for the other photo most like it in the prediction's place; both NaN for two photos */
    double alone;    /* the same for T of the others without any R; NaN for two photos, or where it is not wanted */
    double opposed;  /* see opposed.h; NaN where it is not wanted */
    struct image doubt; /* owned, empty where it is not wanted; the part of the reflection that shrinkage takes off
                           (doubt.h): it belongs to T */
};

/* A photo whose confidence is 0 takes no part; the model's other confidences, and its E, which is made of all the
 * photos, are not used. */
esra_status esra_leave_out(struct context *context, const struct joint_photos *photos, const struct joint_model *model,
                           const struct leave_out_options *options, struct leave_out *result);

/* Harmless on a zeroed one. */
void esra_leave_out_free(struct leave_out *result);

#endif
