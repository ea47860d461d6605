/* pipeline/thresholds.c - the table of thresholds.def. */
#include "pipeline/thresholds.h"

#ifdef ESRA_TUNING
struct pipeline_thresholds pipeline_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "pipeline/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "pipeline/thresholds.def"
};

const struct threshold_table esra_pipeline_thresholds = {"pipeline", rows, sizeof rows / sizeof rows[0],
                                                         (THRESHOLDS_CONST double *)&pipeline_thresholds};
