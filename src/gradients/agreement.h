/* gradients/agreement.h - the transmitted layer's gradients where photos see the frame through maps of their own, each
 * with what it does not see: the reference photo's own gradient, unless the others agree on another. */
#ifndef ESRA_GRADIENTS_AGREEMENT_H
#define ESRA_GRADIENTS_AGREEMENT_H

#include "base/context.h"
#include "base/image.h"

#define AGREEMENT_PHOTOS_MOST 64

/* Photos in the reference frame, all of one size, at most AGREEMENT_PHOTOS_MOST. */
struct agreement_problem {
    int photos, reference;
    const struct image *images; /* [photos] */
    const struct image *masks;  /* [photos], one channel: 0 where a photo does not see what the reference shows */
    const double *mixing;       /* a_i > 0 */
    const struct image *guard;  /* one channel, 0..1: where 1, what the others agree on is not believed, as at steps of
                                   depth; NULL: nowhere */
};

struct agreement {
    struct image gradients[2]; /* E, down and right */
};

esra_status esra_agreement_find(struct agreement *agreement, const struct agreement_problem *problem,
                                struct context *context);

/* Harmless on a zeroed one. */
void esra_agreement_free(struct agreement *agreement);

#endif
