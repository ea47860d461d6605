/* ops/extend.h - an image continued smoothly where it is not known. */
#ifndef ESRA_OPS_EXTEND_H
#define ESRA_OPS_EXTEND_H

#include "base/context.h"
#include "base/image.h"

/* Where `known`, of one channel, is 0, the image gets what its known pixels around it have, coarse to fine (pull-push:
 * Gortler et al. 1996); nothing known at all gives zeros. Known pixels stay. */
esra_status esra_extend(struct context *context, struct image *image, const struct image *known);

#endif
