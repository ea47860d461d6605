/* ops/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_OPS_THRESHOLDS_H
#define ESRA_OPS_THRESHOLDS_H

#include "base/thresholds.h"

struct ops_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "ops/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct ops_thresholds ops_thresholds;
#else
static const struct ops_thresholds ops_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "ops/thresholds.def"
};
#endif

extern const struct threshold_table esra_ops_thresholds;

#endif
