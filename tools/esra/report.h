/* tools/esra/report.h - report.html: one self-contained file that shows how a separation went. */
#ifndef ESRA_TOOL_REPORT_H
#define ESRA_TOOL_REPORT_H

#include <esra/esra.h>

#include "io/photo.h"

/* One certificate of the run, for the plot. */
struct report_point {
    double seconds, gap;
};

struct report_image {
    char file[64]; /* its name in the folder, or "" */
    char title[96];
    struct photo photo; /* lent: pixels in code values, and the profile that says what those mean */
};

struct report {
    const char *const *names;   /* of the photos, [photos] */
    const struct photo *inputs; /* [photos], for what is known of their files */
    int photos, reference;      /* reference from 0 */
    int width, height;          /* of the photos */
    bool exchanged;             /* the layers were, afterwards */
    const struct photo *before, *after;
    const struct report_image *images; /* the scene, what each photo reflects, maps */
    int image_count;
    const esra_separation *separation;
    const esra_settings *settings;
    const struct report_point *points;
    int point_count;
};

/* The widest that pictures are embedded: those of the slider, and layers, which are seen at half of the page. */
#define REPORT_WIDTH       1280
#define REPORT_LAYER_WIDTH 640

/* Files and titles of the scene, of what each of so many photos reflects, and of the confidence. */
void report_name_images(struct report_image *images, int photos, const char *format, double brightness);

/* Writes the page; nothing is committed. */
esra_status report_write(const struct report *report, struct output *output, struct message *message);

#endif
