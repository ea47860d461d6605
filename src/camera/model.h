/* camera/model.h - the formulas of camera.h for one point: back-projection, rotation, projection. */
#ifndef ESRA_CAMERA_MODEL_H
#define ESRA_CAMERA_MODEL_H

#include "camera/camera.h"

/* Y_3, depth over depth in the reference, below which a point counts as behind a photo's camera. A handheld camera does
 * not move that near to things: such a point is a wrong guess, and its projection only has to stay finite. */
#define MODEL_BEHIND .05

/* Back-projection: q~ of a pixel of the reference, whose ray has the direction (q~, 1). The distortion is inverted to
 * first order in k1: what matters is that reference and photo differ as they do. */
static inline void model_look(const struct camera *camera, double x, double y, double *qx, double *qy)
{
    double a = (x - camera->cx) / camera->focal_px, b = (y - camera->cy) / camera->focal_px;
    double narrow = 1 - camera->k1 * (a * a + b * b);
    *qx = a * narrow;
    *qy = b * narrow;
}

/* Projection: c + f p (1 + k1 |p|^2), the pixel of p. */
static inline void model_show(const struct camera *camera, double px, double py, double *x, double *y)
{
    double widen = camera->focal_px * (1 + camera->k1 * (px * px + py * py));
    *x = camera->cx + px * widen;
    *y = camera->cy + py * widen;
}

/* Rotation: turned = R_i (q~, 1), so that Y = turned + w t_i. */
static inline void model_turn(const struct pose *pose, double qx, double qy, double turned[3])
{
    for (int k = 0; k < 3; k++)
        turned[k] = pose->r[3 * k] * qx + pose->r[3 * k + 1] * qy + pose->r[3 * k + 2];
}

/* (u, v) of photo n for (x, y, w) of the reference; false, with (u, v) unset, behind that camera. Seven parameters: a
 * struct for either point would only be unpacked again. */
static inline bool model_project(const struct camera *camera, int n, double x, double y, double w, double *u, double *v)
{
    const struct pose *pose = &camera->pose[n];
    double qx, qy, turned[3];
    model_look(camera, x, y, &qx, &qy);
    model_turn(pose, qx, qy, turned);
    double depth = turned[2] + w * pose->t[2];
    if (!(depth > MODEL_BEHIND))
        return false;
    model_show(camera, (turned[0] + w * pose->t[0]) / depth, (turned[1] + w * pose->t[1]) / depth, u, v);
    return true;
}

#endif
