/* tests/solve/pactv.c - PACTV against a plain restatement of the published iteration, and its answer against the
 * optimum's conditions; the paper's engine gives the same bits on any threads and instructions. */
#include "solve/pactv.h"

#include "base/cpu.h"
#include "instance.h"
#include "ops/diff.h"

#define SIDE   70
#define STRIDE (SIDE + 26 + 2 * KERNEL_PAD)

enum { D, EV, EH, LAYER, P, Q, PT, QT, PLANES };

static float store[PLANES][STRIDE * SIDE + 2 * KERNEL_PAD], zeros[STRIDE + KERNEL_PAD];

static struct pactv make(const struct kernels *kernels, int width, int height, double tolerance, int iterations)
{
    struct plane planes[PLANES];
    memset(store, 0, sizeof store);
    for (int n = 0; n < PLANES; n++)
        planes[n] = (struct plane){store[n] + KERNEL_PAD, width, height, STRIDE};
    for (int y = 0; y < height; y++) {
        check_fill(plane_row(planes[D], y), (size_t)width, -0.5, 1.5);
        check_fill(plane_row(planes[EV], y), (size_t)width, -0.1, 0.1);
        check_fill(plane_row(planes[EH], y), (size_t)width, -0.1, 0.1);
    }
    return (struct pactv){.d = planes[D],
                          .e_vertical = planes[EV],
                          .e_horizontal = planes[EH],
                          .beta = 0.1f,
                          .layer = planes[LAYER],
                          .p = planes[P],
                          .q = planes[Q],
                          .p_tilde = planes[PT],
                          .q_tilde = planes[QT],
                          .zeros = zeros + KERNEL_PAD,
                          .kernels = kernels,
                          .tolerance = tolerance,
                          .max_iterations = iterations};
}

/* Algorithm 2 in double, one iteration after the other, for as many as PACTV made. */
static double published_layer[SIDE * SIDE];

static void publish(const struct pactv *prox, int iterations)
{
    static double z[2][SIDE * SIDE], zt[2][SIDE * SIDE];
    int w = prox->d.width, h = prox->d.height;
    double t = 1;
    memset(z, 0, sizeof z);
    memset(zt, 0, sizeof zt);
    for (int k = 0; k <= iterations; k++) {
        double(*at)[SIDE * SIDE] = k < iterations ? zt : z, next = (1 + sqrt(1 + 4 * t * t)) / 2;
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                double adjoint = (y > 0 ? at[0][(y - 1) * w + x] : 0) - at[0][y * w + x] +
                                 (x > 0 ? at[1][y * w + x - 1] : 0) - at[1][y * w + x];
                double v = (double)plane_row(prox->d, y)[x] - (double)prox->beta * adjoint;
                published_layer[y * w + x] = v < 0 ? 0 : v > 1 ? 1 : v;
            }
        for (int n = 0; k < iterations && n < 2 * w * h; n++) {
            int across = n / (w * h), i = n % (w * h), y = i / w, x = i % w;
            if (across ? x == w - 1 : y == h - 1)
                continue;
            double difference = published_layer[across ? i + 1 : i + w] - published_layer[i];
            double e = plane_row(across ? prox->e_horizontal : prox->e_vertical, y)[x];
            double moved = zt[across][i] + (difference - e) / (DIFF_NORM_SQUARED * (double)prox->beta);
            moved = moved < -1 ? -1 : moved > 1 ? 1 : moved;
            zt[across][i] = moved + (t - 1) / next * (moved - z[across][i]);
            z[across][i] = moved;
        }
        t = next;
    }
}

static void it_is_the_published_iteration(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {16, 16}, {33, 20}, {SIDE, SIDE}};
    struct kernels kernels;
    esra_kernels_fill(&kernels, esra_cpu_features());
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++)
        for (int iterations = 1; iterations < 60; iterations += 1 + iterations / 2) {
            int w = sizes[n][0], h = sizes[n][1];
            struct pactv prox = make(&kernels, w, h, 0, iterations);
            int made = esra_pactv_solve(&prox);
            publish(&prox, made);
            double worst = 0;
            for (int y = 0; y < h; y++)
                for (int x = 0; x < w; x++)
                    worst = fmax(worst, fabs((double)plane_row(prox.layer, y)[x] - published_layer[y * w + x]));
            /* Rounding to float32, a little of it in each iteration. */
            CHECK_NEAR(worst, 0, 1e-5);
        }
}

static void instructions_do_not_matter(void)
{
    static const unsigned masks[] = {0, CPU_SSE2, CPU_AVX2, CPU_AVX512, CPU_NEON, CPU_SIMD128};
    static float first[STRIDE * SIDE + 2 * KERNEL_PAD];
    int made[6];
    for (int n = 0; n < 6; n++) {
        struct kernels kernels;
        esra_kernels_fill(&kernels, masks[n] & esra_cpu_features());
        check_state = 1;
        struct pactv prox = make(&kernels, SIDE, SIDE - 3, 1e-4, 1000);
        made[n] = esra_pactv_solve(&prox);
        if (n == 0)
            memcpy(first, store[LAYER], sizeof first);
        CHECK(made[n] == made[0] && memcmp(first, store[LAYER], sizeof first) == 0);
    }
    CHECK(made[0] > 10 && made[0] < 1000);
}

/* A restart changes the way, not the answer; and on a way this long it is shorter. */
static void a_restart_leads_to_the_same_layer(void)
{
    struct kernels kernels;
    static float first[STRIDE * SIDE + 2 * KERNEL_PAD];
    int made[2];
    esra_kernels_fill(&kernels, esra_cpu_features());
    for (int n = 0; n < 2; n++) {
        check_state = 1;
        struct pactv prox = make(&kernels, SIDE, SIDE - 3, 1e-7, 20000);
        prox.beta = 0.5f;
        prox.restart = n;
        made[n] = esra_pactv_solve(&prox);
        if (n == 0)
            memcpy(first, store[LAYER], sizeof first);
    }
    double worst = 0;
    for (size_t k = 0; k < sizeof first / sizeof first[0]; k++)
        worst = fmax(worst, fabs((double)(store[LAYER][k] - first[k])));
    CHECK_NEAR(worst, 0, 1e-3);
    if (!CHECK(made[1] < made[0]))
        printf("    %d iterations, with restarts %d\n", made[0], made[1]);
}

static void the_paper_engine_keeps_its_bits(void)
{
    struct instance it = instance_make(2, 45, 38, 3);
    size_t bytes = (size_t)(45 * 38 * 3 * (3 + 6)) * sizeof(float);
    float *first = malloc(bytes);
    esra_solver *solver;
    esra_settings settings;
    esra_info info;
    instance_fill(&it, 0, 1, 0.05);
    esra_settings_default(&settings);
    settings.engine = ESRA_ENGINE_PAPER;
    settings.max_iterations = 5;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int n = 0; n < 7; n++) {
        settings.threads = 1 + n;
        settings.cpu_mask = n < 6 ? (1 << n) / 2 : 31;
        CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
        instance_verify(&it, &info);
        if (n == 0)
            memcpy(first, it.layers[0].data, bytes);
        CHECK(memcmp(first, it.layers[0].data, bytes) == 0);
    }
    esra_solver_free(&solver);
    free(first);
    instance_free(&it);
}

int main(void)
{
    RUN(it_is_the_published_iteration);
    RUN(instructions_do_not_matter);
    RUN(a_restart_leads_to_the_same_layer);
    RUN(the_paper_engine_keeps_its_bits);
    return check_report();
}
