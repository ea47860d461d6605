/* align/view.h - a photo made ready for alignment: its levels, their gradients, its corners. */
#ifndef ESRA_ALIGN_VIEW_H
#define ESRA_ALIGN_VIEW_H

#include "ops/features.h"
#include "ops/field.h"

/* About 320 x 240: where many hypotheses are tried, and fields correlated. */
#define VIEW_WORK_PIXELS 1.2e5

struct view {
    struct pyramid pyramid;
    struct fields fields;
    struct features features;
    int work_level; /* the finest level small enough to try many hypotheses on */
};

esra_status esra_view_create(struct view *view, struct context *context, const struct image *photo, bool compress);

void esra_view_free(struct view *view);

#endif
