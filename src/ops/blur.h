/* ops/blur.h - Gaussian smoothing and halving of planes. */
#ifndef ESRA_OPS_BLUR_H
#define ESRA_OPS_BLUR_H

#include "base/context.h"
#include "base/plane.h"

/* The widest blur: its kernel reaches BLUR_REACH = 3 sigma to each side. */
#define BLUR_SIGMA_MOST 4
#define BLUR_REACH      12

/* to = from smoothed by a Gaussian of standard deviation sigma_px (0: copied), borders repeated. from and to have the
 * same size and do not overlap. */
void esra_blur(struct context *context, struct plane from, struct plane to, double sigma_px);

/* to = every second sample of `from` smoothed by (1 4 6 4 1)/16 along both axes, borders repeated; pixel (x, y) of `to`
 * stands at (2x, 2y). to has half the sides, rounded up. A sample is `floats` floats side by side. */
void esra_halve(struct context *context, struct plane from, struct plane to, int floats);

#endif
