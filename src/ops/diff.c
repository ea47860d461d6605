/* ops/diff.c - forward differences and their exact adjoint. */
#include "ops/diff.h"

#include <string.h>

#include "base/cells.h"

void esra_diff_forward(struct plane layer, struct plane p, struct plane q)
{
    int last = layer.width - 1;
    for (int y = 0; y < layer.height; y++) {
        const float *row = plane_row(layer, y);
        float *down = plane_row(p, y), *right = plane_row(q, y);
        if (y < layer.height - 1)
            for (int x = 0; x <= last; x++)
                down[x] = row[x + layer.stride] - row[x];
        else
            memset(down, 0, (size_t)layer.width * sizeof *down);
        for (int x = 0; x < last; x++)
            right[x] = row[x + 1] - row[x];
        right[last] = 0;
    }
}

void esra_diff_adjoint_row(const float *p_above, const float *p, const float *q, float *restrict out, int width)
{
    out[0] = width > 1 ? -q[0] : 0;
    for (int x = 1; x < width - 1; x++)
        out[x] = q[x - 1] - q[x];
    if (width > 1)
        out[width - 1] = q[width - 2];
    if (p_above)
        for (int x = 0; x < width; x++)
            out[x] += p_above[x];
    if (p)
        for (int x = 0; x < width; x++)
            out[x] -= p[x];
}

void esra_diff_adjoint(struct plane p, struct plane q, struct plane out)
{
    for (int y = 0; y < out.height; y++)
        esra_diff_adjoint_row(y > 0 ? plane_row(p, y - 1) : NULL, y < out.height - 1 ? plane_row(p, y) : NULL,
                              plane_row(q, y), plane_row(out, y), out.width);
}

/* d at (x, y), 0 past the border. */
static float difference(struct plane d, int x, int y)
{
    return x < d.width && y < d.height ? plane_row(d, y)[x] : 0;
}

void esra_diff_halve(struct plane p, struct plane q, struct plane half_p, struct plane half_q)
{
    static const float share[3] = {0.25f, 0.5f, 0.25f};
    for (int y = 0; y < half_p.height; y++)
        for (int x = 0; x < half_p.width; x++) {
            int right = cell_second(x, p.width), below = cell_second(y, p.height);
            float down = 0, across = 0;
            for (int k = 0; k < 3; k++) {
                down += share[k] * (difference(p, 2 * x, 2 * y + k) + difference(p, right, 2 * y + k));
                across += share[k] * (difference(q, 2 * x + k, 2 * y) + difference(q, 2 * x + k, below));
            }
            plane_row(half_p, y)[x] = y < half_p.height - 1 ? down : 0;
            plane_row(half_q, y)[x] = x < half_q.width - 1 ? across : 0;
        }
}
