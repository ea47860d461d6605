/* kernels/vector_photo.h - the joint solve's kernel for vectors of LANES/COLOURS pixels, included by vector.h. An
 * instance defines besides
 *
 *     spread_pixels(from)  the floats at `from`, one a pixel, each in all lanes of its pixel
 *     every_pixel(v)       one pixel's colours in every pixel
 *     SPREAD_FRACTIONS     index list over the points' words: each of the odd ones COLOURS times
 *     LAST_THEN_ALL        index list over (before, v): the last pixel of before, then all of v but its last
 *     LAST_PIXEL           index list: the lanes of the last pixel
 *
 * Pixels beside one another mostly fall beside one another on the canvas too. Then the samples of a whole vector of
 * pixels are vectors in memory, and the pixels' parts of the strip are two vectors that lie one sample apart: each
 * sample gets the part of the pixel to its left before that of the pixel above it, as in the order of the pixels. What
 * the last pixel adds to the sample on its right is carried in registers: were it stored, the next load would have to
 * wait for it. */
#define PIXELS (LANES / COLOURS)

typedef int32_t whole_vector __attribute__((vector_size(LANES * 4)));
typedef int32_t words __attribute__((vector_size(PIXELS * 8)));

/* Sums of the strip at two samples, one below the other, that are not stored yet: the last pixel of each vector. */
struct carried {
    ptrdiff_t at; /* the upper one, in samples of the strip; -1: none */
    vector upper, lower;
};

INLINE colours load_colours(const float *from)
{
    colours v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store_colours(float *to, colours v)
{
    memcpy(to, &v, sizeof v);
}

#if PIXELS > 1
INLINE colours last_of(vector v)
{
    return __builtin_shufflevector(v, v, LAST_PIXEL);
}
#else
#define last_of(v)     (v)
#define every_pixel(v) (v)
#endif

INLINE void carry(struct carried *carried, ptrdiff_t at, float *strip, ptrdiff_t down)
{
    if (carried->at == at)
        return;
    if (carried->at >= 0) {
        store_colours(strip + COLOURS * carried->at, last_of(carried->upper));
        store_colours(strip + COLOURS * (carried->at + down), last_of(carried->lower));
    }
    carried->at = at;
    if (at >= 0) {
        carried->upper = every_pixel(load_colours(strip + COLOURS * at));
        carried->lower = every_pixel(load_colours(strip + COLOURS * (at + down)));
    }
}

INLINE void photo_pixel(const struct photo_row *row, int x, struct carried *carried)
{
    ptrdiff_t at = row->points[x].index - row->offset, down = COLOURS * row->down;
    const float *canvas = row->canvas + COLOURS * at;
    float *strip = row->strip + COLOURS * at, *q = row->q + COLOURS * x;
    float fx = warp_right(row->points[x]), fy = warp_down(row->points[x]);
    carry(carried, at, row->strip, row->down);
    colours upper = load_colours(canvas), lower = load_colours(canvas + down);
    upper = upper + fx * (load_colours(canvas + COLOURS) - upper);
    lower = lower + fx * (load_colours(canvas + down + COLOURS) - lower);
    colours u =
        row->weight[x] * (row->a * load_colours(row->p + COLOURS * x) + row->b * (upper + fy * (lower - upper)));
    store_colours(q, load_colours(q) + row->a * u);
    u = row->b * u;
    lower = fy * u;
    upper = u - lower;
    store_colours(strip, last_of(carried->upper) + (upper - fx * upper));
    store_colours(strip + down, last_of(carried->lower) + (lower - fx * lower));
    carried->at = at + 1;
    carried->upper = every_pixel(load_colours(strip + COLOURS) + fx * upper);
    carried->lower = every_pixel(load_colours(strip + down + COLOURS) + fx * lower);
}

#if PIXELS > 1
INLINE bool side_by_side(const struct warp_point *points)
{
    int32_t apart = 0, first = points[0].index;
    for (int k = 1; k < PIXELS; k++)
        apart |= points[k].index - first - k;
    return apart == 0 && first >= 0;
}

/* The parts for the samples at `strip` and on, and for those one further; the last sum is carried on. */
INLINE void add_parts(float *strip, vector left, vector right, vector *carried)
{
    vector sums = load(strip + COLOURS) + right;
    store(strip, __builtin_shufflevector(*carried, sums, LAST_THEN_ALL) + left);
    *carried = sums;
}

INLINE void photo_pixels(const struct photo_row *row, int x, struct carried *carried)
{
    ptrdiff_t at = row->points[x].index - row->offset, down = COLOURS * row->down;
    const float *canvas = row->canvas + COLOURS * at;
    float *strip = row->strip + COLOURS * at, *q = row->q + COLOURS * x;
    words points;
    memcpy(&points, row->points + x, sizeof points);
    whole_vector fractions = __builtin_shufflevector(points, points, SPREAD_FRACTIONS);
    vector fx = __builtin_convertvector(fractions & 0xffff, vector) * WARP_FRACTION;
    vector fy = __builtin_convertvector((fractions >> 16) & 0xffff, vector) * WARP_FRACTION;
    carry(carried, at, row->strip, row->down);
    vector upper = load(canvas), lower = load(canvas + down);
    upper = upper + fx * (load(canvas + COLOURS) - upper);
    lower = lower + fx * (load(canvas + down + COLOURS) - lower);
    vector u = spread_pixels(row->weight + x) *
               (row->a * load(row->p + COLOURS * x) + row->b * (upper + fy * (lower - upper)));
    store(q, load(q) + row->a * u);
    u = row->b * u;
    lower = fy * u;
    upper = u - lower;
    vector upper_right = fx * upper, lower_right = fx * lower;
    add_parts(strip, upper - upper_right, upper_right, &carried->upper);
    add_parts(strip + down, lower - lower_right, lower_right, &carried->lower);
    carried->at = at + PIXELS;
}
#endif

/* Where the canvas has a single row or column, samples that are carried would be the same one. */
TARGET static void NAME(photo)(const struct photo_row *row)
{
    struct carried carried = {.at = -1};
    int x = 0;
    if (row->right == 0 || row->down == 0) {
        esra_photo_c(row);
        return;
    }
    while (x < row->width) {
        if (row->weight[x] == 0) { /* hidden: by depth such pixels are many, and lie anywhere on the canvas */
            x++;
            continue;
        }
#if PIXELS > 1
        if (x + PIXELS <= row->width && side_by_side(row->points + x)) {
            photo_pixels(row, x, &carried);
            x += PIXELS;
            continue;
        }
#endif
        if (row->points[x].index >= 0)
            photo_pixel(row, x, &carried);
        x++;
    }
    carry(&carried, -1, row->strip, row->down);
}
