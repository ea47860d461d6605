/* gradients/joint_gradients.h - the guide of a joint two-layer solution, one layer after the other. */
#ifndef ESRA_GRADIENTS_JOINT_GRADIENTS_H
#define ESRA_GRADIENTS_JOINT_GRADIENTS_H

#include "gradients/guide.h"

/* T: E_0 = D T. All of these after esra_guide_expect(). */
void esra_guide_take_transmitted(struct context *context, struct guide *guide, const struct image *transmitted);

/* The reflection in photo i, seen = b_i R(g_i x): E_{i+1} = D seen, zero across the border of what is known. The
 * photo's weight is `trust`, one channel: the robust weight in [0,1], 0 where photo i or its R is not known. */
void esra_guide_take_reflected(struct context *context, struct guide *guide, int photo, const struct image *seen,
                               const struct image *trust);

#endif
