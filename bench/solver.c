/* bench/solver.c - how fast the problem is solved, on problems it makes itself.
 *
 *     solver [--json] [--log FILE] [--quick | --full] [--threads N]
 *
 * The machine may be shared, so nothing absolute is to be trusted across runs: what is compared is run in turns, the
 * best of several counts, and the copy bandwidth is measured in the same run. --json prints lines of JSON in place of
 * text,
 * --log writes them to a file beside it; bench/plot.py draws them. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scene.h"
#include "solve/engine.h"

#define REPEATS 3

struct options {
    bool json, quick, full;
    FILE *log;
    int threads;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Telling ---- */

static void tell(const struct options *options, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!options->json)
        vprintf(format, arguments);
    va_end(arguments);
    fflush(stdout);
}

static void record(const struct options *options, const char *format, ...)
{
    FILE *files[2] = {options->json ? stdout : NULL, options->log};
    for (int n = 0; n < 2; n++) {
        va_list arguments;
        va_start(arguments, format);
        if (files[n]) {
            vfprintf(files[n], format, arguments);
            fflush(files[n]);
        }
        va_end(arguments);
    }
}

/* ---- Running ---- */

/* Seconds to copy a byte, read and write counted: the floor under every sweep. */
static double copy_s_a_byte(void)
{
    size_t size = (size_t)128 << 20;
    char *from = malloc(size), *to = malloc(size);
    double best = INFINITY;
    if (from && to) {
        memset(from, 1, size);
        memset(to, 1, size);
        for (int n = 0; n < 2 * REPEATS; n++) {
            double start = now_s();
            memcpy(to, from, size);
            best = fmin(best, now_s() - start);
            from[n] = to[n + 1];
        }
    }
    free(from);
    free(to);
    return best / (2 * (double)size);
}

static esra_settings settings_of(const struct options *options, double lambda, double gap, int iterations)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.lambda = lambda;
    settings.gap = gap;
    settings.max_iterations = iterations;
    settings.threads = options->threads;
    return settings;
}

static esra_info run(esra_solver *solver, const struct scene *scene, const esra_settings *settings)
{
    esra_problem problem = scene_problem(scene);
    esra_result result = scene_result(scene, false);
    esra_info info = ESRA_INFO_INIT;
    if (esra_solver_run(solver, &problem, settings, &result, &info) != ESRA_OK) {
        fprintf(stderr, "%s\n", esra_solver_message(solver));
        exit(1);
    }
    return info;
}

/* The best of several runs; those of a second or more are not repeated. */
static esra_info best_run(esra_solver *solver, const struct scene *scene, const esra_settings *settings)
{
    esra_info best = run(solver, scene, settings);
    for (int n = 1; n < REPEATS && best.seconds < 1; n++) {
        esra_info info = run(solver, scene, settings);
        best = info.seconds < best.seconds ? info : best;
    }
    return best;
}

/* ---- Iterations and seconds to a gap ---- */

static void bench_gap(const struct options *options, esra_solver *solver, const struct scene *scene, bool good,
                      double lambda, double gap)
{
    esra_settings settings = settings_of(options, lambda, gap, 0);
    esra_info info = best_run(solver, scene, &settings);
    double share = info.certificate_seconds / info.seconds;
    tell(
        options,
        "%5d x %-5d m %d%s  %s E  lambda %-6g gap %-6g  %4d iterations  %7.3f s, certificates %4.1f %% (proven %.2g)\n",
        scene->width, scene->height, scene->photos, scene->channels > 1 ? " RGB" : "", good ? "good" : "poor", lambda,
        gap, info.iterations, info.seconds, 100 * share, info.gap);
    record(
        options,
        "{\"bench\": \"gap\", \"width\": %d, \"height\": %d, \"m\": %d, \"channels\": %d, \"gradients\": \"%s\", "
        "\"lambda\": %g, \"gap\": %g, \"iterations\": %d, \"seconds\": %.4f, \"certificates\": %.4f, \"proven\": %.3g, "
        "\"objective\": %.9g, \"threads\": %d}\n",
        scene->width, scene->height, scene->photos, scene->channels, good ? "good" : "poor", lambda, gap,
        info.iterations, info.seconds, share, info.gap, info.objective, info.threads);
}

/* Which lambdas and gaps: the first of each, or so many. */
struct grid {
    int lambdas, gaps;
};

static void bench_gaps(const struct options *options, esra_solver *solver, int width, int height, int photos,
                       int channels, struct grid grid)
{
    static const double lambdas[] = {1e-2, 1e-3, 3e-2}, gaps[] = {1e-3, 1e-2, 5e-4};
    for (int good = 1; good >= 0; good--) {
        struct scene scene;
        if (!scene_make(&scene, width, height, photos, channels, good))
            continue;
        for (int l = 0; l < grid.lambdas; l++)
            for (int g = 0; g < grid.gaps; g++)
                bench_gap(options, solver, &scene, good, lambdas[l], gaps[g]);
        scene_free(&scene);
    }
}

