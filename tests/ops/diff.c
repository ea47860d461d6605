/* tests/ops/diff.c - the differences' adjoint is exact, and their norm is bounded by 8. */
#include "ops/diff.h"

#include "check.h"
#include "ops/vectors.h"

#define SIDE 40

static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], d[SIDE * SIDE], e[SIDE * SIDE], f[SIDE * SIDE];

/* <D L, (p,q)> = <L, D'(p,q)> for every size; what stands in p's last row and q's last column must not matter. */
static void the_adjoint_is_exact(void)
{
    for (int height = 1; height <= SIDE; height += 1 + height / 4)
        for (int width = 1; width <= SIDE; width += 1 + width / 4) {
            int n = width * height;
            check_fill(a, (size_t)n, -1, 1);
            check_fill(b, (size_t)n, -1, 1);
            check_fill(c, (size_t)n, -1, 1);
            esra_diff_forward(plane(a, width, height), plane(d, width, height), plane(e, width, height));
            esra_diff_adjoint(plane(b, width, height), plane(c, width, height), plane(f, width, height));
            /* Rounding: 2 n products of size at most 2, each exact to 2^-24. */
            CHECK_NEAR(dot(d, b, n) + dot(e, c, n), dot(a, f, n), 4.0 * n * 0x1p-24 + 1e-12);
        }
}

static void missing_differences_are_zero(void)
{
    int width = 7, height = 5;
    check_fill(a, SIDE * SIDE, -1, 1);
    esra_diff_forward(plane(a, width, height), plane(d, width, height), plane(e, width, height));
    for (int x = 0; x < width; x++)
        CHECK(d[(height - 1) * width + x] == 0);
    for (int y = 0; y < height; y++)
        CHECK(e[y * width + width - 1] == 0);
    CHECK(d[0] == a[width] - a[0] && e[0] == a[1] - a[0]);
}

/* The power method finds the largest |D L|^2/|L|^2: close to 8 on a large image, never above. */
static void the_norm_is_under_eight(void)
{
    int n = SIDE * SIDE;
    double norm = 0;
    check_fill(a, (size_t)n, -1, 1);
    for (int k = 0; k < 500; k++) {
        double length = sqrt(dot(a, a, n));
        for (int i = 0; i < n; i++)
            a[i] = (float)(a[i] / length);
        esra_diff_forward(plane(a, SIDE, SIDE), plane(d, SIDE, SIDE), plane(e, SIDE, SIDE));
        norm = dot(d, d, n) + dot(e, e, n);
        CHECK(norm <= DIFF_NORM_SQUARED * (1 + 1e-6));
        esra_diff_adjoint(plane(d, SIDE, SIDE), plane(e, SIDE, SIDE), plane(a, SIDE, SIDE));
    }
    CHECK(norm > 0.99 * DIFF_NORM_SQUARED);
}

int main(void)
{
    RUN(the_adjoint_is_exact);
    RUN(missing_differences_are_zero);
    RUN(the_norm_is_under_eight);
    return check_report();
}
