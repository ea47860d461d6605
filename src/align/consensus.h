/* align/consensus.h - the motions that many matches agree on, by RANSAC. */
#ifndef ESRA_ALIGN_CONSENSUS_H
#define ESRA_ALIGN_CONSENSUS_H

#include "align/normal.h"
#include "ops/features.h"

struct consensus_options {
    enum motion motion;
    int width, height; /* of level 0 */
    double limit_px;   /* no corner moves by more */
    int most;          /* transforms to find */
};

/* Finds up to `most` transforms by RANSAC, the one with most inliers first; after each, its inliers are removed from
 * `matches`. Returns how many were found. */
int esra_consensus(struct matches *matches, const struct consensus_options *options, struct transform *found);

#endif