/* All of it at three sizes; larger ones, whose solves take seconds, where --full asks: lambda to 1e-3 there, and at the
 * largest one gap. Numbers of photos at 512^2, colour at 1024^2. */
static void bench_all_gaps(const struct options *options, esra_solver *solver)
{
    static const struct {
        int width, height, photos, channels;
        bool large;
        struct grid grid;
    } cases[] = {
        {256, 256, 3, 1, false, {3, 3}},  {512, 512, 3, 1, false, {3, 3}},   {512, 512, 2, 1, false, {3, 3}},
        {512, 512, 5, 1, false, {3, 3}},  {1024, 1024, 3, 1, false, {3, 3}}, {1024, 1024, 3, 3, false, {1, 1}},
        {2048, 2048, 3, 1, true, {3, 1}}, {4096, 3072, 3, 1, true, {2, 1}},
    };
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct grid grid = options->quick ? (struct grid){1, 1} : cases[n].grid;
        if (options->full || !cases[n].large)
            bench_gaps(options, solver, cases[n].width, cases[n].height, cases[n].photos, cases[n].channels, grid);
    }
}

/* ---- Cost of an iteration, and memory ---- */

/* Runs with 1 and 2 threads, few and many iterations, in turns: what more iterations cost and nothing else. */
static void iteration_s(const struct options *options, esra_solver *solver, const struct scene *scene,
                        double seconds[2])
{
    int few = 1, many = few + (int)fmax(10, 3e7 / ((double)scene->width * scene->height));
    double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    for (int n = 0; n < REPEATS; n++)
        for (int k = 0; k < 4; k++) {
            esra_settings settings = settings_of(options, 1e-2, 0, k % 2 ? many : few);
            settings.threads = 1 + k / 2;
            least[k / 2][k % 2] = fmin(least[k / 2][k % 2], run(solver, scene, &settings).seconds);
        }
    for (int t = 0; t < 2; t++)
        seconds[t] = (least[t][1] - least[t][0]) / (many - few);
}

/* What a solver of two threads keeps. */
static double workspace_floats(const struct scene *scene)
{
    struct problem sizes = {.width = scene->width,
                            .height = scene->height,
                            .photos = scene->photos,
                            .layers = scene->photos + 1,
                            .channels = scene->channels,
                            .pixels = (size_t)scene->width * (size_t)scene->height};
    size_t bytes = esra_engine_room(ESRA_ENGINE_FAST, &sizes, 2) + esra_monitor_room(&sizes, 2);
    return (double)bytes / sizeof(float);
}

static void bench_iteration(const struct options *options, esra_solver *solver, int side, int photos, double copy)
{
    struct scene scene;
    double seconds[2], layer_pixels = (double)side * side * (photos + 1);
    if (!scene_make(&scene, side, side, photos, 1, true))
        return;
    /* x, p, q, z read and written, E read, for each layer; I and, twice, g read for each pixel. */
    double floor_ns = 1e9 * copy * 4 * (10 * (photos + 1) + photos + 3.0) / (photos + 1);
    double floats = workspace_floats(&scene) / layer_pixels;
    iteration_s(options, solver, &scene, seconds);
    double one = 1e9 * seconds[0] / layer_pixels, two = 1e9 * seconds[1] / layer_pixels;
    tell(options,
         "%5d^2  m %d: %.3f ns a layer-pixel and iteration, 2 threads %.3f (%.2f times as fast); copying as many bytes "
         "%.3f (%.2f of it); workspace %.2f floats a layer-pixel\n",
         side, photos, one, two, one / two, floor_ns, one / floor_ns, floats);
    record(options,
           "{\"bench\": \"iteration\", \"side\": %d, \"m\": %d, \"ns_a_layer_pixel\": %.3f, \"ns_two_threads\": %.3f, "
           "\"copy_floor_ns\": %.3f, \"workspace_floats\": %.3f}\n",
           side, photos, one, two, floor_ns, floats);
    scene_free(&scene);
}

/* ---- PACTV ---- */

/* One outer iteration whose PACTV makes few or many of its own. */
static void bench_pactv(const struct options *options, esra_solver *solver, int side)
{
    struct scene scene;
    double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}};
    int inner[2] = {10, 110};
    if (!scene_make(&scene, side, side, 3, 1, true))
        return;
    for (int n = 0; n < REPEATS; n++)
        for (int k = 0; k < 4; k++) {
            esra_settings settings = settings_of(options, 1e-2, 0, 1);
            settings.engine = ESRA_ENGINE_PAPER;
            settings.inner_tolerance = 0;
            settings.inner_iterations = inner[k % 2];
            settings.threads = 1 + k / 2;
            least[k / 2][k % 2] = fmin(least[k / 2][k % 2], run(solver, &scene, &settings).seconds);
        }
    double sweeps = (inner[1] - inner[0]) * 4.0 * side * side;
    double one = 1e9 * (least[0][1] - least[0][0]) / sweeps, two = 1e9 * (least[1][1] - least[1][0]) / sweeps;
    tell(options, "%5d^2  PACTV: %.3f ns a pixel and iteration, 2 threads %.3f\n", side, one, two);
    record(options, "{\"bench\": \"pactv\", \"side\": %d, \"ns_a_pixel\": %.3f, \"ns_two_threads\": %.3f}\n", side, one,
           two);
    scene_free(&scene);
}

