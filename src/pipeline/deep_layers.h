/* pipeline/deep_layers.h - both layers by depth, what the photos leave open split by a prior. */
#ifndef ESRA_PIPELINE_DEEP_LAYERS_H
#define ESRA_PIPELINE_DEEP_LAYERS_H

#include "pipeline/model.h"

/* T and R of the model into *joint, which the caller frees, up to the level `finest`. */
esra_status esra_deep_solve_joint(const struct model *model, struct joint **joint, int finest,
                                  const struct deep_prior *prior, struct joint_info *info, struct context *context);

#endif
