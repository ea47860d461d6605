/* pipeline/threshold_tables.h - the tables of all rooms, for listing, tests and sweeps. */
#ifndef ESRA_PIPELINE_THRESHOLD_TABLES_H
#define ESRA_PIPELINE_THRESHOLD_TABLES_H

#include "base/thresholds.h"

/* Ends with NULL. */
extern const struct threshold_table *const esra_threshold_tables[];

#endif
