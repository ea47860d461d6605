/* gradients/bound.h - how bright the transmitted layer can be at most: no brighter than any photo that shows it. */
#ifndef ESRA_GRADIENTS_BOUND_H
#define ESRA_GRADIENTS_BOUND_H

#include "base/context.h"
#include "base/image.h"

struct bound_problem {
    int photos, reference;
    const struct image *images;   /* [photos] in the reference frame, offsets taken out */
    const struct image *masks;    /* [photos], one channel */
    const double *mixing;         /* a_i > 0 */
    const struct image *expected; /* [2] E: gradients of the transmitted layer */
    const struct image *steps;    /* one channel: not 0 near steps of depth; NULL: there are none */
};

/* upper, of the photos' size and channels, becomes the bound. */
esra_status esra_bound_find(const struct bound_problem *problem, const struct image *upper, struct context *context);

#endif
