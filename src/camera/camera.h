/* camera/camera.h - one pinhole camera with radial distortion that moves before a rigid scene: its pose in every photo,
 * and the projection of a point of the reference photo into another one.
 *
 * A point at (x, y) of the reference with inverse depth w is seen in photo i at x_i,
 *
 *     q = (x - c)/f,   q~ = q (1 - k1 |q|^2),   Y = R_i (q~, 1) + w t_i,
 *     p = (Y_1, Y_2)/Y_3,                       x_i = c + f p (1 + k1 |p|^2),
 *
 * f being the focal length, c the principal point, k1 the distortion, R_i and t_i the pose. w is larger the nearer the
 * point; its unit is the scene's (tracks lie around 1). The scene behind the glass and the mirrored one are both rigid
 * and seen by this one camera: they share R_i and t_i and differ in w alone, the mirror image standing behind the
 * glass.
 *
 * Photos are planar, of one size, one to three channels looked at, and taken as they are: thresholds are made for
 * stored (gamma) values of 0..1. */
#ifndef ESRA_CAMERA_CAMERA_H
#define ESRA_CAMERA_CAMERA_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

struct pose {
    double r[9]; /* rotation matrix R_i, row by row */
    double t[3]; /* t_i */
    int tracks;  /* inliers seen in this photo; with fewer than tracks_least (thresholds.def) the pose is unreliable */
};

/* The range of depths leaves out one track in so many at either end: quantiles of 1 % and 99 %. */
#define DEPTH_TAIL 100

/* Depths that belong together: tracks between which there is no gap. */
struct depth_group {
    double near, far; /* w: the highest and the lowest but the tails */
    int tracks;
    double explained; /* share of the reference's gradients that photos show at these depths; 0: there is one group */
    double mixed;     /* share of foreign neighbours of its tracks: 0 beside those of group 0, .5 spread among them */
};

#define CAMERA_GROUPS 4

struct camera {
    int photos, reference, width, height;
    double focal_px, k1, cx, cy;
    struct pose *pose; /* [photos], owned; the reference's is the identity */
    bool found;        /* else there were too few tracks: every pose is the identity, and w is undefined */
    int tracks;        /* that fit */
    double error_px;   /* median reprojection error of the tracks */
    /* Residual parallax: median distance in px of tracks from the homography that fits them best, photo by photo. Where
     * it is not clearly above error_px, depth is not determined and a homography is enough. */
    double parallax_px;
    /* Radial distortion that would explain most of the parallax by itself, without any depth: what the photos show at
     * q, half the longer side being 1, a lens without distortion would show at q (1 - bend |q|^2). 0 where none does.
     * k1 cannot tell: in bundle adjustment depth can take the place of distortion. */
    double bend;
    /* T and R may both have tracks. Group 0 explains most; a group whose tracks lie beside its own is taken for another
     * object of the same scene, one whose tracks lie among them for the other layer. near, far: w of group 0 and of the
     * groups of its scene. */
    double near, far;
    int groups;
    struct depth_group group[CAMERA_GROUPS];
};

/* Tracks, bundle adjustment, groups of depths. Where too few tracks are found `found` is false: that is no error. Two
 * photos are enough, but errors of tracks along their epipolar lines then go into w unnoticed. */
esra_status esra_camera_find(struct camera *camera, struct context *context, const struct image *photos, int count,
                             int reference);

struct tracks;

/* The same of tracks that are known. */
esra_status esra_camera_of_tracks(struct camera *camera, struct context *context, const struct image *photos,
                                  const struct tracks *tracks);

esra_status esra_camera_copy(struct camera *to, const struct camera *from, struct message *message);

/* The camera of the same photos in another size. */
void esra_camera_resize(struct camera *camera, int width, int height);

/* Harmless on a zeroed one. */
void esra_camera_free(struct camera *camera);

/* An inverse depth image may lie on a canvas that reaches past the reference photo: its pixel (x, y) is the reference's
 * (x - left, y - top). */
struct canvas_offset {
    int left, top;
};

/* to (2 channels, the canvas' size) = x and y, in px of photo n, of what the canvas shows there; pixel centres are
 * whole numbers. Both are -1e6 for what lies behind that camera. */
void esra_camera_map(struct context *context, const struct camera *camera, int n, const struct image *inverse,
                     struct canvas_offset offset, const struct image *to);

/* The inverse map: to (2 channels, the photos' size) = x and y, in px of the canvas, of what photo n shows. Where
 * several points of the canvas project to one place it is the nearest; where none does (a disocclusion: the reference
 * did not see it) the depth is continued from the farther side. Positions may lie outside the canvas. */
esra_status esra_camera_unmap(struct context *context, const struct camera *camera, int n, const struct image *inverse,
                              struct canvas_offset offset, const struct image *to);

/* Occlusion: to (1 channel, the canvas' size) = 1 where photo n sees what the canvas shows: inside its frame and
 * occluded by nothing that is nearer by more than `tolerance` in w; else 0. A pixel with an unseen neighbour counts as
 * unseen. Seven parameters: those of esra_camera_unmap(), and the tolerance. */
esra_status esra_camera_visible(struct context *context, const struct camera *camera, int n,
                                const struct image *inverse, struct canvas_offset offset, double tolerance,
                                const struct image *to);

#endif
