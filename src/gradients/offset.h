/* gradients/offset.h - a photo's constant offset from the reference: glare, and the mean brightness of its reflection.
 */
#ifndef ESRA_GRADIENTS_OFFSET_H
#define ESRA_GRADIENTS_OFFSET_H

#include "base/image.h"

/* offset[c] = median over the pixels that the mask shows of reference - photo/mixing in channel c; 0 where no pixel is
 * shown. All images have one size and are in one frame; scratch holds a float a pixel. */
void esra_offset_estimate(const struct image *reference, const struct image *photo, const struct image *mask,
                          double mixing, double *offset, float *scratch);

#endif
