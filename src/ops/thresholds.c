/* ops/thresholds.c - the table of thresholds.def. */
#include "ops/thresholds.h"

#ifdef ESRA_TUNING
struct ops_thresholds ops_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "ops/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "ops/thresholds.def"
};

const struct threshold_table esra_ops_thresholds = {"ops", rows, sizeof rows / sizeof rows[0],
                                                    (THRESHOLDS_CONST double *)&ops_thresholds};
