/* camera/bundle.h - structure from motion: the camera and the inverse depths that explain the tracks best. */
#ifndef ESRA_CAMERA_BUNDLE_H
#define ESRA_CAMERA_BUNDLE_H

#include "camera/camera.h"
#include "camera/tracks.h"

/* Fills the camera and allocates its poses. inverse, where it is not NULL, gets w of every track [tracks->count], NaN
 * for outliers. */
esra_status esra_bundle(struct camera *camera, struct context *context, const struct tracks *tracks, double *inverse);

#endif
