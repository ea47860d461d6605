/* evidence/sharpness.h - focus: the energy of gradients after a narrow blur and after a wide one. */
#ifndef ESRA_EVIDENCE_SHARPNESS_H
#define ESRA_EVIDENCE_SHARPNESS_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

/* Of one photo, its mean over the channels at about 700 px a side: the energy of its gradients after a narrow blur over
 * that after a wide one. Motion leaves this ratio as it is; a photo out of focus has less. `linear` light is looked at
 * by its root, so that shadows count as they do to the eye. */
esra_status esra_sharpness(struct context *context, const struct image *photo, bool linear, double *sharpness);

/* Of two layers of one size: how many times T is as sharp as R, and R's gradient energy over T's. */
struct layer_focus {
    double sharpness, energy;
};

esra_status esra_layer_focus(struct context *context, const struct image *transmitted, const struct image *reflected,
                             struct layer_focus *focus);

#endif
