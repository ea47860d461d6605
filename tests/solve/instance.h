/* tests/solve/instance.h - problems to solve, and an independent look at the answers. */
#ifndef ESRA_TESTS_SOLVE_INSTANCE_H
#define ESRA_TESTS_SOLVE_INSTANCE_H

#include <esra/esra.h>

#include "check.h"

#define MOST_PHOTOS 6

struct instance {
    int photos, width, height, channels;
    double mixing[MOST_PHOTOS], lambda;
    float *samples; /* owned */
    esra_image mixtures[MOST_PHOTOS], weights[MOST_PHOTOS], gradients[2 * MOST_PHOTOS + 2];
    esra_image layers[MOST_PHOTOS + 1], duals[2 * MOST_PHOTOS + 2];
    bool weighted;
    bool from_answer; /* solve from the layers and duals that stand there */
};

static inline struct instance instance_make(int photos, int width, int height, int channels)
{
    struct instance it = {photos, width, height, channels, {0},   0.02,  NULL,
                          {{0}},  {{0}}, {{0}},  {{0}},    {{0}}, false, false};
    size_t size = (size_t)width * (size_t)height * (size_t)channels;
    it.samples = calloc(size * (size_t)(7 * photos + 5), sizeof(float));
    if (!it.samples)
        abort();
    float *next = it.samples;
    esra_image *groups[] = {it.mixtures, it.weights, it.gradients, it.layers, it.duals};
    int counts[] = {photos, photos, 2 * photos + 2, photos + 1, 2 * photos + 2};
    for (int g = 0; g < 5; g++)
        for (int n = 0; n < counts[g]; n++, next += size)
            groups[g][n] = esra_image_interleaved(next, width, height, g == 1 ? 1 : channels);
    for (int i = 0; i < photos; i++)
        it.mixing[i] = check_random(0, 1.2);
    return it;
}

static inline void instance_free(struct instance *it)
{
    free(it->samples);
}

static inline void instance_fill(struct instance *it, double lowest, double highest, double gradient)
{
    size_t size = (size_t)it->width * (size_t)it->height * (size_t)it->channels;
    for (int i = 0; i < it->photos; i++) {
        check_fill(it->mixtures[i].data, size, lowest, highest);
        for (size_t n = 0; n < size / (size_t)it->channels; n++)
            it->weights[i].data[n] = check_random(0, 1) < 0.3 ? 0 : (float)check_random(0, 1);
    }
    for (int n = 0; n < 2 * it->photos + 2; n++)
        check_fill(it->gradients[n].data, size, -gradient, gradient);
}

static inline esra_status instance_solve(struct instance *it, esra_solver *solver, esra_settings *settings,
                                         esra_info *info)
{
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    problem.photos = it->photos;
    problem.mixing = it->mixing;
    problem.mixtures = it->mixtures;
    problem.gradients = it->gradients;
    problem.weights = it->weighted ? it->weights : NULL;
    result.layers = it->layers;
    result.duals = it->duals;
    problem.start_layers = it->from_answer ? it->layers : NULL;
    problem.start_duals = it->from_answer ? it->duals : NULL;
    settings->lambda = it->lambda;
    *info = (esra_info)ESRA_INFO_INIT;
    return esra_solver_run(solver, &problem, settings, &result, info);
}

static inline double instance_sample(const esra_image *image, int x, int y, int c)
{
    return image->data[y * image->row_stride + x * image->column_stride + c * image->channel_stride];
}

