/* tests/solve/mean.c - where F leaves open how bright T is, T is as bright as expected; where the box says no, as
 * bright as the gap allows; and a run that is stopped has the layers that were expected. */
#include "solve/solve.h"

#include "context.h"

#define WIDTH  48
#define HEIGHT 40
#define PIXELS (WIDTH * HEIGHT)
#define PHOTOS 3
#define GAP    0.01

static const double mixing[PHOTOS] = {1, 0.95, 1.05};
static float truth[PHOTOS + 1][PIXELS], photos[PHOTOS][PIXELS], layers[PHOTOS + 1][PIXELS];

static esra_progress *progress; /* of the next solve */

static double mean(const float *samples)
{
    double sum = 0;
    for (int n = 0; n < PIXELS; n++)
        sum += samples[n];
    return sum / PIXELS;
}

/* Layers inside the box, the reflections from `darkest` on. */
static void make(double darkest)
{
    for (int l = 0; l <= PHOTOS; l++)
        check_fill(truth[l], PIXELS, l == 0 ? 0.3 : darkest, l == 0 ? 0.5 : darkest + 0.1);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < PIXELS; n++)
            photos[i][n] = (float)(mixing[i] * truth[0][n] + truth[i + 1][n] + check_random(-0.01, 0.01));
}

/* The layers that are made, with `more` light of the reflections in T, are expected. */
static double solve(double more, int threads)
{
    struct context *context = make_context(threads);
    struct codes expected[PHOTOS + 1];
    struct solve_memory memory = {0};
    esra_image views[PHOTOS], answer[PHOTOS + 1];
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    esra_settings settings;
    esra_info info = ESRA_INFO_INIT;
    esra_settings_default(&settings);
    settings.lambda = 0.003;
    settings.gap = GAP;
    for (int l = 0; l <= PHOTOS; l++) {
        float layer[PIXELS];
        for (int n = 0; n < PIXELS; n++)
            layer[n] = (float)(truth[l][n] + (l == 0 ? more : -mixing[l - 1] * more));
        CHECK(esra_codes_create(&expected[l], WIDTH, HEIGHT, context->message) == ESRA_OK);
        esra_codes_store(&expected[l], 0, layer, PIXELS);
        answer[l] = esra_image_planar(layers[l], WIDTH, HEIGHT, 1);
    }
    for (int i = 0; i < PHOTOS; i++)
        views[i] = esra_image_planar(photos[i], WIDTH, HEIGHT, 1);
    problem.photos = PHOTOS;
    problem.mixing = mixing;
    problem.mixtures = views;
    result.layers = answer;
    struct solve_task task = {&problem, &result, &settings, progress, NULL, {expected, NULL, NULL}};
    CHECK(esra_solve(context, &task, &memory, &info) == ESRA_OK);
    CHECK(progress ? info.outcome == ESRA_STOPPED : info.outcome == ESRA_OPTIMAL && info.gap <= GAP);
    esra_solve_memory_free(&memory);
    esra_context_free(&context);
    return mean(layers[0]);
}

static void an_open_mean_is_the_expected_one(void)
{
    make(0.25);
    for (double more = -0.2; more < 0.25; more += 0.1)
        CHECK_NEAR(solve(more, 1), mean(truth[0]) + more, 2e-4);
}

static void the_box_comes_first(void)
{
    static float first[PIXELS];
    make(0.02);
    double most = mean(truth[0]) + 0.02 / 1.05, found = solve(0.1, 1);
    CHECK(found > most - 0.005 && found < mean(truth[0]) + 0.05);
    memcpy(first, layers[0], sizeof first);
    CHECK(solve(0.1, 3) == found && memcmp(first, layers[0], sizeof first) == 0);
}

static int stop(void *user, const esra_info *info)
{
    (void)user;
    (void)info;
    return 1;
}

static void a_stopped_run_has_the_expected_layers(void)
{
    make(0.25);
    progress = stop;
    solve(0.1, 2);
    progress = NULL;
    for (int l = 0; l <= PHOTOS; l++)
        for (int n = 0; n < PIXELS; n++)
            CHECK_NEAR(layers[l][n], truth[l][n] + (l == 0 ? 0.1 : -mixing[l - 1] * 0.1), 0x1p-15);
}

int main(void)
{
    RUN(an_open_mean_is_the_expected_one);
    RUN(the_box_comes_first);
    RUN(a_stopped_run_has_the_expected_layers);
    return check_report();
}
