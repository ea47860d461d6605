/* ops/poisson.c - least-squares integration by multigrid V-cycles on D'D u = f.
 *
 * Pixels are cells: a coarse cell is 2x2 fine ones (fewer at an odd border). Prolongation P is bilinear between cell
 * centres, restriction its transpose; the coarse operator is D'D again, since P' grows f fourfold just as doubling the
 * distance between samples grows D'D. Gauss-Seidel sweeps, forward before the coarse correction and backward after it.
 */
#include "ops/poisson.h"

#include <math.h>
#include <string.h>

#include "base/cells.h"
#include "ops/diff.h"

#define COARSEST        4 /* a side this small is solved by sweeping */
#define COARSEST_SWEEPS 20

static int half(int length)
{
    return (length + 1) / 2;
}

size_t esra_poisson_scratch(int width, int height)
{
    size_t floats = (size_t)width * height * 2; /* f and the residual */
    while (width > COARSEST || height > COARSEST) {
        width = half(width);
        height = half(height);
        floats += (size_t)width * height * 3; /* u, f and the residual */
    }
    return floats;
}

/* sum of the neighbours' differences: -(D'D u) at one pixel; their number in *degree. */
static float neighbours(struct plane u, int x, int y, float *degree)
{
    const float *row = plane_row(u, y);
    float sum = 0, count = 0;
    if (x > 0)
        sum += row[x - 1], count++;
    if (x < u.width - 1)
        sum += row[x + 1], count++;
    if (y > 0)
        sum += row[x - u.stride], count++;
    if (y < u.height - 1)
        sum += row[x + u.stride], count++;
    *degree = count;
    return sum;
}

static void relax(struct plane u, struct plane f, int x, int y)
{
    float degree, sum = neighbours(u, x, y, &degree);
    if (degree > 0)
        plane_row(u, y)[x] = (sum + plane_row(f, y)[x]) / degree;
}

static void sweep(struct plane u, struct plane f, int backward)
{
    for (int k = 0; k < u.height; k++)
        for (int j = 0; j < u.width; j++)
            relax(u, f, backward ? u.width - 1 - j : j, backward ? u.height - 1 - k : k);
}

static void residual(struct plane u, struct plane f, struct plane r)
{
    for (int y = 0; y < u.height; y++)
        for (int x = 0; x < u.width; x++) {
            float degree, sum = neighbours(u, x, y, &degree);
            plane_row(r, y)[x] = plane_row(f, y)[x] - (degree * plane_row(u, y)[x] - sum);
        }
}

static void restrict_to(struct plane r, struct plane f)
{
    memset(f.data, 0, (size_t)f.width * f.height * sizeof(float));
    /* In an image one pixel wide only one side is halved, and f grows but twofold: made up for here. */
    float scale = r.width == 1 || r.height == 1 ? 0.125f : 0.0625f;
    for (int y = 0; y < r.height; y++)
        for (int x = 0; x < r.width; x++) {
            float v = plane_row(r, y)[x] * scale;
            float *near = plane_row(f, y / 2), *far = plane_row(f, cell_beside(y, f.height));
            int u = x / 2, w = cell_beside(x, f.width);
            near[u] += 9 * v;
            near[w] += 3 * v;
            far[u] += 3 * v;
            far[w] += v;
        }
}

static void add_prolonged(struct plane coarse, struct plane u)
{
    for (int y = 0; y < u.height; y++)
        for (int x = 0; x < u.width; x++) {
            const float *near = plane_row(coarse, y / 2), *far = plane_row(coarse, cell_beside(y, coarse.height));
            int k = x / 2, w = cell_beside(x, coarse.width);
            plane_row(u, y)[x] += 0.0625f * (9 * near[k] + 3 * near[w] + 3 * far[k] + far[w]);
        }
}

static struct plane take(float **scratch, int width, int height)
{
    struct plane plane = {*scratch, width, height, width};
    *scratch += (size_t)width * height;
    return plane;
}

static void cycle(struct plane u, struct plane f, struct plane r, float *scratch)
{
    if (u.width <= COARSEST && u.height <= COARSEST) {
        for (int k = 0; k < COARSEST_SWEEPS; k++)
            sweep(u, f, k % 2);
        return;
    }
    int width = half(u.width), height = half(u.height);
    struct plane coarse_u = take(&scratch, width, height), coarse_f = take(&scratch, width, height),
                 coarse_r = take(&scratch, width, height);
    sweep(u, f, 0);
    residual(u, f, r);
    restrict_to(r, coarse_f);
    memset(coarse_u.data, 0, (size_t)width * height * sizeof(float));
    cycle(coarse_u, coarse_f, coarse_r, scratch);
    add_prolonged(coarse_u, u);
    sweep(u, f, 1);
}

/* D'D knows no constant: it is taken out before it can grow. */
static void remove_mean(struct plane u)
{
    double sum = 0;
    size_t pixels = (size_t)u.width * u.height;
    for (size_t n = 0; n < pixels; n++)
        sum += u.data[n];
    float mean = (float)(sum / (double)pixels);
    for (size_t n = 0; n < pixels; n++)
        u.data[n] -= mean;
}

void esra_poisson_improve(struct plane p, struct plane q, struct plane u, int cycles, float *scratch)
{
    struct plane f = take(&scratch, u.width, u.height), r = take(&scratch, u.width, u.height);
    esra_diff_adjoint(p, q, f);
    for (int k = 0; k < cycles; k++) {
        cycle(u, f, r, scratch);
        remove_mean(u);
    }
}
