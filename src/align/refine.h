/* align/refine.h - makes a transform exact: robust Gauss-Newton on gradient fields, coarse to fine. */
#ifndef ESRA_ALIGN_REFINE_H
#define ESRA_ALIGN_REFINE_H

#include "align/normal.h"
#include "ops/field.h"

struct refine_options {
    enum motion motion;
    int coarsest, finest; /* levels of the fields to pass through, coarsest >= finest >= 0; cut to those there are */
    int iterations;       /* at most, at each level */
    bool rough; /* the start may be some px off: at the coarsest level, first a shift, then affine, then the whole
                   motion. From a good start a shift alone would be drawn towards the other layer */
    const struct plane
        *weights;   /* NULL, or of the size of the finest level: 0 where the reference's pixel is left out */
    double blur_px; /* esra_refine_images() takes gradients after this blur: .7 suits photos, 1.2 to 1.5 reflections
                       left over from a subtraction */
};

struct refined {
    double gain; /* photo's gradients / reference's, over the pixels seen by both */
};

/* Improves *transform (in coordinates of level 0). It stays at the start where the equations are singular. */
esra_status esra_refine(struct context *context, const struct fields *reference, const struct fields *photo,
                        const struct refine_options *options, struct transform *transform, struct refined *refined);

/* The same for a pair of images of one size. Samples are not compressed; negative ones count as zero. */
esra_status esra_refine_images(struct context *context, const struct image *reference, const struct image *photo,
                               const struct refine_options *options, struct transform *transform,
                               struct refined *refined);

#endif
