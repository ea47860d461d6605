/* pipeline/threshold_tables.c - a room with a thresholds.def has its line here. */
#include "pipeline/threshold_tables.h"

#include "gradients/thresholds.h"

const struct threshold_table *const esra_threshold_tables[] = {
    &esra_gradients_thresholds,
    NULL,
};
