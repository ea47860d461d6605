/* evidence/sharpness.h - the energy of gradients: of a photo after a narrow blur over that after a wide one, a measure
 * of focus; of the reflected layer over that of the transmitted one. */
#ifndef ESRA_EVIDENCE_SHARPNESS_H
#define ESRA_EVIDENCE_SHARPNESS_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

/* Of one photo, its mean over the channels at about 700 px a side: the energy of its gradients after a narrow blur over
 * that after a wide one. Motion leaves this ratio as it is; a photo out of focus has less. `linear` light is looked at
 * by its root, so that shadows count as they do to the eye. */
esra_status esra_sharpness(struct context *context, const struct image *photo, bool linear, double *sharpness);

/* Of two layers of one size, in light: the energy of R's colour gradients over that of T's. */
esra_status esra_layer_energy(struct context *context, const struct image *transmitted, const struct image *reflected,
                              double *energy);

#endif
