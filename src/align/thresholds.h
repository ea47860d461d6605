/* align/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_ALIGN_THRESHOLDS_H
#define ESRA_ALIGN_THRESHOLDS_H

#include "base/thresholds.h"

struct align_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "align/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct align_thresholds align_thresholds;
#else
static const struct align_thresholds align_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "align/thresholds.def"
};
#endif

extern const struct threshold_table esra_align_thresholds;

#endif
