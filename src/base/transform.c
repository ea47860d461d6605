/* base/transform.c - plane projective maps of pixel coordinates. */
#include "base/transform.h"

#include <math.h>

#include "base/maths.h"

struct transform esra_transform_shift(double right, double down)
{
    return (struct transform){{1, 0, right, 0, 1, down, 0, 0, 1}};
}

static struct transform normalise(struct transform t)
{
    double scale = t.h[8];
    if (scale != 0)
        for (int k = 0; k < 9; k++)
            t.h[k] /= scale;
    return t;
}

struct transform esra_transform_compose(const struct transform *outer, const struct transform *inner)
{
    struct transform product;
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += outer->h[3 * row + k] * inner->h[3 * k + column];
            product.h[3 * row + column] = sum;
        }
    return normalise(product);
}

bool esra_transform_invert(const struct transform *transform, struct transform *inverse)
{
    const double *h = transform->h;
    double a = h[4] * h[8] - h[5] * h[7], b = h[5] * h[6] - h[3] * h[8], c = h[3] * h[7] - h[4] * h[6];
    double determinant = h[0] * a + h[1] * b + h[2] * c, last = h[0] * h[4] - h[1] * h[3];
    *inverse = TRANSFORM_IDENTITY;
    if (!(fabs(determinant) > 1e-12) || !(fabs(last) > 1e-12))
        return false;
    /* The adjugate: dividing by the determinant would only change the scale. */
    *inverse = normalise(
        (struct transform){{a, h[2] * h[7] - h[1] * h[8], h[1] * h[5] - h[2] * h[4], b, h[0] * h[8] - h[2] * h[6],
                            h[2] * h[3] - h[0] * h[5], c, h[1] * h[6] - h[0] * h[7], last}});
    return true;
}

struct transform esra_transform_rescale(const struct transform *transform, double scale)
{
    struct transform t = *transform;
    t.h[2] *= scale;
    t.h[5] *= scale;
    t.h[6] /= scale;
    t.h[7] /= scale;
    return t;
}

double esra_transform_distance(const struct transform *a, const struct transform *b, int width, int height)
{
    double sum = 0;
    for (int corner = 0; corner < 4; corner++) {
        double x = corner & 1 ? width - 1 : 0, y = corner & 2 ? height - 1 : 0, u0, v0, u1, v1;
        if (!transform_apply(a, x, y, &u0, &v0) || !transform_apply(b, x, y, &u1, &v1))
            return INFINITY;
        sum += esra_hypot(u0 - u1, v0 - v1) / 4;
    }
    return sum;
}

bool esra_transform_plausible(const struct transform *transform, int width, int height, double limit_px)
{
    for (int corner = 0; corner < 4; corner++) {
        double x = corner & 1 ? width - 1 : 0, y = corner & 2 ? height - 1 : 0, u, v;
        if (!transform_apply(transform, x, y, &u, &v) || !(esra_hypot(u - x, v - y) < limit_px))
            return false;
    }
    return true;
}
