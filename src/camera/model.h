/* camera/model.h - the formulas of camera.h, point by point. */
#ifndef ESRA_CAMERA_MODEL_H
#define ESRA_CAMERA_MODEL_H

#include "camera/camera.h"

/* Depth, in that of the reference, below which a point is behind a photo's camera. A hand does not walk up to things:
 * what comes near to this is a wrong guess, and it only has to stay finite. */
#define MODEL_BEHIND .05

/* q~ of a pixel of the reference: the direction (q~, 1) in which it looks. The lens' inverse is taken to first order,
 * and the other way round exactly so: what matters is that photos differ as they do. */
static inline void model_look(const struct camera *camera, double x, double y, double *qx, double *qy)
{
    double a = (x - camera->cx) / camera->focal_px, b = (y - camera->cy) / camera->focal_px;
    double narrow = 1 - camera->k1 * (a * a + b * b);
    *qx = a * narrow;
    *qy = b * narrow;
}

/* Where p stands in the photo. */
static inline void model_show(const struct camera *camera, double px, double py, double *x, double *y)
{
    double widen = camera->focal_px * (1 + camera->k1 * (px * px + py * py));
    *x = camera->cx + px * widen;
    *y = camera->cy + py * widen;
}

/* R_i (q~, 1): Y = turned + w t_i. */
static inline void model_turn(const struct pose *pose, double qx, double qy, double turned[3])
{
    for (int k = 0; k < 3; k++)
        turned[k] = pose->r[3 * k] * qx + pose->r[3 * k + 1] * qy + pose->r[3 * k + 2];
}

/* (u, v) of photo n for (x, y, w) of the reference; false, with (u, v) unset, behind that camera. Point in, point out:
 * a struct for either would only be unpacked again. */
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
