/* tests/fuzz/solver.c - tiny problems of any numbers there are: refused, or layers in the box with a bound that holds.
 */
#include <math.h>
#include <stdbool.h>

#include <esra/esra.h>

#include "fuzz.h"

enum { MOST_PHOTOS = 3, MOST_SIDE = 9, MOST_CHANNELS = 3 };
#define MOST_SAMPLES (MOST_SIDE * MOST_SIDE * MOST_CHANNELS)

struct tiny {
    float samples[MOST_PHOTOS + 1][6][MOST_SAMPLES]; /* of a layer: photo, weight, two gradients; the layer itself */
    esra_image mixtures[MOST_PHOTOS], weights[MOST_PHOTOS], gradients[2 * (MOST_PHOTOS + 1)], layers[MOST_PHOTOS + 1];
    double mixing[MOST_PHOTOS];
    int photos, width, height, channels;
};

static esra_image take_image(struct tiny *t, struct feed *feed, float *samples, int channels)
{
    for (int n = 0; n < t->width * t->height * channels; n++)
        samples[n] = feed_float(feed);
    return esra_image_planar(samples, t->width, t->height, channels);
}

static void take_problem(struct tiny *t, struct feed *feed)
{
    t->photos = feed_int(feed, 1, MOST_PHOTOS);
    t->width = feed_int(feed, 1, MOST_SIDE);
    t->height = feed_int(feed, 1, MOST_SIDE);
    t->channels = feed_int(feed, 1, MOST_CHANNELS);
    for (int l = 0; l <= t->photos; l++) {
        t->gradients[2 * l] = take_image(t, feed, t->samples[l][2], t->channels);
        t->gradients[2 * l + 1] = take_image(t, feed, t->samples[l][3], t->channels);
        t->layers[l] = esra_image_planar(t->samples[l][4], t->width, t->height, t->channels);
    }
    for (int i = 0; i < t->photos; i++) {
        t->mixing[i] = feed_double(feed);
        t->mixtures[i] = take_image(t, feed, t->samples[i][0], t->channels);
        t->weights[i] = take_image(t, feed, t->samples[i][1], 1);
    }
}

static esra_settings take_settings(struct feed *feed)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.engine = feed_int(feed, 0, 1);
    settings.lambda = feed_double(feed);
    settings.gap = feed_double(feed);
    settings.max_iterations = feed_int(feed, 1, 20);
    settings.lipschitz_factor = 1 + feed_double(feed);
    settings.inner_tolerance = feed_double(feed);
    settings.inner_iterations = feed_int(feed, 1, 20);
    settings.inner_warm_start = feed_int(feed, 0, 1);
    settings.threads = feed_int(feed, 1, 2);
    settings.cpu_mask = feed_int(feed, 0, 31);
    return settings;
}

static void check_answer(const struct tiny *t, const esra_info *info)
{
    MUST(isfinite(info->objective) && isfinite(info->bound) && isfinite(info->gap));
    MUST(info->bound <= info->objective);
    for (int l = 0; l <= t->photos; l++)
        for (int n = 0; n < t->width * t->height * t->channels; n++)
            MUST(t->samples[l][4][n] >= 0 && t->samples[l][4][n] <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct tiny tiny;
    struct feed feed = {bytes, size};
    esra_settings settings = take_settings(&feed);
    bool weighted = feed_int(&feed, 0, 1);
    take_problem(&tiny, &feed);
    esra_problem problem = ESRA_PROBLEM_INIT;
    problem.photos = tiny.photos;
    problem.mixing = tiny.mixing;
    problem.mixtures = tiny.mixtures;
    problem.gradients = tiny.gradients;
    problem.weights = weighted ? tiny.weights : NULL;
    esra_result result = ESRA_RESULT_INIT;
    result.layers = tiny.layers;
    esra_info info = ESRA_INFO_INIT;
    esra_solver *solver;
    MUST(esra_solver_create(&solver) == ESRA_OK);
    esra_status status = esra_solver_run(solver, &problem, &settings, &result, &info);
    if (status == ESRA_OK)
        check_answer(&tiny, &info);
    else
        MUST((status == ESRA_BAD_DATA || status == ESRA_BAD_ARGUMENT) && esra_solver_message(solver)[0]);
    esra_solver_free(&solver);
    return 0;
}
