/* pipeline/evidence_table.h - evidence as arrays of named numbers, for callers, result.json and bench/replay. */
#ifndef ESRA_PIPELINE_EVIDENCE_TABLE_H
#define ESRA_PIPELINE_EVIDENCE_TABLE_H

#include "pipeline/evidence.h"

/* Rows of esra_evidence_table() that stand once, "clipped", "flat.structure", ..., and that stand for each photo. */
extern const int esra_evidence_rows, esra_photo_evidence_rows;

/* numbers[esra_evidence_rows], photos[evidence->photos * esra_photo_evidence_rows]; either may be NULL. */
void esra_evidence_to_numbers(const struct evidence *evidence, double *numbers, double *photos);

/* The other way round; *evidence has been created. */
void esra_evidence_from_numbers(struct evidence *evidence, const double *numbers, const double *photos);

#endif
