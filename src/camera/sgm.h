/* camera/sgm.h - semi-global matching (SGM, Hirschmueller 2008): a label for every pixel from a cost volume. */
#ifndef ESRA_CAMERA_SGM_H
#define ESRA_CAMERA_SGM_H

#include <stdint.h>

#include "base/context.h"

struct sgm {
    int width, height, labels, padded; /* as in sweep.h */
    const uint8_t *volume;
    const int16_t *small, *large; /* [height * width]: P1 and P2, costs of a step to this pixel by one label, by more */
    int16_t *sums;                /* [height * width * padded]: gets the sum of the costs over the paths */
};

/* sums = the least costs of the four straight paths that end at each pixel p, by dynamic programming:
 *     L(p, k) = C(p, k) + min(L(q, k), L(q, k +- 1) + P1, min L(q) + P2) - min L(q),   q the pixel before p. */
esra_status esra_sgm_run(const struct sgm *sgm, struct context *context);

/* The label of least sum of pixel n (winner takes all), to a fraction by the parabola through it and its neighbours. */
float esra_sgm_choose(const struct sgm *sgm, size_t n);

#endif
