/* solve/certificate.c - the objective and its lower bound.
 *
 * With u any field |u| <= 1 and c_l = lambda D'u_l, |t| = max over |u|<=1 of ut gives, for every L in the box,
 *
 *     F(L) >= sum_x phi_x(L(x)) - lambda sum_l <u_l, E_l>,
 *     phi_x(L) = 1/2 sum_i w_i (I_i - a_i L_0 - L_i)^2 + sum_l c_l L_l,
 *
 * and the right side falls apart into pixels. At a pixel each L_i has its best value for given t = L_0,
 *
 *     y_i(t) = clip(I_i - a_i t - c_i / w_i, 0, 1)       (w_i = 0: 1 where c_i < 0, else 0),
 *
 * which leaves a convex, piecewise quadratic phi(t) on [0,1]: safeguarded Newton on its slope. The bound does not rest
 * on that having converged: with slopes of opposite sign at the ends of the bracket [lo,hi], convexity puts the minimum
 * above phi(t) + phi'(t)(s - t) for the end s that lies downhill. */
#include "solve/certificate.h"

#include <math.h>
#include <stdbool.h>

/* Newton ends after as many steps as the slope has pieces; what bisection may add halves the bracket to nothing. */
#define MAX_STEPS 100

/* A pixel's loss this small is lost in the rounding of the sums: relative to the pixel's share of F, and, where that
 * share is zero, to the square of a float32 rounding, 2^-25. */
#define RELATIVE_LOSS 1e-15
#define ABSOLUTE_LOSS 1e-17

/* What phi_x needs to know of pixel x. */
struct pixel {
    int photos;
    const double *a;
    double *intensity, *weight; /* I_i, w_i [photos] */
    double *tilt;               /* c_l [photos + 1] */
};

struct slope {
    double value, first, second; /* phi, phi', phi'' */
};

size_t esra_certificate_scratch(const struct problem *problem)
{
    return 3 * (size_t)problem->photos + 1;
}

