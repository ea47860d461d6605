/* pipeline/deep_light.h - what lens and changing light do to the photos, found from the layers. */
#ifndef ESRA_PIPELINE_DEEP_LIGHT_H
#define ESRA_PIPELINE_DEEP_LIGHT_H

#include "pipeline/deep_layers.h"

/* Finds for every photo a smooth gain field, offsets and b_i by which the layers explain it best, solving and fitting
 * in turn at a small size, and takes field and offsets out of the aligned photos. Nothing changes where the joint
 * objective does not become less by it. */
esra_status esra_deep_fit_light(struct model *model, const struct deep_prior *prior, struct context *context);

#endif
