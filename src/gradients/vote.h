/* gradients/vote.h - the layers' gradients by voting, where the reflection's motion is not known: what stays the same
 * in aligned photos is the scene (Weiss 2001, "Deriving intrinsic images from image sequences"). */
#ifndef ESRA_GRADIENTS_VOTE_H
#define ESRA_GRADIENTS_VOTE_H

#include "gradients/guide.h"

/* Photos in the reference frame, all of one size. */
struct vote {
    int photos;                 /* m */
    const struct image *images; /* [m]: I_i */
    const struct image *masks;  /* [m], one channel, 0 where photo i does not see the frame; NULL: all seen */
    const double *mixing;       /* a_i; photos with a_i = 0 have no vote */
};

/* E_0 = weighted median over the photos of D I_i/a_i, weights a_i, and where m is even a TIE_BREAKER for no gradient;
 * E_i = D I_i - a_i E_0, zero across masks' borders, follows from the weights, which are 0 past them. */
esra_status esra_guide_from_vote(struct guide *guide, const struct vote *vote, struct context *context);

#endif
