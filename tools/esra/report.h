/* tools/esra/report.h - report.html: one self-contained file that shows how a separation went. */
#ifndef ESRA_TOOL_REPORT_H
#define ESRA_TOOL_REPORT_H

#include <esra/esra.h>

#include "io/photo.h"

/* One certificate of the run, for the plot. */
struct report_point {
    int iterations;
    double gap;
};

struct report_image {
    const char *title;
    const struct photo *photo; /* pixels in code values; drawn at most REPORT_WIDTH wide */
};

struct report {
    const char *const *names; /* of the photos, [photos] */
    int photos, reference;    /* reference from 0 */
    int width, height;        /* of the photos */
    const struct photo *before, *after;
    const struct report_image *images; /* layers and maps */
    int image_count;
    const esra_separation *separation;
    const esra_settings *settings;
    const struct report_point *points;
    int point_count;
};

#define REPORT_WIDTH 1280

/* Writes the page; nothing is committed. */
esra_status report_write(const struct report *report, struct output *output, struct message *message);

#endif
