/* pipeline/doubt.h - which part of an estimate its scatter leaves standing, scale by scale. */
#ifndef ESRA_PIPELINE_DOUBT_H
#define ESRA_PIPELINE_DOUBT_H

#include "base/context.h"
#include "base/image.h"

/* doubt = what should be taken off `estimate`: in every band of a Laplacian pyramid and around every pixel the estimate is
 * shrunk by the Wiener factor  max(0, 1 - v/e),  e its energy there and
 *
 *     v = factor sum_j |scatter_j|^2
 *
 * the variance that its replicates show. The finest two bands, which motion does decide, and the mean are left alone. All
 * images have one size; doubt is created. */
esra_status esra_doubt(struct image *doubt, const struct image *estimate, const struct image *scatter, int count,
                       double factor, struct context *context);

#endif