static double clip01(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static struct slope slope_at(const struct pixel *pixel, double t)
{
    struct slope s = {.value = pixel->tilt[0] * t, .first = pixel->tilt[0]};
    for (int i = 0; i < pixel->photos; i++) {
        double w = pixel->weight[i], c = pixel->tilt[i + 1], a = pixel->a[i];
        if (w == 0) {
            s.value += c < 0 ? c : 0;
            continue;
        }
        double rest = pixel->intensity[i] - a * t;
        double wanted = rest - c / w;
        double y = clip01(wanted);
        double residual = y == wanted ? c / w : rest - y;
        s.value += 0.5 * w * residual * residual + c * y;
        s.first -= a * w * residual;
        s.second += y == wanted ? 0 : a * a * w;
    }
    return s;
}

/* A lower bound of min over [0,1] of phi, tight to rounding; t is where to begin. */
static double pixel_bound(const struct pixel *pixel, double t)
{
    double lo = 0, hi = 1, best = -INFINITY;
    for (int step = 0; step < MAX_STEPS; step++) {
        struct slope s = slope_at(pixel, t);
        double downhill = s.first > 0 ? lo : hi;
        double loss = s.first * (t - downhill);
        if (s.value - loss > best)
            best = s.value - loss;
        if (loss <= RELATIVE_LOSS * fabs(s.value) + ABSOLUTE_LOSS)
            break;
        double next = s.second > 0 ? t - s.first / s.second : downhill;
        if (s.first > 0)
            hi = t;
        else
            lo = t;
        /* An end of [0,1] itself may be the minimum and is worth one look; an end already seen is not. */
        bool fresh_end = (next <= lo && lo == 0 && t != 0) || (next >= hi && hi == 1 && t != 1);
        t = next > lo && next < hi ? next : fresh_end && step < 8 ? downhill : 0.5 * (lo + hi);
    }
    return best;
}

static double layer_value(const struct candidate *candidate, int layer, int x, int y)
{
    return candidate_layer(plane_row(candidate->x[layer], y)[x]);
}

static double dual_value(const struct plane *field, float scale, int x, int y)
{
    return candidate_dual(plane_row(*field, y)[x], scale);
}

/* (D'u_l) at a pixel. */
static double dual_adjoint(const struct candidate *candidate, int l, int x, int y, int width, int height)
{
    const struct plane *p = &candidate->p[l], *q = &candidate->q[l];
    float scale = candidate->dual_scale;
    double sum = 0;
    if (y > 0)
        sum += dual_value(p, scale, x, y - 1);
    if (y < height - 1)
        sum -= dual_value(p, scale, x, y);
    if (x > 0)
        sum += dual_value(q, scale, x - 1, y);
    if (x < width - 1)
        sum -= dual_value(q, scale, x, y);
    return sum;
}

/* The share of the gradient term of one difference, from (x,y) to (x2,y2): |D L - E| for F, u E for D. */
static void add_difference(struct certificate *sum, const struct candidate *candidate, int l, int x, int y, int x2, int y2,
                           double extracted, double dual)
{
    double step = layer_value(candidate, l, x2, y2) - layer_value(candidate, l, x, y);
    sum->objective += fabs(step - extracted);
    sum->bound -= dual * extracted;
}

/* Not yet times lambda. */
static struct certificate gradient_term(const struct problem *problem, int channel, const struct candidate *candidate,
                                        int x, int y)
{
    struct certificate sum = {0, 0};
    float scale = candidate->dual_scale;
    for (int l = 0; l < problem->layers; l++) {
        if (y < problem->height - 1)
            add_difference(&sum, candidate, l, x, y, x, y + 1,
                           *image_sample(&problem->gradients[2 * l], x, y, channel),
                           dual_value(&candidate->p[l], scale, x, y));
        if (x < problem->width - 1)
            add_difference(&sum, candidate, l, x, y, x + 1, y,
                           *image_sample(&problem->gradients[2 * l + 1], x, y, channel),
                           dual_value(&candidate->q[l], scale, x, y));
    }
    return sum;
}

static void load_pixel(struct pixel *pixel, const struct problem *problem, int channel, const struct candidate *candidate,
                       int x, int y)
{
    for (int i = 0; i < problem->photos; i++) {
        pixel->intensity[i] = *image_sample(&problem->mixtures[i], x, y, channel);
        pixel->weight[i] = problem->weights ? *image_sample(&problem->weights[i], x, y, 0) : 1;
    }
    for (int l = 0; l < problem->layers; l++)
        pixel->tilt[l] = problem->lambda * dual_adjoint(candidate, l, x, y, problem->width, problem->height);
}

static double data_term(const struct pixel *pixel, const struct candidate *candidate, int x, int y)
{
    double sum = 0, t = layer_value(candidate, 0, x, y);
    for (int i = 0; i < pixel->photos; i++) {
        double residual = pixel->intensity[i] - pixel->a[i] * t - layer_value(candidate, i + 1, x, y);
        sum += 0.5 * pixel->weight[i] * residual * residual;
    }
    return sum;
}

struct certificate esra_certificate_rows(const struct problem *problem, int channel, const struct candidate *candidate,
                                         int first, int end, double *scratch)
{
    struct pixel pixel = {.photos = problem->photos,
                          .a = problem->mixing,
                          .intensity = scratch,
                          .weight = scratch + problem->photos,
                          .tilt = scratch + 2 * (size_t)problem->photos};
    struct certificate sum = {0, 0};
    for (int y = first; y < end; y++)
        for (int x = 0; x < problem->width; x++) {
            load_pixel(&pixel, problem, channel, candidate, x, y);
            struct certificate gradient = gradient_term(problem, channel, candidate, x, y);
            sum.objective += data_term(&pixel, candidate, x, y) + problem->lambda * gradient.objective;
            sum.bound += pixel_bound(&pixel, layer_value(candidate, 0, x, y)) + problem->lambda * gradient.bound;
        }
    return sum;
}
