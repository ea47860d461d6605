/* ops/enlarge.c - Lanczos-3 by a scaling alone: sum_k w(v - k) sum_j w(u - j) from(j, k) with u = scale x, v = scale y.
 * The inner sums of a row of `from` serve many rows of `to`. They are kept for a tile at a time, on the stack, so that
 * nothing is allocated, and added as ops/resample.c adds them: both give the same bits. */
#include "ops/enlarge.h"

#include "base/wide.h"
#include "ops/lanczos.h"

/* A tile has as many rows as these lines serve: 72 at an eighth of the size, 18 at half of it. */
#define TILE_LINES   16
#define TILE_COLUMNS 128

struct enlarging {
    const struct image *from;
    const esra_image *base, *to;
    const lanczos_weights *weights;
    double scale;
    int tile_rows;
};

struct tile {
    int x, y, width, height;
    int first_line;
    struct taps across[TILE_COLUMNS];
    float lines[TILE_LINES][TILE_COLUMNS]; /* rows of `from` from the first line on, as wide as `to` */
};

static struct taps taps_down(const struct enlarging *e, const struct tile *tile, int j)
{
    return taps_at(e->weights, e->scale * (tile->y + j), e->from->height);
}

static void place_columns(const struct enlarging *e, struct tile *tile)
{
    for (int i = 0; i < tile->width; i++)
        tile->across[i] = taps_at(e->weights, e->scale * (tile->x + i), e->from->width);
}

static void widen_lines(const struct enlarging *e, int channel, struct tile *tile)
{
    int last = taps_down(e, tile, tile->height - 1).index[LANCZOS_TAPS - 1];
    tile->first_line = taps_down(e, tile, 0).index[0];
    for (int k = tile->first_line; k <= last; k++) {
        const float *row = plane_row(image_plane(e->from, channel), k);
        float *line = tile->lines[k - tile->first_line];
        for (int i = 0; i < tile->width; i++)
            line[i] = taps_sum(&tile->across[i], row);
    }
}

static void sum_lines(const struct tile *tile, const struct taps *down, float *restrict sums)
{
    const float *lines[LANCZOS_TAPS];
    for (int k = 0; k < LANCZOS_TAPS; k++)
        lines[k] = tile->lines[down->index[k] - tile->first_line];
    for (int i = 0; i < tile->width; i++) {
        float sum = 0;
        for (int k = 0; k < LANCZOS_TAPS; k++)
            sum += down->weight[k] * lines[k][i];
        sums[i] = sum;
    }
}

static inline float clip01(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

static void add_base(const esra_image *base, int x, int y, int channel, int count, float *sums)
{
    const float *row = image_sample(base, x, y, channel);
    for (int i = 0; i < count; i++)
        sums[i] = clip01(row[i * base->column_stride] + sums[i]);
}

static void enlarge_tile(const struct enlarging *e, struct tile *tile)
{
    float sums[TILE_COLUMNS];
    place_columns(e, tile);
    for (int c = 0; c < e->from->channels; c++) {
        widen_lines(e, c, tile);
        for (int j = 0; j < tile->height; j++) {
            struct taps down = taps_down(e, tile, j);
            sum_lines(tile, &down, sums);
            if (e->base)
                add_base(e->base, tile->x, tile->y + j, c, tile->width, sums);
            float *to = image_sample(e->to, tile->x, tile->y + j, c);
            for (int i = 0; i < tile->width; i++)
                to[i * e->to->column_stride] = sums[i];
        }
    }
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static void enlarge_rows(void *work, int task, int worker)
{
    const struct enlarging *e = work;
    struct tile tile;
    (void)worker;
    for (int x = 0; x < e->to->width; x += TILE_COLUMNS) {
        tile.x = x;
        tile.y = task * e->tile_rows;
        tile.width = least(e->to->width - x, TILE_COLUMNS);
        tile.height = least(e->to->height - tile.y, e->tile_rows);
        enlarge_tile(e, &tile);
    }
}
WIDE_TASK(enlarge_rows)

void esra_enlarge(struct context *context, const struct image *from, double scale, const esra_image *base,
                  const esra_image *to)
{
    /* Rows that n steps of one line each take span n + 1 lines, and the weights six. */
    int rows = (int)((TILE_LINES - LANCZOS_TAPS - 1) / scale);
    struct enlarging e = {from, base, to, esra_lanczos_weights(context), scale, rows};
    esra_context_run(context, WIDE(context, enlarge_rows), &e, (to->height + rows - 1) / rows, NULL);
}
