/* ops/fill.h - edge-aware filling: the known values of a map are spread up to the edges of a picture. */
#ifndef ESRA_OPS_FILL_H
#define ESRA_OPS_FILL_H

#include "base/context.h"
#include "base/image.h"

/* values = their mean, weighted by `weights` and by nearness along paths that cross no edge of the guide: the quotient
 * of two smoothings, smoothness the strength of each, edge the difference of colours that counts as one (guide in
 * 0..1). */
esra_status esra_fill(struct context *context, const struct image *guide, struct plane values, struct plane weights,
                      double smoothness, double edge);

#endif
