/* evidence/doubt.h - Wiener shrinkage of an estimate, scale by scale, by the variance that its replicates show. */
#ifndef ESRA_EVIDENCE_DOUBT_H
#define ESRA_EVIDENCE_DOUBT_H

#include "base/context.h"
#include "base/image.h"

/* An estimate and how its replicates differ from it; all images have one size. */
struct replicates {
    const struct image *estimate;
    const struct image *scatter; /* [count] */
    int count;
    double factor; /* variance = factor sum_j |scatter_j|^2 */
    int halvings;  /* of the images: bands are counted from the size before */
};

/* *doubt (created) = the part of the estimate that Wiener shrinkage takes off: in every band of a Laplacian pyramid and
 * around every pixel the estimate keeps max(0, 1 - v/e) of itself, e being its energy there and v the replicates'
 * variance. The two finest bands, which the motion does determine, and the mean are not touched. */
esra_status esra_doubt(struct context *context, const struct replicates *replicates, struct image *doubt);

#endif
