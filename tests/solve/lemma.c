/* tests/solve/lemma.c - the paper's proposition 1 and its lemma, and PACTV against answers found otherwise. */
#include "solve/pactv.h"

#include "base/cpu.h"
#include "check.h"
#include "ops/diff.h"

#define MAX_PIXELS 64
#define MAX_SIDE   64
#define STRIDE     (MAX_SIDE + 2 * KERNEL_PAD)

/* A prox problem of up to MAX_PIXELS, its samples one after the other. */
struct prox {
    float d[MAX_PIXELS], e1[MAX_PIXELS], e2[MAX_PIXELS], layer[MAX_PIXELS], p[MAX_PIXELS], q[MAX_PIXELS];
    float beta;
    int width, height;
    double tolerance;
    bool warm_start;
};

static void set_up(struct prox *prox, int width, int height, double beta)
{
    size_t n = (size_t)(width * height);
    memset(prox, 0, sizeof *prox);
    check_fill(prox->d, n, -0.3, 1.3);
    check_fill(prox->e1, n, -0.4, 0.4);
    check_fill(prox->e2, n, -0.4, 0.4);
    prox->width = width;
    prox->height = height;
    prox->beta = (float)beta;
    prox->tolerance = 1e-8;
}

/* Between the samples of a prox and planes with the paddings that kernels need. */
static void exchange(const struct prox *prox, float *samples, struct plane plane, bool load)
{
    for (int y = 0; y < prox->height; y++) {
        float *row = plane_row(plane, y), *own = samples + y * prox->width;
        memcpy(load ? row : own, load ? own : row, (size_t)prox->width * sizeof(float));
    }
}

static int solve(struct prox *prox)
{
    static float store[8][STRIDE * (MAX_SIDE + 1)], zeros[STRIDE];
    struct kernels kernels;
    struct plane planes[8];
    memset(store, 0, sizeof store);
    for (int n = 0; n < 8; n++)
        planes[n] = (struct plane){store[n] + KERNEL_PAD, prox->width, prox->height, STRIDE};
    esra_kernels_fill(&kernels, esra_cpu_features());
    exchange(prox, prox->d, planes[0], true);
    exchange(prox, prox->e1, planes[1], true);
    exchange(prox, prox->e2, planes[2], true);
    exchange(prox, prox->p, planes[4], true);
    exchange(prox, prox->q, planes[5], true);
    struct pactv pactv = {.d = planes[0],
                          .e_vertical = planes[1],
                          .e_horizontal = planes[2],
                          .layer = planes[3],
                          .p = planes[4],
                          .q = planes[5],
                          .p_tilde = planes[6],
                          .q_tilde = planes[7],
                          .zeros = zeros + KERNEL_PAD,
                          .kernels = &kernels,
                          .beta = prox->beta,
                          .warm_start = prox->warm_start,
                          .tolerance = prox->tolerance,
                          .max_iterations = 20000};
    int iterations = esra_pactv_solve(&pactv);
    exchange(prox, prox->layer, planes[3], false);
    exchange(prox, prox->p, planes[4], false);
    exchange(prox, prox->q, planes[5], false);
    return iterations;
}

static double clip01(double x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

/* D'(p,q) at a pixel, in double. */
static double adjoint(const struct prox *s, const double *p, const double *q, int x, int y)
{
    int n = y * s->width + x;
    return (y > 0 ? p[n - s->width] : 0) - (y < s->height - 1 ? p[n] : 0) + (x > 0 ? q[n - 1] : 0) -
           (x < s->width - 1 ? q[n] : 0);
}

/* H(p,q) of the paper's equation for the dual. */
static double dual_objective(const struct prox *s, const double *p, const double *q)
{
    double sum = 0, beta = s->beta;
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++) {
            int n = y * s->width + x;
            double v = s->d[n] - beta * adjoint(s, p, q, x, y), out = v - clip01(v);
            sum += 0.5 * (v * v - out * out);
            sum += y < s->height - 1 ? beta * p[n] * s->e1[n] : 0;
            sum += x < s->width - 1 ? beta * q[n] * s->e2[n] : 0;
        }
    return sum;
}

