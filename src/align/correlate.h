/* align/correlate.h - shifts at which two gradient fields agree, by cross-correlation or phase correlation. */
#ifndef ESRA_ALIGN_CORRELATE_H
#define ESRA_ALIGN_CORRELATE_H

#include "ops/field.h"

struct peak {
    double right, down; /* reference(x) ~ photo(x + shift), px of the fields */
    double height;      /* of the correlation, comparable between the peaks of one call */
};

struct correlate_options {
    bool whiten; /* every frequency counts the same (phase correlation): sharp peaks, but noise counts as signal does */
    double limit_px; /* of shifts, along each axis */
    int most;        /* peaks to find */
};

/* The highest peaks of the cross-correlation of the fields, highest first; their number in *count. */
esra_status esra_correlate(struct context *context, const struct field *reference, const struct field *photo,
                           const struct correlate_options *options, struct peak *peaks, int *count);

#endif
