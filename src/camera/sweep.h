/* camera/sweep.h - plane sweep: the cost volume of the photos against the reference, over a list of depths. */
#ifndef ESRA_CAMERA_SWEEP_H
#define ESRA_CAMERA_SWEEP_H

#include <stdint.h>

#include "camera/camera.h"
#include "ops/field.h"

/* More photos take time and add no information; those with most tracks are compared. */
#define SWEEP_PHOTOS 15
/* A cost of `truncate`, the largest, in the volume. */
#define SWEEP_WHOLE 250
/* Labels are filled up to a multiple of this, for whole vectors. */
#define SWEEP_ALIGN 16

struct sweep_options {
    int side_px, labels_most;
    double near, far;   /* depths of the scene */
    double reach;       /* depths compared reach past them by this share of the width ... */
    double margin;      /* ... and by this share of their range */
    double labels_a_px; /* as many labels to a px of motion, in the photo that moves most */
    double truncate;    /* differences of gradients, summed over colours and axes, count no more than this */
    int window;         /* differences are averaged over pixels this far to each side */
};

struct sweep {
    const struct camera *camera;
    const struct image *photos;            /* borrowed */
    struct image reference;                /* reduced; the guide for smoothing */
    struct field fields[SWEEP_PHOTOS + 1]; /* [0]: the reference's */
    int photo[SWEEP_PHOTOS + 1];           /* which photo each is of */
    int count;                             /* of the fields */
    int width, height, labels, padded;
    double lowest, step; /* label k: w = lowest + k step */
    struct plane base;   /* added to every label of a pixel, in labels; data NULL: nothing is */
    struct sweep_options options;
};

/* Reduces the photos, which must stay, and takes their gradients; samples are brought into 0..1. */
esra_status esra_sweep_create(struct sweep *sweep, struct context *context, const struct camera *camera,
                              const struct image *photos, const struct sweep_options *options);

/* From the list of depths to one of depths near each pixel's own: from a label below to one above, in so many parts.
 * fine gets parts * own, and is kept by the sweep. */
void esra_sweep_refine(struct sweep *sweep, struct plane own, struct plane fine, int parts);

/* Forgets the gradients, and takes them again: they need more memory than anything else but the volume. */
void esra_sweep_unload(struct sweep *sweep);
esra_status esra_sweep_load(struct sweep *sweep, struct context *context);

void esra_sweep_free(struct sweep *sweep);

/* The cost volume: volume[(y * width + x) * padded + k] = the cost of label k, 0..SWEEP_WHOLE; 255 past the last label.
 */
esra_status esra_sweep_costs(const struct sweep *sweep, struct context *context, uint8_t *volume);

/* Planes of the sweep's size. Shares of the reference's gradients, in a window of 2 px, that labels leave unexplained.
 */
struct unexplained {
    struct plane low, high; /* labels to look at, fractions inside */
    struct plane at;        /* a label among them */
    struct plane least;     /* to be filled: the share that the best label leaves */
    struct plane here;      /* to be filled: that of the label nearest to `at` */
};

esra_status esra_sweep_unexplained(const struct sweep *sweep, struct context *context,
                                   const struct unexplained *planes);

/* to = |gradients| of the reference, summed over colours and axes. */
void esra_sweep_strength(const struct sweep *sweep, struct plane to);

#endif
