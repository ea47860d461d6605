/* base/transform.h - plane projective maps of pixel coordinates.
 *
 * A transform takes reference coordinates to photo coordinates: (u, v) = ((h0 x + h1 y + h2)/d, (h3 x + h4 y + h5)/d),
 * d = h6 x + h7 y + h8. Pixel centres stand at integers, x to the right and y down. The scale of the nine numbers means
 * nothing; the functions here return them with h8 = 1. */
#ifndef ESRA_BASE_TRANSFORM_H
#define ESRA_BASE_TRANSFORM_H

#include <stdbool.h>

struct transform {
    double h[9];
};

#define TRANSFORM_IDENTITY ((struct transform){{1, 0, 0, 0, 1, 0, 0, 0, 1}})

/* x -> x + (right, down). */
struct transform esra_transform_shift(double right, double down);

/* First `inner`, then `outer`. */
struct transform esra_transform_compose(const struct transform *outer, const struct transform *inner);

/* False, with *inverse the identity, where the map cannot be inverted. */
bool esra_transform_invert(const struct transform *transform, struct transform *inverse);

/* The same map between grids `scale` times as fine, pixel 0 staying at pixel 0: S H S^-1, S = diag(scale, scale, 1). */
struct transform esra_transform_rescale(const struct transform *transform, double scale);

/* Mean distance in px between where the two maps send the corners of a width x height image; infinite where one of them
 * sends a corner past the horizon (d <= 0). */
double esra_transform_distance(const struct transform *a, const struct transform *b, int width, int height);

/* Every corner stays before the horizon and moves by less than `limit_px`. */
bool esra_transform_plausible(const struct transform *transform, int width, int height, double limit_px);

/* False past the horizon, with (0, 0). */
static inline bool transform_apply(const struct transform *t, double x, double y, double *u, double *v)
{
    double d = t->h[6] * x + t->h[7] * y + t->h[8];
    *u = *v = 0;
    if (!(d > 1e-6))
        return false;
    *u = (t->h[0] * x + t->h[1] * y + t->h[2]) / d;
    *v = (t->h[3] * x + t->h[4] * y + t->h[5]) / d;
    return true;
}

#endif
