/* pipeline/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_PIPELINE_THRESHOLDS_H
#define ESRA_PIPELINE_THRESHOLDS_H

#include "base/thresholds.h"

struct pipeline_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "pipeline/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct pipeline_thresholds pipeline_thresholds;
#else
static const struct pipeline_thresholds pipeline_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "pipeline/thresholds.def"
};
#endif

extern const struct threshold_table esra_pipeline_thresholds;

#endif
