/* evidence/noise.h - how much of the difference of two aligned photos is more than noise. Where no photo shows more,
 * both layers move together, or there is only one. */
#ifndef ESRA_EVIDENCE_NOISE_H
#define ESRA_EVIDENCE_NOISE_H

#include "base/context.h"
#include "base/image.h"

/* The reference, a photo warped into its frame, where the photo sees it (mask, one channel), and its gain a_i. */
struct noise_pair {
    const struct image *reference, *photo, *mask;
    double gain;
};

/* *share = |B d|^2/|d|^2, where d = photo/gain - reference less its mean over the pixels that both see, and B blurs by
 * 2 px. White noise leaves 1/(16 pi) = .02, a second layer, which has structure, .15 to .95. 1 where nothing is seen.
 */
esra_status esra_noise_structure(struct context *context, const struct noise_pair *pair, double *share);

#endif
