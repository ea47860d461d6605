/* ops/warp.h - bilinear warp S of a canvas by h, a homography or a dense map, and its adjoint.
 *
 *     (S v)(x) = sum over the four samples k around h(x) of  w_k(x) v(k),      zero where h(x) leaves the canvas
 *     (S'u)(k) = sum over the pixels x that read k of  w_k(x) u(x)
 *
 * Both read the same points, an index and two fractions a pixel, so that the adjoint is exact whatever rounding went
 * into these. h takes pixels of the frame (width x height) to pixels of the canvas; pixel centres are whole numbers.
 * The four weights of a pixel are not negative and add to 1. */
#ifndef ESRA_OPS_WARP_H
#define ESRA_OPS_WARP_H

#include "base/colours.h"
#include "base/memory.h"
#include "base/plane.h"
#include "kernels/kernels.h"

struct warp {
    int width, height;               /* of the frame */
    int canvas_width, canvas_height; /* their product fits in 31 bits */
    int right, down;                 /* from a sample to its neighbours; 0 where the canvas is one pixel wide or high */
    double motion[9];                /* h, a 3x3 matrix, row by row; not of a dense map */
    struct warp_point *points;       /* the table [height * width]; NULL: made of h, whenever a row is wanted */
    int *low, *high;                 /* [height]: canvas rows [low, high) that a row of the frame touches */
};

/* Takes the table, where there is to be one, from the arena; the sizes must be set. */
void esra_warp_layout(struct warp *warp, bool table, struct arena *arena);

/* Copies the table of a warp of the same sizes. */
void esra_warp_copy(struct warp *warp, const struct warp *from);

/* Rows [begin, end) of the homography `motion`. */
void esra_warp_fill(struct warp *warp, int begin, int end);

/* Where each pixel of a full-size frame goes, in full-size pixels, and the grid on which a warp wants it: pixel x of a
 * warp coarser by `step` is the mean of pixels step x .. step x + step - 1, and so are its canvas' samples, the first
 * of which begins at (left, top). */
struct warp_map {
    struct plane x, y;
    int step;
    double left, top;
};

/* The same of a dense map, which needs the table; positions that are not finite lie outside. The warp's frame is the
 * map's size divided by step, rounded up. */
void esra_warp_fill_map(struct warp *warp, const struct warp_map *map, int begin, int end);

/* The samples around (u, v), nowhere unless it lies `ahead`. There is no branch, and what is computed does not depend
 * on the answer: loops of it become vectors. The slack keeps the border itself inside when h rounds: the identity must
 * see every pixel. */
static inline struct warp_point warp_point_near(int canvas_width, int canvas_height, bool ahead, double u, double v)
{
    const double slack = 1e-6;
    double right = canvas_width - 1, bottom = canvas_height - 1;
    bool inside = ahead & (u >= -slack) & (u <= right + slack) & (v >= -slack) & (v <= bottom + slack);
    int last_column = canvas_width > 1 ? canvas_width - 2 : 0, last_row = canvas_height > 1 ? canvas_height - 2 : 0;
    u = u > 0 ? u : 0; /* NaN, too */
    v = v > 0 ? v : 0;
    u = u < right ? u : right;
    v = v < bottom ? v : bottom;
    int column = (int)u, row = (int)v;
    column = column < last_column ? column : last_column;
    row = row < last_row ? row : last_row;
    int fx = (int)((u - column) * (1 / WARP_FRACTION) + 0.5), fy = (int)((v - row) * (1 / WARP_FRACTION) + 0.5);
    return (struct warp_point){inside ? row * canvas_width + column : -1, (uint32_t)fx | (uint32_t)fy << 16};
}

/* Those of h(x, y) for x in [begin, end). At or beyond the horizon nothing is seen; h is scaled so that its
 * denominator is about 1. */
static inline void warp_points(const struct warp *warp, int y, int begin, int end, struct warp_point *restrict points)
{
    const double *h = warp->motion;
    const int canvas_width = warp->canvas_width, canvas_height = warp->canvas_height;
    const double across = h[0], down = h[3], far = h[6];
    const double u = h[1] * y + h[2], v = h[4] * y + h[5], w = h[7] * y + h[8];
    for (int x = begin; x < end; x++) {
        double distance = far * x + w, scale = 1 / distance;
        points[x - begin] = warp_point_near(canvas_width, canvas_height, distance > 1e-9, (across * x + u) * scale,
                                            (down * x + v) * scale);
    }
}

/* Row y of the table, made in `room`, of the frame's width, where there is none. The bits are the same. */
static inline const struct warp_point *warp_row(const struct warp *warp, int y, struct warp_point *room)
{
    if (warp->points)
        return warp->points + (size_t)y * warp->width;
    warp_points(warp, y, 0, warp->width, room);
    return room;
}

/* A single point. */
static inline struct warp_point warp_at(const struct warp *warp, int x, int y)
{
    struct warp_point point;
    if (warp->points)
        return warp->points[(size_t)y * warp->width + x];
    warp_points(warp, y, x, x + 1, &point);
    return point;
}

/* (S canvas)(x), all colours, of a pixel that lies inside, at this point. */
static inline colours warp_sample(const struct warp *warp, const colours *canvas, struct warp_point point)
{
    float fx = warp_right(point), fy = warp_down(point);
    const colours *at = canvas + point.index;
    colours upper = at[0] + fx * (at[warp->right] - at[0]);
    colours lower = at[warp->down] + fx * (at[warp->down + warp->right] - at[warp->down]);
    return upper + fy * (lower - upper);
}

/* Adds the adjoint of one pixel: canvas is only a part of the whole that begins at sample `offset`. */
static inline void warp_scatter(const struct warp *warp, colours *canvas, ptrdiff_t offset, struct warp_point point,
                                colours value)
{
    float fx = warp_right(point), fy = warp_down(point);
    colours *at = canvas + (point.index - offset);
    colours lower = fy * value, upper = value - lower;
    at[0] += upper - fx * upper;
    at[warp->right] += fx * upper;
    at[warp->down] += lower - fx * lower;
    at[warp->down + warp->right] += fx * lower;
}

#endif