/* ---- Against the paper ---- */

/* The fewest iterations of the fast engine, to a tenth, that bring F as low. */
static esra_info as_low(const struct options *options, esra_solver *solver, const struct scene *scene, double objective)
{
    esra_info info = ESRA_INFO_INIT;
    for (int iterations = 1; iterations < 4096; iterations += 1 + iterations / 10) {
        esra_settings settings = settings_of(options, 1e-2, 0, iterations);
        info = run(solver, scene, &settings);
        if (info.objective <= objective)
            return best_run(solver, scene, &settings);
    }
    return info;
}

/* As printed: plain C on one thread. With our kernels: everything this machine has. Each runs for a given time; then
 * the fast engine until its F is as low. */
static void bench_paper(const struct options *options, esra_solver *solver, int side, double limit_s)
{
    struct scene scene;
    if (!scene_make(&scene, side, side, 3, 1, true))
        return;
    for (int kernels = 0; kernels < 2; kernels++) {
        const char *how = kernels ? "with our kernels" : "as printed";
        esra_settings paper = settings_of(options, 1e-2, 1e-6, 1000000);
        paper.engine = ESRA_ENGINE_PAPER;
        paper.time_limit_s = limit_s;
        if (!kernels) {
            paper.cpu_mask = 0;
            paper.threads = 1;
        }
        esra_info published = run(solver, &scene, &paper);
        esra_info fast = as_low(options, solver, &scene, published.objective);
        tell(options,
             "%5d^2: paper %s %.2f s to F %.6g (%d outer iterations, %lld sweeps of a layer); fast %.4f s to F %.6g: "
             "%.0f "
             "times sooner\n",
             side, how, published.seconds, published.objective, published.iterations, published.inner_iterations,
             fast.seconds, fast.objective, published.seconds / fast.seconds);
        record(
            options,
            "{\"bench\": \"paper\", \"side\": %d, \"how\": \"%s\", \"paper_seconds\": %.3f, \"paper_objective\": %.9g, "
            "\"paper_outer\": %d, \"paper_sweeps\": %lld, \"fast_seconds\": %.4f, \"fast_iterations\": %d, "
            "\"fast_objective\": %.9g, \"ratio\": %.1f}\n",
            side, how, published.seconds, published.objective, published.iterations, published.inner_iterations,
            fast.seconds, fast.iterations, fast.objective, published.seconds / fast.seconds);
    }
    scene_free(&scene);
}

/* ---- */

static void usage(int status)
{
    fprintf(stderr, "usage: solver [--json] [--log FILE] [--quick | --full] [--threads N]\n");
    exit(status);
}

static struct options parse(int argc, char **argv)
{
    struct options options = {0};
    for (int n = 1; n < argc; n++) {
        if (strcmp(argv[n], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[n], "--quick") == 0)
            options.quick = true;
        else if (strcmp(argv[n], "--full") == 0)
            options.full = true;
        else if (strcmp(argv[n], "--threads") == 0 && n + 1 < argc)
            options.threads = atoi(argv[++n]);
        else if (strcmp(argv[n], "--log") == 0 && n + 1 < argc && !options.log) {
            options.log = fopen(argv[++n], "w");
            if (!options.log)
                perror(argv[n]), exit(1);
        } else
            usage(strcmp(argv[n], "--help") != 0);
    }
    return options;
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    static const int sides[] = {256, 512, 1024, 2048, 3072};
    esra_solver *solver;
    if (esra_solver_create(&solver) != ESRA_OK)
        return 1;
    double copy = copy_s_a_byte();
    tell(&options, "copying: %.1f GB/s, reads and writes counted\n", 1e-9 / copy);
    for (int n = 0; n < (options.full ? 5 : 3); n++)
        bench_iteration(&options, solver, sides[n], 3, copy);
    for (int photos = 2; photos <= 5; photos += photos == 2 ? 3 : 1)
        bench_iteration(&options, solver, 512, photos, copy);
    bench_pactv(&options, solver, 1024);
    bench_all_gaps(&options, solver);
    bench_paper(&options, solver, 256, options.full ? 60 : 5);
    esra_solver_free(&solver);
    if (options.log)
        fclose(options.log);
    return 0;
}
