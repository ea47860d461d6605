/* gradients/joint_gradients.h - the guide of a joint two-layer solution. */
#ifndef ESRA_GRADIENTS_JOINT_GRADIENTS_H
#define ESRA_GRADIENTS_JOINT_GRADIENTS_H

#include "gradients/guide.h"

struct joint_layers {
    int photos;                      /* m */
    const struct image *transmitted; /* T */
    const struct image *seen;        /* [m]: b_i R(g_i x) */
    const struct image *trust; /* [m], one channel: robust weight in [0,1], 0 where photo i or its R is not known */
};

/* E_0 = D T, E_i = D (b_i R(g_i)), zero across the border of what is known; weights = trust; start = the layers in
 * [0,1]. */
esra_status esra_guide_from_joint(struct guide *guide, const struct joint_layers *layers, struct pool *pool,
                                  struct message *message);

#endif
