/* tests/pipeline/patches.h - a layer of overlapping bright and dark patches, defined everywhere. */
#ifndef ESRA_TESTS_PATCHES_H
#define ESRA_TESTS_PATCHES_H

#include "check.h"

struct patches {
    double x[60], y[60], radius[60], level[60];
};

static inline void make_patches(struct patches *p, int width, int height)
{
    for (int n = 0; n < 60; n++) {
        p->x[n] = check_random(-40, width + 40);
        p->y[n] = check_random(-40, height + 40);
        p->radius[n] = check_random(4, 25);
        p->level[n] = check_random(0, 1);
    }
}

/* `edge` px wide are the edges of the patches. */
static inline double patch_at(const struct patches *p, double x, double y, double edge)
{
    double value = 0.1;
    for (int n = 0; n < 60; n++) {
        double distance = (fmax(fabs(x - p->x[n]), fabs(y - p->y[n])) - p->radius[n]) / edge;
        double inside = distance < -0.5 ? 1 : distance > 0.5 ? 0 : 0.5 - distance;
        value += inside * (p->level[n] - value);
    }
    return value;
}

#endif
