/* pipeline/threshold_tables.c - a room with a thresholds.def has its line here. */
#include "pipeline/threshold_tables.h"

#include "align/thresholds.h"
#include "camera/thresholds.h"
#include "evidence/thresholds.h"
#include "gradients/thresholds.h"
#include "ops/thresholds.h"
#include "pipeline/thresholds.h"

const struct threshold_table *const esra_threshold_tables[] = {
    &esra_align_thresholds,
    &esra_camera_thresholds,
    &esra_evidence_thresholds,
    &esra_gradients_thresholds,
    &esra_ops_thresholds,
    &esra_pipeline_thresholds,
    NULL,
};
