/* pipeline/deep_layers.h - both layers by depth, what the photos leave open split by a prior. */
#ifndef ESRA_PIPELINE_DEEP_LAYERS_H
#define ESRA_PIPELINE_DEEP_LAYERS_H

#include "pipeline/model.h"

/* What is known of the layers before the photos are asked. */
struct deep_prior {
    double ridge; /* of joint.h */
    bool voted;   /* T has about its voted gradients; else both layers are smooth but for edges */
};

/* T and R of the model into *joint, which the caller frees, up to the level `finest`. */
esra_status esra_deep_solve_joint(const struct model *model, struct joint **joint, int finest,
                                  const struct deep_prior *prior, struct joint_info *info, struct context *context);

#endif