/* The lemma's gradient: -beta D P(v) + beta E. */
static void dual_gradient(const struct prox *s, const double *p, const double *q, double *gp, double *gq)
{
    double layer[MAX_PIXELS], beta = s->beta;
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++)
            layer[y * s->width + x] = clip01(s->d[y * s->width + x] - beta * adjoint(s, p, q, x, y));
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++) {
            int n = y * s->width + x;
            gp[n] = y < s->height - 1 ? -beta * (layer[n + s->width] - layer[n]) + beta * s->e1[n] : 0;
            gq[n] = x < s->width - 1 ? -beta * (layer[n + 1] - layer[n]) + beta * s->e2[n] : 0;
        }
}

static double primal_objective(const struct prox *s, const double *layer)
{
    double sum = 0, beta = s->beta;
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++) {
            int n = y * s->width + x;
            sum += 0.5 * (layer[n] - s->d[n]) * (layer[n] - s->d[n]);
            sum += y < s->height - 1 ? beta * fabs(layer[n + s->width] - layer[n] - s->e1[n]) : 0;
            sum += x < s->width - 1 ? beta * fabs(layer[n + 1] - layer[n] - s->e2[n]) : 0;
        }
    return sum;
}

static void random_dual(double *z, int n)
{
    for (int k = 0; k < n; k++)
        z[k] = check_random(-1, 1);
}

static void the_gradient_of_H_is_the_lemmas(void)
{
    struct prox s;
    double p[MAX_PIXELS], q[MAX_PIXELS], gp[MAX_PIXELS], gq[MAX_PIXELS];
    const double step = 1e-5;
    for (int repeat = 0; repeat < 20; repeat++) {
        set_up(&s, 1 + repeat % 5, 1 + repeat / 4, check_random(0.05, 1));
        int n = s.width * s.height;
        random_dual(p, n);
        random_dual(q, n);
        dual_gradient(&s, p, q, gp, gq);
        for (int k = 0; k < 2 * n; k++) {
            double *z = k < n ? &p[k] : &q[k - n], before = *z;
            *z = before + step;
            double above = dual_objective(&s, p, q);
            *z = before - step;
            double below = dual_objective(&s, p, q);
            *z = before;
            double kink =
                step * 4; /* H is C^1 with a Lipschitz gradient of at most 8 beta^2: the error of the quotient */
            CHECK_NEAR((above - below) / (2 * step), k < n ? gp[k] : gq[k - n], kink + 1e-9);
        }
    }
}

static double distance(const double *a, const double *b, const double *c, const double *d, int n)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]) + (c[k] - d[k]) * (c[k] - d[k]);
    return sqrt(sum);
}

static void the_gradient_of_H_is_lipschitz_with_8_beta_squared(void)
{
    struct prox s;
    double p[2][MAX_PIXELS], q[2][MAX_PIXELS], gp[2][MAX_PIXELS], gq[2][MAX_PIXELS];
    double worst = 0;
    for (int repeat = 0; repeat < 2000; repeat++) {
        set_up(&s, 8, 8, check_random(0.01, 2));
        /* Half of the pairs alternate in sign, where the differences are largest. */
        for (int side = 0; side < 2; side++) {
            random_dual(p[side], 64);
            random_dual(q[side], 64);
            for (int k = 0; k < 64 && repeat % 2; k++) {
                double sign = (k % 8 + k / 8) % 2 ? 0.1 : -0.1;
                p[side][k] = side ? p[0][k] + sign : 0.1 * p[side][k];
                q[side][k] = side ? q[0][k] + sign : 0.1 * q[side][k];
            }
            for (int k = 0; k < 64; k++)
                s.d[k] = 0.5f; /* inside the box, where clipping hides nothing */
        }
        for (int side = 0; side < 2; side++)
            dual_gradient(&s, p[side], q[side], gp[side], gq[side]);
        double bound = 8.0 * s.beta * s.beta;
        double ratio = distance(gp[0], gp[1], gq[0], gq[1], 64) / (bound * distance(p[0], p[1], q[0], q[1], 64));
        worst = ratio > worst ? ratio : worst;
    }
    CHECK(worst <= 1);
    CHECK(worst > 0.5);
}

static void widen(double *to, const float *from, int n)
{
    for (int k = 0; k < n; k++)
        to[k] = from[k];
}

