/* tests/pipeline/ways.h - what was measured of a model, in short. */
#ifndef ESRA_TESTS_PIPELINE_WAYS_H
#define ESRA_TESTS_PIPELINE_WAYS_H

#include <math.h>

/* What was measured of a model: structure, leave-one-out error, its baseline, and that of T alone, which WAY() takes
 * for the baseline; trust, opposed gradients. */
#define WAY_ALONE(s, e, b, a, t, o)                                                                                    \
    {                                                                                                                  \
        .structure = s, .prediction_error = e, .prediction_base = b, .prediction_alone = a, .trusted = t,              \
        .opposed = o, .parallax_px = NAN, .track_error_px = NAN, .bend = NAN, .energy = NAN                            \
    }
#define WAY(s, e, b, t, o) WAY_ALONE(s, e, b, b, t, o)
#define UNTRIED            WAY(NAN, NAN, NAN, NAN, NAN)

#endif
