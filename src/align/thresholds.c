/* align/thresholds.c - the table of thresholds.def. */
#include "align/thresholds.h"

#ifdef ESRA_TUNING
struct align_thresholds align_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "align/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "align/thresholds.def"
};

const struct threshold_table esra_align_thresholds = {"align", rows, sizeof rows / sizeof rows[0],
                                                      (THRESHOLDS_CONST double *)&align_thresholds};
