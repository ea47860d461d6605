/* ops/warp.h - bilinear warp S of a canvas by h, a homography or a dense map, and its adjoint.
 *
 *     (S v)(x) = sum over the four samples k around h(x) of  w_k(x) v(k),      zero where h(x) leaves the canvas
 *     (S'u)(k) = sum over the pixels x that read k of  w_k(x) u(x)
 *
 * Both read the same table, an index and two fractions a pixel, so that the adjoint is exact whatever rounding went
 * into the table. h takes pixels of the frame (width x height) to pixels of the canvas; pixel centres are whole
 * numbers. The four weights of a pixel are not negative and add to 1. */
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
    struct warp_point *points;       /* [height * width] */
    int *low, *high;                 /* [height]: canvas rows [low, high) that a row of the frame touches */
};

/* Takes the table from the arena; the sizes must be set. */
void esra_warp_layout(struct warp *warp, struct arena *arena);

/* Copies the table of a warp of the same sizes. */
void esra_warp_copy(struct warp *warp, const struct warp *from);

/* Fills the rows [begin, end) of the table; h is a 3x3 matrix, row by row. */
void esra_warp_fill(struct warp *warp, const double h[9], int begin, int end);

/* Where each pixel of a full-size frame goes, in full-size pixels, and the grid on which a warp wants it: pixel x of a
 * warp coarser by `step` is the mean of pixels step x .. step x + step - 1, and so are its canvas' samples, the first
 * of which begins at (left, top). */
struct warp_map {
    struct plane x, y;
    int step;
    double left, top;
};

/* The same from a dense map; positions that are not finite lie outside. The warp's frame is the map's size divided by
 * step, rounded up. */
void esra_warp_fill_map(struct warp *warp, const struct warp_map *map, int begin, int end);

/* (S canvas)(n), all colours. Pixel n must lie inside. */
static inline colours warp_sample(const struct warp *warp, const colours *canvas, size_t n)
{
    struct warp_point point = warp->points[n];
    float fx = point.fx * WARP_FRACTION, fy = point.fy * WARP_FRACTION;
    const colours *at = canvas + point.index;
    colours upper = at[0] + fx * (at[warp->right] - at[0]);
    colours lower = at[warp->down] + fx * (at[warp->down + warp->right] - at[warp->down]);
    return upper + fy * (lower - upper);
}

/* Adds the adjoint of one pixel: canvas is only a part of the whole that begins at sample `offset`. */
static inline void warp_scatter(const struct warp *warp, colours *canvas, ptrdiff_t offset, size_t n, colours value)
{
    struct warp_point point = warp->points[n];
    float fx = point.fx * WARP_FRACTION, fy = point.fy * WARP_FRACTION;
    colours *at = canvas + (point.index - offset);
    colours lower = fy * value, upper = value - lower;
    at[0] += upper - fx * upper;
    at[warp->right] += fx * upper;
    at[warp->down] += lower - fx * lower;
    at[warp->down + warp->right] += fx * lower;
}

#endif
