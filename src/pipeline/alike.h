/* pipeline/alike.h - whether aligned photos differ by noise alone: then both layers move together, or there is one. */
#ifndef ESRA_PIPELINE_ALIKE_H
#define ESRA_PIPELINE_ALIKE_H

#include "base/context.h"
#include "base/image.h"

/* share = |B d|^2/|d|^2 of what a photo differs by from the reference, d = photo/gain - reference less its mean, B a blur of
 * 2 px, over what both see: 1/(16 pi) = .02 of white noise, and about .5 to .9 of a second layer, which has structure.
 * 1 where nothing is seen. */
esra_status esra_alike_structure(const struct image *reference, const struct image *photo, const struct image *mask,
                                 double gain, struct context *context, double *share);

#endif
