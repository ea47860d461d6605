/* pipeline/deep_layers.h - both layers by depth, T held to its voted gradients. */
#ifndef ESRA_PIPELINE_DEEP_LAYERS_H
#define ESRA_PIPELINE_DEEP_LAYERS_H

#include "pipeline/model.h"

/* T and R of the model into *joint, which the caller frees, up to the level `finest`. ridge: of joint.h. */
esra_status esra_deep_solve_joint(const struct model *model, struct joint **joint, int finest, double ridge,
                                  struct joint_info *info, struct context *context);

#endif
