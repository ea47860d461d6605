/* gradients/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_GRADIENTS_THRESHOLDS_H
#define ESRA_GRADIENTS_THRESHOLDS_H

#include "base/thresholds.h"

struct gradients_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "gradients/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct gradients_thresholds gradients_thresholds;
#else
static const struct gradients_thresholds gradients_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "gradients/thresholds.def"
};
#endif

extern const struct threshold_table esra_gradients_thresholds;

#endif
