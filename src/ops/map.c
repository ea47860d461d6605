/* ops/map.c - where two dense maps meet: y with g(y) = f(x), by the damped fixed point
 *
 *     y <- y + (f(x) - g(y))/2
 *
 * which converges wherever g(y) - y changes by less than a pixel a pixel: everywhere but at steps of depth. */
#include "ops/map.h"

#include <math.h>

#include "base/four.h"
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

/* One sample of each of four pixels. */
static void look_up(const float *data, const int64_t at[FOUR], four_floats *to)
{
    for (int n = 0; n < FOUR; n++)
        (*to)[n] = data[at[n]];
}

/* Bilinear; the places are those of the samples above to the left, and how far the others are from them. */
static void interpolate(const float *data, int64_t places[4][FOUR], const four *fx, const four *fy, four *to)
{
    four_floats left, right, below_left, below_right;
    look_up(data, places[0], &left);
    look_up(data, places[1], &right);
    look_up(data, places[2], &below_left);
    look_up(data, places[3], &below_right);
    right -= left;
    below_right -= below_left;
    four above = __builtin_convertvector(left, four) + *fx * __builtin_convertvector(right, four);
    four below = __builtin_convertvector(below_left, four) + *fx * __builtin_convertvector(below_right, four);
    *to = above + *fy * (below - above);
}

/* g(y) by bilinear interpolation of its displacements, of four pixels. */
static void follow(const struct placed_map *placed, const four *x, const four *y, four *u, four *v)
{
    const struct image *map = placed->map;
    four column = *x - placed->left, row = *y - placed->top;
    four_clamp(&column, map->width - 1);
    four_clamp(&row, map->height - 1);
    four_whole i = __builtin_convertvector(column, four_whole), j = __builtin_convertvector(row, four_whole);
    four fx = column - __builtin_convertvector(i, four), fy = row - __builtin_convertvector(j, four);
    int64_t places[4][FOUR];
    for (int n = 0; n < FOUR; n++) {
        int64_t at = (int64_t)j[n] * map->width + i[n], right = i[n] < map->width - 1;
        int64_t below = at + (j[n] < map->height - 1 ? map->width : 0);
        places[0][n] = at;
        places[1][n] = at + right;
        places[2][n] = below;
        places[3][n] = below + right;
    }
    interpolate(map->data, places, &fx, &fy, u);
    interpolate(map->data + image_pixels(map), places, &fx, &fy, v);
    *u += *x - placed->left - column;
    *v += *y - placed->top - row;
}

/* Four pixels, from (x, y) on. Those that are close enough stay while others go on. */
struct pixels {
    four goal_x, goal_y, at_x, at_y, best_x, best_y, least;
};

/* y where g(y) - y is what it is at x. */
static void begin(const struct meeting *m, const four *x, const four *y, struct pixels *p)
{
    four u, v;
    follow(&m->map, x, y, &u, &v);
    p->at_x = p->goal_x - (u - *x);
    p->at_y = p->goal_y - (v - *y);
    p->best_x = *x;
    p->best_y = *y;
    p->least = (four){INFINITY, INFINITY, INFINITY, INFINITY};
}

static void iterate(const struct meeting *m, struct pixels *p)
{
    for (int k = 0; k < ITERATIONS; k++) {
        four_bits moving = p->least > CLOSE_PX * CLOSE_PX;
        four u, v;
        if (!four_any(&moving))
            break;
        follow(&m->map, &p->at_x, &p->at_y, &u, &v);
        four off_x = p->goal_x - u, off_y = p->goal_y - v, off = off_x * off_x + off_y * off_y;
        four_bits better = (off < p->least) & moving;
        p->least = four_select(better, off, p->least);
        p->best_x = four_select(better, p->at_x, p->best_x);
        p->best_y = four_select(better, p->at_y, p->best_y);
        p->at_x += 0.5 * off_x;
        p->at_y += 0.5 * off_y;
    }
}

/* Pixels (x, y) to (x + count - 1, y); past them the last one is repeated. */
static void meet_pixels(const struct meeting *m, int x, int y, int count)
{
    struct pixels p;
    four first_x, first_y;
    for (int n = 0; n < FOUR; n++) {
        int column = x + (n < count ? n : count - 1);
        first_x[n] = column;
        first_y[n] = y;
        p.goal_x[n] = m->target ? plane_row(image_plane(m->target, 0), y)[column] : (double)column;
        p.goal_y[n] = m->target ? plane_row(image_plane(m->target, 1), y)[column] : (double)y;
    }
    begin(m, &first_x, &first_y, &p);
    iterate(m, &p);
    for (int n = 0; n < count; n++) {
        plane_row(image_plane(m->out, 0), y)[x + n] = (float)p.best_x[n];
        plane_row(image_plane(m->out, 1), y)[x + n] = (float)p.best_y[n];
        if (m->met.data)
            plane_row(m->met, y)[x + n] = p.least[n] < MET_PX * MET_PX;
    }
}

static void meet_block(void *work, int task, int worker)
{
    const struct meeting *m = work;
    int width = m->out->width;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, m->out->height); y++)
        for (int x = 0; x < width; x += FOUR)
            meet_pixels(m, x, y, width - x < FOUR ? width - x : FOUR);
}
WIDE_TASK(meet_block)

void esra_map_meet(struct context *context, const struct image *target, const struct placed_map *map,
                   const struct image *out, struct plane met)
{
    struct meeting meeting = {target, out, *map, met};
    esra_context_run(context, WIDE(context, meet_block), &meeting, rows_blocks(out->height), NULL);
}