/* F of the layers, straight from its definition. */
static inline double instance_objective(const struct instance *it)
{
    double data = 0, gradient = 0;
    for (int c = 0; c < it->channels; c++)
        for (int y = 0; y < it->height; y++)
            for (int x = 0; x < it->width; x++) {
                double t = instance_sample(&it->layers[0], x, y, c);
                for (int i = 0; i < it->photos; i++) {
                    double w = it->weighted ? instance_sample(&it->weights[i], x, y, 0) : 1;
                    double r = instance_sample(&it->mixtures[i], x, y, c) - it->mixing[i] * t -
                               instance_sample(&it->layers[i + 1], x, y, c);
                    data += 0.5 * w * r * r;
                }
                for (int l = 0; l <= it->photos; l++) {
                    double here = instance_sample(&it->layers[l], x, y, c);
                    if (y < it->height - 1)
                        gradient += fabs(instance_sample(&it->layers[l], x, y + 1, c) - here -
                                         instance_sample(&it->gradients[2 * l], x, y, c));
                    if (x < it->width - 1)
                        gradient += fabs(instance_sample(&it->layers[l], x + 1, y, c) - here -
                                         instance_sample(&it->gradients[2 * l + 1], x, y, c));
                }
            }
    return data + it->lambda * gradient;
}

/* phi(t) of one pixel: the best of all x_i for x_0 = t; tilt = lambda D'u. */
static inline double instance_phi(const struct instance *it, int x, int y, int c, const double *tilt, double t)
{
    double sum = tilt[0] * t;
    for (int i = 0; i < it->photos; i++) {
        double w = it->weighted ? instance_sample(&it->weights[i], x, y, 0) : 1;
        double rest = instance_sample(&it->mixtures[i], x, y, c) - it->mixing[i] * t;
        double best = w > 0 ? rest - tilt[i + 1] / w : tilt[i + 1] < 0 ? 1 : 0;
        best = best < 0 ? 0 : best > 1 ? 1 : best;
        sum += 0.5 * w * (rest - best) * (rest - best) + tilt[i + 1] * best;
    }
    return sum;
}

/* D of the duals, the inner minimum by golden sections. */
static inline double instance_bound(const struct instance *it)
{
    double sum = 0, tilt[MOST_PHOTOS + 1];
    for (int c = 0; c < it->channels; c++)
        for (int y = 0; y < it->height; y++)
            for (int x = 0; x < it->width; x++) {
                for (int l = 0; l <= it->photos; l++) {
                    const esra_image *p = &it->duals[2 * l], *q = &it->duals[2 * l + 1];
                    double u = y < it->height - 1 ? instance_sample(p, x, y, c) : 0;
                    double v = x < it->width - 1 ? instance_sample(q, x, y, c) : 0;
                    CHECK(fabs(u) <= 1 && fabs(v) <= 1);
                    tilt[l] = it->lambda * ((y > 0 ? instance_sample(p, x, y - 1, c) : 0) - u +
                                            (x > 0 ? instance_sample(q, x - 1, y, c) : 0) - v);
                    sum -= it->lambda * u * (y < it->height - 1 ? instance_sample(&it->gradients[2 * l], x, y, c) : 0);
                    sum -=
                        it->lambda * v * (x < it->width - 1 ? instance_sample(&it->gradients[2 * l + 1], x, y, c) : 0);
                }
                double lo = 0, hi = 1;
                for (int n = 0; n < 80; n++) {
                    double a = hi - 0.618033988749895 * (hi - lo), b = lo + 0.618033988749895 * (hi - lo);
                    if (instance_phi(it, x, y, c, tilt, a) < instance_phi(it, x, y, c, tilt, b))
                        hi = b;
                    else
                        lo = a;
                }
                sum += fmin(fmin(instance_phi(it, x, y, c, tilt, 0), instance_phi(it, x, y, c, tilt, 1)),
                            instance_phi(it, x, y, c, tilt, 0.5 * (lo + hi)));
            }
    return sum;
}

/* What info says is what the returned arrays say. */
static inline void instance_verify(const struct instance *it, const esra_info *info)
{
    double objective = instance_objective(it), bound = instance_bound(it);
    double tolerance = 1e-9 * (1 + fabs(objective) + fabs(bound));
    CHECK_NEAR(info->objective, objective, tolerance);
    CHECK_NEAR(info->bound, bound, tolerance);
}

#endif
