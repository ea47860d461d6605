/* camera/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_CAMERA_THRESHOLDS_H
#define ESRA_CAMERA_THRESHOLDS_H

#include "base/thresholds.h"

struct camera_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "camera/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct camera_thresholds camera_thresholds;
#else
static const struct camera_thresholds camera_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "camera/thresholds.def"
};
#endif

extern const struct threshold_table esra_camera_thresholds;

#endif
