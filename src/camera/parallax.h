/* camera/parallax.h - residual parallax: how much of the tracks' motion no homography explains. */
#ifndef ESRA_CAMERA_PARALLAX_H
#define ESRA_CAMERA_PARALLAX_H

#include "camera/camera.h"
#include "camera/tracks.h"

/* Sets the camera's parallax_px and bend; use[track * photos + photo]: the sightings that are inliers. */
esra_status esra_parallax_measure(struct camera *camera, const struct tracks *tracks, const bool *use,
                                  struct message *message);

#endif
