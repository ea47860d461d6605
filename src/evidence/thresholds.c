/* evidence/thresholds.c - the table of thresholds.def. */
#include "evidence/thresholds.h"

#ifdef ESRA_TUNING
struct evidence_thresholds evidence_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "evidence/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "evidence/thresholds.def"
};

const struct threshold_table esra_evidence_thresholds = {"evidence", rows, sizeof rows / sizeof rows[0],
                                                         (THRESHOLDS_CONST double *)&evidence_thresholds};
