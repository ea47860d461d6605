/* tests/ops/poisson.c - integration gives an image back from its gradients, and satisfies the normal equations
 * otherwise. */
#include "ops/poisson.h"

#include "check.h"
#include "ops/diff.h"

#define SIDE   150
#define CYCLES 12 /* leave what float32 can tell */

static float u[SIDE * SIDE], v[SIDE * SIDE], p[SIDE * SIDE], q[SIDE * SIDE], f[SIDE * SIDE], g[SIDE * SIDE];
static float scratch[5 * SIDE * SIDE];

static struct plane plane(float *data, int width, int height)
{
    return (struct plane){data, width, height, width};
}

static const int sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {5, 7}, {17, 33}, {64, 64}, {100, 37}, {127, 129}, {150, 150}};

static void gradients_of_an_image_give_it_back(void)
{
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int width = sizes[k][0], height = sizes[k][1], n = width * height;
        double mean = 0;
        CHECK(esra_poisson_scratch(width, height) <= sizeof scratch / sizeof *scratch);
        check_fill(u, (size_t)n, 0, 1);
        for (int i = 0; i < n; i++) /* low frequencies as well */
            u[i] += (float)(i / width) / (float)height;
        for (int i = 0; i < n; i++)
            mean += u[i] / (double)n;
        esra_diff_forward(plane(u, width, height), plane(p, width, height), plane(q, width, height));
        memset(v, 0, sizeof v);
        esra_poisson_improve(plane(p, width, height), plane(q, width, height), plane(v, width, height), CYCLES,
                             scratch);
        double worst = 0;
        for (int i = 0; i < n; i++)
            worst = fmax(worst, fabs(v[i] - (u[i] - mean)));
        CHECK_NEAR(worst, 0, 1e-3);
    }
}

static void any_field_meets_the_normal_equations(void)
{
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        int width = sizes[k][0], height = sizes[k][1], n = width * height;
        check_fill(p, (size_t)n, -1, 1);
        check_fill(q, (size_t)n, -1, 1);
        memset(v, 0, sizeof v);
        esra_diff_adjoint(plane(p, width, height), plane(q, width, height), plane(f, width, height));
        esra_poisson_improve(plane(p, width, height), plane(q, width, height), plane(v, width, height), CYCLES,
                             scratch);
        esra_diff_forward(plane(v, width, height), plane(p, width, height), plane(q, width, height));
        esra_diff_adjoint(plane(p, width, height), plane(q, width, height), plane(g, width, height));
        double left = 0, whole = 1e-12;
        for (int i = 0; i < n; i++) {
            left += ((double)f[i] - g[i]) * ((double)f[i] - g[i]);
            whole += (double)f[i] * f[i];
        }
        CHECK(sqrt(left / whole) < 1e-4);
    }
}

int main(void)
{
    RUN(gradients_of_an_image_give_it_back);
    RUN(any_field_meets_the_normal_equations);
    return check_report();
}
