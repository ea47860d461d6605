/* align/pairing.h - the reference and one photo, both aligned: what they hold beside T, and where the search for R's
 * motion between them may start. */
#ifndef ESRA_ALIGN_PAIRING_H
#define ESRA_ALIGN_PAIRING_H

#include "align/reflection.h"
#include "ops/field.h"

#define PAIRING_STARTS 15

/* exact: as alignment found it, on the photos themselves; refining it on remainders would make it worse. */
enum quality { ROUGH, GOOD, EXACT };

struct start {
    struct transform transform;
    enum quality quality;
};

struct pairing {
    struct context *context;
    enum motion motion;
    struct fields by_sign[2], by_median[2]; /* reference, photo; by_median only with three photos or more */
    struct fields *compared;                /* the two that candidates are refined on and ranked by */
    struct field warped;
    struct image planes; /* weights, valid */
    struct start starts[PAIRING_STARTS];
    int count;
};

static inline struct plane pairing_weights(const struct pairing *pairing)
{
    return image_plane(&pairing->planes, 0);
}

void esra_pairing_free(struct pairing *pairing);

/* Adds a start, where it is plausible. */
void esra_pairing_start(struct pairing *pairing, struct transform transform, enum quality quality);

/* Adds the shifts at which two fields correlate, except those near zero, which are T's own remainder. */
esra_status esra_pairing_start_peaks(struct pairing *pairing, const struct fields *pair, bool whiten);

/* Adds the motions that matches of features between the two parts of the difference agree on (RANSAC). */
esra_status esra_pairing_start_matches(struct pairing *pairing, const struct pyramid *parts);

/* Refines the starts and lists them by the correlation of the fields compared: all at half size, the best few at full.
 */
esra_status esra_pairing_rank(const struct pairing *pairing, struct reflection_candidates *list);

/* Refines one motion at full size. */
esra_status esra_pairing_finish(const struct pairing *pairing, struct transform *motion);

#endif
