/* align/refine.h - makes a transform exact: robust Gauss-Newton on gradient fields, coarse to fine. */
#ifndef ESRA_ALIGN_REFINE_H
#define ESRA_ALIGN_REFINE_H

#include "align/normal.h"
#include "ops/field.h"

struct refine_options {
    enum motion motion;
    int coarsest, finest; /* levels of the fields to pass through, coarsest >= finest >= 0; cut to those there are */
    int iterations;       /* at most, at each level */
    bool rough;           /* the start may be some px off: at the coarsest level, first a shift, then affine, then the whole
                             motion, with a wider cut-off. A good start would be drawn towards the other layer by it */
};

struct refined {
    double gain;  /* photo's gradients / reference's, over the pixels that moved as the transform says */
    double share; /* of the pixels seen by both that did */
};

/* Improves *transform (in coordinates of level 0). weights: NULL, or a plane of the size of the finest level passed
 * through, 0 for the reference's pixels to leave out. It keeps to the start where the equations give no answer. */
esra_status esra_refine(struct context *context, const struct fields *reference, const struct fields *photo,
                        const struct plane *weights, const struct refine_options *options, struct transform *transform,
                        struct refined *refined);

/* The same for a pair of images of the same size, whose gradients are taken after a blur of blur_px (.7 suits photos,
 * 1.2 to 1.5 reflections left over from a subtraction). Four levels; no compression, and what is below zero counts as zero. */
esra_status esra_refine_images(struct context *context, const struct image *reference, const struct image *photo,
                               const struct plane *weights, double blur_px, const struct refine_options *options,
                               struct transform *transform, struct refined *refined);

#endif
