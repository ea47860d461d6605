/* gradients/mixing.h - the mixing coefficients a_i: how bright the transmitted layer is in a photo, relative to the
 * reference photo. */
#ifndef ESRA_GRADIENTS_MIXING_H
#define ESRA_GRADIENTS_MIXING_H

#include "base/context.h"
#include "base/image.h"

struct mixing {
    double coefficient; /* a_i; 1 for the reference and where nothing can be measured */
    double support;     /* share of inliers among the gradients used, 0..1; .35 to 1 on synthetic scenes */
};

/* Photos in linear light, brought to the reference's frame by Lanczos resampling (bilinear resampling blurs and biases
 * the ratio), with masks of one channel: 0 where a photo does not see. All have one size. Fills mixing[count]. */
esra_status esra_mixing_estimate(struct context *context, const struct image *photos, const struct image *masks,
                                 int count, int reference, struct mixing *mixing);

#endif
