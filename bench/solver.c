/* bench/solver.c - how fast the problem is solved, on problems it makes itself.
 *
 *     solver [--json] [--quick] [--threads N]
 *
 * The machine may be shared, so nothing absolute is to be trusted across runs: what is compared is run in turns, the best
 * of several counts, and the copy bandwidth is measured in the same run. */
#define _DEFAULT_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scene.h"

#define REPEATS 3

struct options {
    bool json, quick;
    int threads;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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

/* ---- Iterations and seconds to a gap ---- */

static void print_run(const struct options *options, const struct scene *scene, bool good, double lambda, double gap,
                      const esra_info *info)
{
    if (options->json)
        printf("{\"bench\": \"gap\", \"width\": %d, \"height\": %d, \"m\": %d, \"gradients\": \"%s\", \"lambda\": %g, "
               "\"gap\": %g, \"iterations\": %d, \"seconds\": %.4f, \"proven\": %.3g, \"objective\": %.9g, \"threads\": %d}\n",
               scene->width, scene->height, scene->photos, good ? "good" : "poor", lambda, gap, info->iterations,
               info->seconds, info->gap, info->objective, info->threads);
    else
        printf("%5d x %-5d m %d  %s E  lambda %-6g gap %-6g  %4d iterations  %7.3f s  (proven %.2g)\n", scene->width,
               scene->height, scene->photos, good ? "good" : "poor", lambda, gap, info->iterations, info->seconds, info->gap);
    fflush(stdout);
}

static void bench_gaps(const struct options *options, esra_solver *solver, int width, int height, int photos)
{
    static const double lambdas[] = {1e-3, 1e-2, 3e-2}, gaps[] = {1e-2, 1e-3, 5e-4};
    for (int good = 1; good >= 0; good--) {
        struct scene scene;
        if (!scene_make(&scene, width, height, photos, good))
            continue;
        for (int l = options->quick; l < (options->quick ? 2 : 3); l++)
            for (int g = options->quick; g < (options->quick ? 2 : 3); g++) {
                esra_settings settings = settings_of(options, lambdas[l], gaps[g], 0);
                esra_info info = run(solver, &scene, &settings);
                print_run(options, &scene, good, lambdas[l], gaps[g], &info);
            }
        scene_free(&scene);
    }
}

/* ---- Cost of an iteration ---- */

/* Two runs that differ by so many iterations and in nothing else. */
static double iteration_s(const struct options *options, esra_solver *solver, const struct scene *scene, int threads)
{
    int few = 1, many = few + (int)fmax(10, 3e7 / ((double)scene->width * scene->height));
    double least[2] = {INFINITY, INFINITY};
    for (int n = 0; n < REPEATS; n++)
        for (int k = 0; k < 2; k++) {
            esra_settings settings = settings_of(options, 1e-2, 0, k ? many : few);
            settings.threads = threads;
            least[k] = fmin(least[k], run(solver, scene, &settings).seconds);
        }
    return (least[1] - least[0]) / (many - few);
}

static void bench_iteration(const struct options *options, esra_solver *solver, int side, int photos, double copy)
{
    struct scene scene;
    if (!scene_make(&scene, side, side, photos, true))
        return;
    double layer_pixels = (double)side * side * (photos + 1);
    /* x, p, q, z read and written, E read, for each layer; I and, twice, g read for each pixel. */
    double bytes = 4 * (10 * (photos + 1) + photos + 3.0) / (photos + 1);
    for (int threads = 1; threads <= 2; threads++) {
        double ns = 1e9 * iteration_s(options, solver, &scene, threads) / layer_pixels, floor_ns = 1e9 * copy * bytes;
        printf(options->json ? "{\"bench\": \"iteration\", \"side\": %d, \"m\": %d, \"threads\": %d, \"ns_a_layer_pixel\": "
                               "%.3f, \"copy_floor_ns\": %.3f}\n"
                             : "%5d^2  m %d  %d thread(s): %.3f ns a layer-pixel and iteration; copying as many bytes: %.3f\n",
               side, photos, threads, ns, floor_ns);
        fflush(stdout);
    }
    scene_free(&scene);
}

/* ---- Against the paper ---- */

/* The paper's engine runs for a given time; then the fast one until its F is as low. */
static void bench_paper(const struct options *options, esra_solver *solver, int side, double limit_s)
{
    struct scene scene;
    if (!scene_make(&scene, side, side, 3, true))
        return;
    esra_settings paper = settings_of(options, 1e-2, 1e-6, 0);
    paper.engine = ESRA_ENGINE_PAPER;
    paper.time_limit_s = limit_s;
    esra_info published = run(solver, &scene, &paper), fast = ESRA_INFO_INIT;
    double spent = INFINITY;
    int iterations = 1;
    for (; iterations < 4096; iterations *= 2) {
        esra_settings settings = settings_of(options, 1e-2, 0, iterations);
        fast = run(solver, &scene, &settings);
        spent = fast.seconds;
        if (fast.objective <= published.objective)
            break;
    }
    printf(options->json
               ? "{\"bench\": \"paper\", \"side\": %d, \"paper_seconds\": %.3f, \"paper_objective\": %.9g, \"paper_outer\": %d, "
                 "\"paper_sweeps\": %lld, \"fast_seconds\": %.4f, \"fast_objective\": %.9g, \"ratio\": %.1f}\n"
               : "%5d^2: paper %.2f s to F %.6g (%d outer iterations, %lld sweeps of a layer); fast %.3f s to F %.6g: %.0f times "
                 "sooner\n",
           side, published.seconds, published.objective, published.iterations, published.inner_iterations, spent,
           fast.objective, published.seconds / spent);
    fflush(stdout);
    scene_free(&scene);
}

static struct options parse(int argc, char **argv)
{
    struct options options = {false, false, 0};
    for (int n = 1; n < argc; n++) {
        if (strcmp(argv[n], "--json") == 0)
            options.json = true;
        else if (strcmp(argv[n], "--quick") == 0)
            options.quick = true;
        else if (strcmp(argv[n], "--threads") == 0 && n + 1 < argc)
            options.threads = atoi(argv[++n]);
        else {
            fprintf(stderr, "usage: solver [--json] [--quick] [--threads N]\n");
            exit(strcmp(argv[n], "--help") != 0);
        }
    }
    return options;
}

int main(int argc, char **argv)
{
    struct options options = parse(argc, argv);
    static const int sizes[][2] = {{256, 256}, {512, 512}, {1024, 1024}, {4096, 3072}}, photos[] = {3, 2, 5};
    esra_solver *solver;
    if (esra_solver_create(&solver) != ESRA_OK)
        return 1;
    double copy = copy_s_a_byte();
    if (!options.json)
        printf("copying: %.1f GB/s, reads and writes counted\n", 1e-9 / copy);
    for (int n = 0; n < (options.quick ? 3 : 4); n++)
        bench_iteration(&options, solver, n < 3 ? sizes[n][0] : 3072, 3, copy);
    for (int n = 0; n < (options.quick ? 3 : 4); n++)
        for (int k = 0; k < (n == 2 && !options.quick ? 3 : 1); k++)
            bench_gaps(&options, solver, sizes[n][0], sizes[n][1], photos[k]);
    bench_paper(&options, solver, 256, options.quick ? 5 : 60);
    esra_solver_free(&solver);
    return 0;
}
