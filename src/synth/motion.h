/* synth/motion.h - how a hand holds a camera: seeded random homographies and gains. */
#ifndef ESRA_SYNTH_MOTION_H
#define ESRA_SYNTH_MOTION_H

#include <stdint.h>

#include <esra/esra.h>

#include "base/transform.h"

/* Of one photo: reference px -> px of the photo, for both layers, and their gains. */
struct exposure {
    struct transform transmitted, reflected;
    double mixing, reflection_gain;
};

/* Fills settings->photos of them; the first is the reference: identities and ones. */
void esra_synth_expose(struct exposure *exposures, const esra_synth_settings *settings);

/* Normal with mean 0 and deviation 1. */
double esra_synth_normal(uint64_t *state);

/* Normal with this deviation, but never far from 0: one wild photo would widen the margin that all layers must fill. */
double esra_synth_bounded(uint64_t *state, double deviation);

/* A state for the numbers of (a, b) that has nothing to do with that of its neighbours: rows can then be filled in any
 * order, by any thread. */
uint64_t esra_synth_state(uint64_t seed, int a, int b);

#endif
