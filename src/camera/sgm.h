/* camera/sgm.h - a label for every pixel, smoothly. */
#ifndef ESRA_CAMERA_SGM_H
#define ESRA_CAMERA_SGM_H

#include <stdint.h>

#include "base/context.h"
#include "base/plane.h"

struct sgm {
    int width, height, labels, padded; /* as in sweep.h */
    const uint8_t *volume;
    const int16_t *small, *large; /* [height * width]: what a step by one label to this pixel, or by more, costs */
    int16_t *sums;                /* [height * width * padded]: gets the sum of the costs over the paths */
};

/* Costs of the best labellings of the four straight paths that end at each pixel, by dynamic programming
 * (Hirschmueller 2008): L(p, k) = C(p, k) + min(L(q, k), L(q, k +- 1) + small, min L(q) + large) - min L(q), q before
 * p. */
esra_status esra_sgm_run(const struct sgm *sgm, struct context *context);

/* The label of least sum of pixel n, in fractions by the parabola through its neighbours. */
float esra_sgm_choose(const struct sgm *sgm, size_t n);

#endif
