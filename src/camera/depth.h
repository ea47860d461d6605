/* camera/depth.h - inverse depth of every pixel of the reference photo: multi-view stereo by a plane sweep over a list
 * of depths, the labels (Collins 1996), and semi-global matching (Hirschmueller 2008). */
#ifndef ESRA_CAMERA_DEPTH_H
#define ESRA_CAMERA_DEPTH_H

#include "camera/camera.h"
#include "camera/pair.h"

struct depth_options {
    int side_px; /* photos are reduced until no side is longer; 0: 700 */
    int labels;  /* at most so many depths are compared; 0: 96 for what is transmitted, 120 for what is reflected */
    double near, far; /* w: depths to look at, and hardly past them; both 0: the camera's */
    bool bare;        /* neither guard nor share explained are wanted, which take a sweep of their own */
};

struct depth {
    struct image inverse; /* w, the photos' size */
    struct image guard;   /* 0..1, the photos' size; transmitted alone: near steps of depth, where gradients that
                             some depth nearby explains must not be taken for the reflection's */
    struct image labels;  /* the label, in fractions, at the size compared */
    int count;            /* of the labels; label k stands for w = lowest + k step */
    double lowest, step;
    double explained; /* share of the reference's gradients that the other photos show in their place, 0..1 */
};

/* Depth of the scene behind the glass. The camera must have been found. */
esra_status esra_depth_transmitted(struct depth *depth, struct context *context, const struct camera *camera,
                                   const struct image *photos, const struct depth_options *options);

/* Of what the glass mirrors, from what photos hold beside T: rest[reference] = I - T, rest[n] = photo - a_n T seen from
 * there (esra_camera_unmap); values below -.05 count as that. Depths reach so far that places move by a fifth of the
 * width. */
esra_status esra_depth_reflected(struct depth *depth, struct context *context, const struct camera *camera,
                                 const struct image *rests, const struct depth_options *options);

/* Depths of both, where one is seen through the other: [PAIR_FARTHER] and [PAIR_NEARER], the same camera's. Which is
 * the scene they do not tell. Both are zeroed before; where it fails the caller frees what there is. */
esra_status esra_depth_pair(struct depth depths[PAIR_SURFACES], struct context *context, const struct camera *camera,
                            const struct image *photos);

/* Harmless on a zeroed one. */
void esra_depth_free(struct depth *depth);

#endif
