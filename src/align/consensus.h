/* align/consensus.h - the motions that many matches agree on. */
#ifndef ESRA_ALIGN_CONSENSUS_H
#define ESRA_ALIGN_CONSENSUS_H

#include "align/normal.h"
#include "ops/features.h"

/* Finds up to `most` transforms, the one with most support first; after each, the matches it explains are removed from
 * `matches`. Returns how many were found. width, height: of level 0; no corner moves by more than limit_px. */
int esra_consensus(struct matches *matches, int width, int height, double limit_px, enum motion motion, int most,
                   struct transform *found);

#endif
