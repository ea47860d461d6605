/* gradients/integrate.h - a layer from its gradients where some of them are wrong, below a bound. */
#ifndef ESRA_GRADIENTS_INTEGRATE_H
#define ESRA_GRADIENTS_INTEGRATE_H

#include "base/context.h"
#include "base/image.h"

/* layer = argmin sum_x (|D_down L - E_down| + |D_right L - E_right|) + mu/2 |L - L_0|^2 over 0 <= L <= upper, |.| over
 * the colours of a pixel. L_0 is the least-squares integral of E, as bright as `photo` allows: E belongs to a part of
 * the light in that photo. All images have one size, at most four channels. */
esra_status esra_integrate(const struct image *expected, const struct image *photo, const struct image *upper,
                           const struct image *layer, struct context *context);

#endif
