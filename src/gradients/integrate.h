/* gradients/integrate.h - a layer from its gradients where some of them are wrong. */
#ifndef ESRA_GRADIENTS_INTEGRATE_H
#define ESRA_GRADIENTS_INTEGRATE_H

#include "base/context.h"
#include "base/image.h"

/* layer = argmin sum_x |D_down L - E_down| + |D_right L - E_right| over 0 <= L <= photo, |.| over the colours of a
 * pixel: reflections only add light. The constant that gradients leave open is that of the start, the least-squares
 * integral of E as bright as the photo allows. All images have one size, at most four channels. */
esra_status esra_integrate(const struct image *expected, const struct image *photo, const struct image *layer,
                           struct context *context);

#endif
