/* camera/thresholds.c - the table of thresholds.def. */
#include "camera/thresholds.h"

#ifdef ESRA_TUNING
struct camera_thresholds camera_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "camera/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "camera/thresholds.def"
};

const struct threshold_table esra_camera_thresholds = {"camera", rows, sizeof rows / sizeof rows[0],
                                                       (THRESHOLDS_CONST double *)&camera_thresholds};
