/* align/correlate.h - shifts at which two gradient fields agree. */
#ifndef ESRA_ALIGN_CORRELATE_H
#define ESRA_ALIGN_CORRELATE_H

#include "ops/field.h"

struct peak {
    double right, down; /* reference(x) ~ photo(x + shift), px of the fields */
    double height;      /* of the correlation, comparable between the peaks of one call */
};

/* The highest peaks, highest first, of the cross-correlation of the fields; with `whiten` every frequency counts the same
 * (phase correlation: sharp peaks, but noise counts as much as signal). Shifts reach limit_px along each axis. Returns
 * their number in *count, `most` at most. */
esra_status esra_correlate(struct context *context, const struct field *reference, const struct field *photo,
                           bool whiten, double limit_px, int most, struct peak *peaks, int *count);

#endif
