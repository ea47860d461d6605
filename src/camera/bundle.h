/* camera/bundle.h - the camera and the depths that explain tracks best. */
#ifndef ESRA_CAMERA_BUNDLE_H
#define ESRA_CAMERA_BUNDLE_H

#include "camera/camera.h"
#include "camera/tracks.h"

/* Fills the camera, whose poses are made here. pool is whom to ask whether to go on, or NULL. inverse, where it is not
 * NULL, gets w of every track [tracks->count], NaN for those that do not fit. */
esra_status esra_bundle(struct camera *camera, struct pool *pool, const struct tracks *tracks, double *inverse,
                        struct message *message);

#endif
