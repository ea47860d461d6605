/* gradients/agreement.h - the transmitted layer's gradients where each photo is warped by a dense map and has
 * occlusions: the reference photo's own gradient, unless the others agree on another. */
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
    const struct image *guard;  /* one channel, 0..1: where 1 the reference's gradient stays whatever the others agree
                                   on,  as at steps of depth; NULL: nowhere */
};

struct agreement {
    struct image gradients[2]; /* E, down and right */
};

esra_status esra_agreement_find(struct agreement *agreement, const struct agreement_problem *problem,
                                struct context *context);

/* Harmless on a zeroed one. */
void esra_agreement_free(struct agreement *agreement);

#endif
