/* evidence/thresholds.h - the numbers of this room that decide a result: see thresholds.def and base/thresholds.h. */
#ifndef ESRA_EVIDENCE_THRESHOLDS_H
#define ESRA_EVIDENCE_THRESHOLDS_H

#include "base/thresholds.h"

struct evidence_thresholds {
#define THRESHOLD THRESHOLD_FIELD
#include "evidence/thresholds.def"
};

#ifdef ESRA_TUNING
extern struct evidence_thresholds evidence_thresholds;
#else
static const struct evidence_thresholds evidence_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "evidence/thresholds.def"
};
#endif

extern const struct threshold_table esra_evidence_thresholds;

#endif
