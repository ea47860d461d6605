/* gradients/thresholds.c - the table of thresholds.def. */
#include "gradients/thresholds.h"

#ifdef ESRA_TUNING
struct gradients_thresholds gradients_thresholds = {
#define THRESHOLD THRESHOLD_VALUE
#include "gradients/thresholds.def"
};
#endif

static const struct threshold_row rows[] = {
#define THRESHOLD THRESHOLD_ROW
#include "gradients/thresholds.def"
};

const struct threshold_table esra_gradients_thresholds = {"gradients", rows, sizeof rows / sizeof rows[0],
                                                          (THRESHOLDS_CONST double *)&gradients_thresholds};