/* Proposition 1 with strong duality: 1/2 |d|^2 - H(p,q) is a lower bound of the prox objective, and PACTV closes it. */
static void pactv_closes_the_duality_gap(void)
{
    struct prox s;
    double p[MAX_PIXELS], q[MAX_PIXELS], layer[MAX_PIXELS];
    for (int repeat = 0; repeat < 60; repeat++) {
        set_up(&s, 1 + repeat % 8, 1 + repeat / 8, check_random(0.02, 1.5));
        int n = s.width * s.height;
        solve(&s);
        widen(p, s.p, n);
        widen(q, s.q, n);
        widen(layer, s.layer, n);
        double energy = 0;
        for (int k = 0; k < n; k++) {
            energy += 0.5 * s.d[k] * s.d[k];
            CHECK(fabs(p[k]) <= 1 && fabs(q[k]) <= 1 && layer[k] >= 0 && layer[k] <= 1);
            CHECK_NEAR(layer[k], clip01(s.d[k] - s.beta * adjoint(&s, p, q, k % s.width, k / s.width)), 1e-6);
        }
        double gap = primal_objective(&s, layer) - (energy - dual_objective(&s, p, q));
        /* float32 iterates: beta |D L - E| is exact to 2^-23 a difference. */
        CHECK_NEAR(gap, 0, 1e-6 + 2.0 * n * s.beta * 0x1p-22);
    }
}

/* No layer near PACTV's is better: coordinate and random directions, and a full grid on two pixels. */
static void no_neighbour_beats_pactv(void)
{
    struct prox s;
    double layer[MAX_PIXELS], other[MAX_PIXELS];
    for (int repeat = 0; repeat < 30; repeat++) {
        set_up(&s, 1 + repeat % 4, 1 + repeat % 3, check_random(0.02, 1.5));
        int n = s.width * s.height;
        solve(&s);
        widen(layer, s.layer, n);
        double best = primal_objective(&s, layer);
        for (int trial = 0; trial < 2000; trial++) {
            double size = pow(10, check_random(-4, 0));
            for (int k = 0; k < n; k++)
                other[k] = clip01(layer[k] + size * (trial % 2 ? check_random(-1, 1) : trial % n == k));
            CHECK(primal_objective(&s, other) >= best - 1e-6);
        }
    }
}

static void two_pixels_by_brute_force(void)
{
    struct prox s;
    const int grid = 1000;
    for (int repeat = 0; repeat < 10; repeat++) {
        set_up(&s, repeat % 2 ? 2 : 1, repeat % 2 ? 1 : 2, check_random(0.02, 0.8));
        solve(&s);
        double best = INFINITY, at[2] = {0, 0};
        for (int a = 0; a <= grid; a++)
            for (int b = 0; b <= grid; b++) {
                double layer[2] = {(double)a / grid, (double)b / grid}, value = primal_objective(&s, layer);
                if (value < best)
                    best = value, at[0] = layer[0], at[1] = layer[1];
            }
        /* The objective is 1-strongly convex: a value within e of the least lies within sqrt(2 e) of the minimiser. */
        double spacing = 1.0 / grid, slack = (1 + 2 * s.beta) * 2 * spacing;
        CHECK_NEAR(s.layer[0], at[0], sqrt(2 * slack) + 1e-5);
        CHECK_NEAR(s.layer[1], at[1], sqrt(2 * slack) + 1e-5);
        CHECK(primal_objective(&s, (double[]){s.layer[0], s.layer[1]}) <= best + 1e-7);
    }
}

static void without_gradient_term_the_layer_is_clipped_data(void)
{
    struct prox s;
    set_up(&s, 6, 5, 0);
    CHECK(solve(&s) == 0);
    for (int k = 0; k < 30; k++)
        CHECK(s.layer[k] == (float)clip01(s.d[k]));
}

static void a_warm_start_at_the_answer_ends_at_once(void)
{
    struct prox s;
    set_up(&s, 7, 7, 0.2);
    s.tolerance = 1e-6;
    int cold = solve(&s);
    s.warm_start = true;
    int warm = solve(&s);
    CHECK(warm < cold);
}

int main(void)
{
    RUN(the_gradient_of_H_is_the_lemmas);
    RUN(the_gradient_of_H_is_lipschitz_with_8_beta_squared);
    RUN(pactv_closes_the_duality_gap);
    RUN(no_neighbour_beats_pactv);
    RUN(two_pixels_by_brute_force);
    RUN(without_gradient_term_the_layer_is_clipped_data);
    RUN(a_warm_start_at_the_answer_ends_at_once);
    return check_report();
}
