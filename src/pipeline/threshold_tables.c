/* pipeline/threshold_tables.c - a room with a thresholds.def has its line here. */
#include "pipeline/threshold_tables.h"

#include "evidence/thresholds.h"
#include "gradients/thresholds.h"
#include "pipeline/thresholds.h"

const struct threshold_table *const esra_threshold_tables[] = {
    &esra_evidence_thresholds,
    &esra_gradients_thresholds,
    &esra_pipeline_thresholds,
    NULL,
};
