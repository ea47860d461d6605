/* ops/warp.c - the points of a bilinear warp, and the canvas rows that they touch. */
#include "ops/warp.h"

#include <string.h>

void esra_warp_layout(struct warp *warp, bool table, struct arena *arena)
{
    size_t height = (size_t)warp->height;
    size_t pixels = 0;
    if (!esra_size_multiply((size_t)warp->width, height, &pixels))
        arena->overflow = true;
    warp->right = warp->canvas_width > 1;
    warp->down = warp->canvas_height > 1 ? warp->canvas_width : 0;
    warp->points = table ? esra_arena_take(arena, pixels, sizeof *warp->points) : NULL;
    warp->low = esra_arena_take(arena, height, sizeof *warp->low);
    warp->high = esra_arena_take(arena, height, sizeof *warp->high);
}

/* Adds to the canvas rows that row y touches those of the points given. */
static void note_rows(struct warp *warp, int y, const struct warp_point *points, int count)
{
    int low = warp->low[y], high = warp->high[y];
    for (int x = 0; x < count; x++) {
        if (points[x].index < 0)
            continue;
        int upper = points[x].index / warp->canvas_width, lower = upper + (warp->down > 0);
        if (low >= high)
            low = high = upper;
        low = upper < low ? upper : low;
        high = lower >= high ? lower + 1 : high;
    }
    warp->low[y] = low;
    warp->high[y] = high;
}

/* So many points of a row at a time, where the row has no place. */
#define PART 64

void esra_warp_fill(struct warp *warp, int begin, int end)
{
    struct warp_point part[PART];
    for (int y = begin; y < end; y++) {
        warp->low[y] = warp->high[y] = 0;
        for (int x = 0; x < warp->width; x += PART) {
            int count = x + PART < warp->width ? PART : warp->width - x;
            struct warp_point *points = warp->points ? warp->points + (size_t)y * warp->width + x : part;
            warp_points(warp, y, x, x + count, points);
            note_rows(warp, y, points, count);
        }
    }
}

/* Mean of the map over the block of pixel (x, y), cut off at the map's border; in units and coordinates of the canvas.
 */
static struct warp_point point_of_block(const struct warp *warp, const struct warp_map *map, int x, int y)
{
    int step = map->step, right = (x + 1) * step < map->x.width ? (x + 1) * step : map->x.width;
    int bottom = (y + 1) * step < map->x.height ? (y + 1) * step : map->x.height;
    double u = 0, v = 0, count = (double)(right - x * step) * (bottom - y * step);
    for (int j = y * step; j < bottom; j++)
        for (int i = x * step; i < right; i++) {
            u += plane_row(map->x, j)[i];
            v += plane_row(map->y, j)[i];
        }
    /* A block cut off has its middle elsewhere: what is missing is taken to go on at the map's own pace of one. */
    u = u / count - map->left + 0.5 * (step - (right - x * step));
    v = v / count - map->top + 0.5 * (step - (bottom - y * step));
    return warp_point_near(warp->canvas_width, warp->canvas_height, true, (u - 0.5 * (step - 1)) / step,
                           (v - 0.5 * (step - 1)) / step);
}

void esra_warp_copy(struct warp *warp, const struct warp *from)
{
    size_t height = (size_t)warp->height;
    memcpy(warp->points, from->points, height * (size_t)warp->width * sizeof *warp->points);
    memcpy(warp->low, from->low, height * sizeof *warp->low);
    memcpy(warp->high, from->high, height * sizeof *warp->high);
}

void esra_warp_fill_map(struct warp *warp, const struct warp_map *map, int begin, int end)
{
    for (int y = begin; y < end; y++) {
        struct warp_point *row = warp->points + (size_t)y * warp->width;
        for (int x = 0; x < warp->width; x++)
            row[x] = point_of_block(warp, map, x, y);
        warp->low[y] = warp->high[y] = 0;
        note_rows(warp, y, row, warp->width);
    }
}
