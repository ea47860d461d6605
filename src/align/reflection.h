/* align/reflection.h - how the reflected layer moves, once the transmitted one stands still: a short list of candidates
 * a photo, to be decided by the joint solve. */
#ifndef ESRA_ALIGN_REFLECTION_H
#define ESRA_ALIGN_REFLECTION_H

#include "align/align.h"

#define REFLECTION_CANDIDATES 6

/* Candidates are sought at so many pixels at the most, about 320 x 240; the one taken is made exact at more. */
#define REFLECTION_PIXELS       8e4
#define REFLECTION_PIXELS_EXACT 3.2e5

struct reflection_candidate {
    struct transform transform; /* where the reference shows R at x, the aligned photo shows it at transform(x) */
    double score;               /* correlation of the two photos' remainders, -1..1 */
    bool exact;                 /* as alignment found it, on the photos themselves */
};

struct reflection_candidates {
    struct reflection_candidate each[REFLECTION_CANDIDATES]; /* the best first */
    int count;
};

struct reflection_problem {
    const struct image *photos; /* in linear light, brought to the reference's frame by Lanczos resampling */
    const struct image *masks;  /* one channel, 0 where a photo does not see */
    const double *mixing;       /* a_i */
    int count, reference;
    const struct photo_motion *motions; /* of esra_align(): their second motions are tried as well; NULL: none */
    enum motion motion;
};

/* Fills candidates[count]; the reference's list, and that of photos in which nothing is left beside T, stay empty.
 * Motions that keep R within a pixel of T are not listed: what T leaves behind by bad alignment moves so. */
esra_status esra_reflection_find(struct context *context, const struct reflection_problem *problem,
                                 struct reflection_candidates *candidates);

/* Makes motions[i] exact where rough[i], one a photo: candidates that were taken, and not exact yet. */
esra_status esra_reflection_finish(struct context *context, const struct reflection_problem *problem, const bool *rough,
                                   struct transform *motions);

#endif
