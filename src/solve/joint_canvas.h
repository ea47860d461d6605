/* solve/joint_canvas.h - the canvas of the reflection, motions between levels, and its black point. */
#ifndef ESRA_SOLVE_JOINT_CANVAS_H
#define ESRA_SOLVE_JOINT_CANVAS_H

#include "solve/joint_level.h"

struct joint_canvas {
    int left, top, width, height;
};

/* The least rectangle that holds what the photos see of R, but no more than a quarter of the frame beyond each side. */
struct joint_canvas esra_joint_canvas(const double *motion, int photos, int width, int height);

/* The same for dense maps, of what the masks of the full-size level let through. */
struct joint_canvas esra_joint_canvas_maps(const struct image *maps, const struct joint_level *top);

/* g from the reference frame to the canvas. */
void esra_joint_motion_to_canvas(const double g[9], const struct joint_canvas *canvas, double out[9]);

/* out = h g inverse(h) with h(x) = (x - 1/2)/2: the same motion one level coarser. in and out may be the same. */
void esra_joint_motion_halve(const double in[9], double out[9]);

/* Moves a constant a channel between the layers until the reflection that a photo sees, the first that takes part, has
 * `share` of its pixels below zero. mixing and gain are a_i and b_i; scratch holds joint_pixels() floats of the frame.
 */
void esra_joint_black_point(struct joint_level *level, const double *mixing, const double *gain, double share,
                            float *scratch);

#endif
