/* camera/groups.h - tracks clustered by depth, and which clusters are of one layer. */
#ifndef ESRA_CAMERA_GROUPS_H
#define ESRA_CAMERA_GROUPS_H

#include "camera/camera.h"
#include "camera/tracks.h"

/* Sets the camera's groups, near and far. inverse: w of every track, NaN for those that do not fit. */
esra_status esra_groups_find(struct camera *camera, struct context *context, const struct image *photos,
                             const struct tracks *tracks, const double *inverse);

#endif
