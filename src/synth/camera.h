/* synth/camera.h - one camera that moves before a scene with depth.
 *
 * A point that the reference sees at pixel x with inverse depth q is seen by photo i at c + f (P_0, P_1)/P_2 with
 * inverse depth q/P_2, where P = rotation (X, 1) + q translation, X = (x - c)/f, c the middle of the picture and f the
 * focal length in px. */
#ifndef ESRA_SYNTH_CAMERA_H
#define ESRA_SYNTH_CAMERA_H

#include <esra/esra.h>

struct lens {
    double focal_px, x, y; /* x, y: c */
};

/* Fills settings->photos cameras; the first is the reference's: the identity, no translation. A point at inverse depth
 * 1 moves by about settings->shift_px. */
void esra_cameras_hold(esra_camera *cameras, const esra_synth_settings *settings, const struct lens *lens);

/* Where the ray through (u, v) of a photo meets inverse depth s of that photo: x, y and q of the reference. */
void esra_camera_look(const esra_camera *camera, const struct lens *lens, double u, double v, double s,
                      double point[3]);

#endif
