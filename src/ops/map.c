/* ops/map.c - where two dense maps meet: y with g(y) = f(x), by the damped fixed point
 *
 *     y <- y + (f(x) - g(y))/2
 *
 * which converges wherever g(y) - y changes by less than a pixel a pixel: everywhere but at steps of depth. */
#include "ops/map.h"

#include <math.h>

#include "base/rows.h"
#include "base/wide.h"

/* Half of the distance is left by every iteration, less where the map is smooth: from 30 px to 1/64 in eleven. */
#define ITERATIONS 24
#define CLOSE_PX   (1.0 / 64)
/* Bilinear warps of a picture whose edges are blurred by a pixel are then right to a quarter of an edge. */
#define MET_PX .25

struct meeting {
    const struct image *target, *out;
    struct placed_map map;
    struct plane met;
};

static double clamp(double value, double most)
{
    return value > 0 ? (value < most ? value : most) : 0;
}

/* g(y) by bilinear interpolation of its displacements. */
static void follow(const struct placed_map *placed, double x, double y, double *u, double *v)
{
    const struct image *map = placed->map;
    double column = clamp(x - placed->left, map->width - 1), row = clamp(y - placed->top, map->height - 1);
    int i = (int)column, j = (int)row, right = i < map->width - 1, down = j < map->height - 1;
    double fx = column - i, fy = row - j, at[2];
    for (int c = 0; c < 2; c++) {
        struct plane plane = image_plane(map, c);
        const float *upper = plane_row(plane, j) + i, *lower = plane_row(plane, j + down) + i;
        double above = upper[0] + fx * (upper[right] - upper[0]), below = lower[0] + fx * (lower[right] - lower[0]);
        at[c] = above + fy * (below - above);
    }
    *u = at[0] + (x - placed->left - column);
    *v = at[1] + (y - placed->top - row);
}

static void meet_pixel(const struct meeting *m, int x, int y)
{
    double goal_x = m->target ? plane_row(image_plane(m->target, 0), y)[x] : (double)x;
    double goal_y = m->target ? plane_row(image_plane(m->target, 1), y)[x] : (double)y;
    double at_x, at_y, u, v, best_x = x, best_y = y, least = INFINITY;
    follow(&m->map, x, y, &u, &v);
    at_x = goal_x - (u - x);
    at_y = goal_y - (v - y);
    for (int k = 0; k < ITERATIONS && least > CLOSE_PX * CLOSE_PX; k++) {
        follow(&m->map, at_x, at_y, &u, &v);
        double off = (goal_x - u) * (goal_x - u) + (goal_y - v) * (goal_y - v);
        if (off < least) {
            least = off;
            best_x = at_x;
            best_y = at_y;
        }
        at_x += 0.5 * (goal_x - u);
        at_y += 0.5 * (goal_y - v);
    }
    plane_row(image_plane(m->out, 0), y)[x] = (float)best_x;
    plane_row(image_plane(m->out, 1), y)[x] = (float)best_y;
    if (m->met.data)
        plane_row(m->met, y)[x] = least < MET_PX * MET_PX;
}

static void meet_block(void *work, int task, int worker)
{
    const struct meeting *m = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, m->out->height); y++)
        for (int x = 0; x < m->out->width; x++)
            meet_pixel(m, x, y);
}
WIDE_TASK(meet_block)

void esra_map_meet(struct context *context, const struct image *target, const struct placed_map *map,
                   const struct image *out, struct plane met)
{
    struct meeting meeting = {target, out, *map, met};
    esra_context_run(context, WIDE(context, meet_block), &meeting, rows_blocks(out->height), NULL);
}
