/* solve/pointwise.c - the data term alone, at each pixel.
 *
 * For given t = x_0 the best x_i is clip(I_i - a_i t, 0, 1). What is left of the residual, I_i - a_i t - x_i, is zero
 * between the bounds, and the derivative in t, -sum_i a_i w_i of it, is piecewise linear and nondecreasing: Newton's
 * method between bounds on its root ends after at most as many steps as it has pieces. */
#include "solve/pointwise.h"

#include <math.h>

/* The slope has two kinks a photo; the rest is for bisection, enough to shrink the bracket to one double. */
#define MAX_STEPS 100

struct column {
    int photos;
    const double *a;
    const float *mixture, *weight; /* of photo 0; weight NULL: all 1 */
    ptrdiff_t pitch;
};

static double clip01(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static double derivative(const struct column *column, double t, double *curvature)
{
    double sum = 0;
    *curvature = 0;
    for (int i = 0; i < column->photos; i++) {
        double a = column->a[i], w = column->weight ? column->weight[i * column->pitch] : 1;
        double rest = column->mixture[i * column->pitch] - a * t, residual = rest - clip01(rest);
        sum -= a * w * residual;
        *curvature += residual != 0 ? a * a * w : 0;
    }
    return sum;
}

static double best_scene(const struct column *column)
{
    double lo = 0, hi = 1, t = 0.5, curvature;
    if (derivative(column, 0, &curvature) >= 0)
        return 0;
    if (derivative(column, 1, &curvature) <= 0)
        return 1;
    for (int step = 0; step < MAX_STEPS; step++) {
        double slope = derivative(column, t, &curvature);
        if (slope == 0)
            break;
        if (slope > 0)
            hi = t;
        else
            lo = t;
        double next = t - slope / curvature;
        t = next > lo && next < hi ? next : 0.5 * (lo + hi);
    }
    return t;
}

void esra_pointwise_row(const struct level *level, const struct problem *problem, int y)
{
    struct sweep_row row = esra_level_row(level, NULL, y);
    for (int x = 0; x < level->width; x++) {
        struct column column = {level->photos, problem->mixing, row.mixture + x, row.weight ? row.weight + x : NULL,
                                level->pitch};
        double t = best_scene(&column);
        row.x[x] = (float)t;
        for (int i = 0; i < level->photos; i++)
            row.x[(i + 1) * level->pitch + x] =
                (float)clip01(row.mixture[i * level->pitch + x] - problem->mixing[i] * row.x[x]);
    }
}
