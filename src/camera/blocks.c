/* camera/blocks.c - block matching.
 *
 * Over some thousand pixels even a faint reflection agrees with itself from photo to photo. Gradients are divided by
 * their own strength nearby,
 *
 *     e(x) = grad u(x) / (sqrt(<|grad u|^2>(x)) + noise),
 *
 * u being the root of brightness, <> a Gaussian mean: what was not quite taken off of another layer then weighs no more
 * than anything else. A block B of the reference is compared with photo i at every displacement d,
 *
 *     c(d) = sum_B e_0(x) . e_i(x + d) / sqrt(|e_0|_B^2 max(|e_i|_(B+d)^2, |e_0|_B^2 / 5)),
 *
 * at half the size first, then to a pixel, and by a parabola to parts of one. The best displacement is believed where
 * enough of the neighbours' agree with it: right ones do, wrong ones have nothing in common. */
#include "camera/blocks.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/wide.h"
#include "camera/thresholds.h"
#include "ops/blur.h"
#include "ops/extreme.h"
#include "ops/scale.h"

#define STEP 16 /* from block to block */
/* Of half the size: displacements looked at, to each side; .2 of the longer side, as far as a mirrored scene's depths
 * are looked for (mirrored_reach). */
#define REACH 40
/* Pixels at the rim of what is seen have gradients of the rim's own. */
#define RIM_PX 2
/* <>: a blur of 4 px twice, 5.7 px. */
#define NEARBY_PX 4
/* Displacements looked at around the best one of half the size, to each side. */
#define FINE_REACH 3
/* A block without more of e_0 than this, where a pixel of texture has about 1, shows nothing. */
#define ENERGY_LEAST 1
/* Blocks whose displacements are compared, to each side in steps. */
#define AROUND 2

/* Eight displacements beside one another. */
typedef float eight __attribute__((vector_size(8 * sizeof(float)), aligned(sizeof(float)), may_alias));
#define EIGHT 8

/* e with a margin of zeros, so that no displacement leads outside. */
struct texture {
    struct image e;      /* right and down; sample (x + margin, y + margin) is that of pixel (x, y) */
    struct image energy; /* [y][x]: the sum of |e|^2 over what lies above row y and left of column x */
    int margin;
};

enum { HALF, WHOLE, SIZES };
static const int margins[SIZES] = {REACH + EIGHT, 2 * REACH + FINE_REACH + EIGHT};

struct view {
    struct texture at[SIZES];
};

struct displacement {
    float x, y;
    bool found;
};

struct matching {
    struct context *context;
    const struct blocks_options *options;
    struct view *views; /* [count] */
    int count, reference, width, height, columns, rows;
    double scale;               /* px of the views over those of the photos */
    struct displacement *found; /* [count][rows][columns] */
    float *scores;              /* [threads][SCORES] */
};

/* ---- Texture ---- */

static void free_view(struct view *view)
{
    for (int k = 0; k < SIZES; k++) {
        esra_image_free(&view->at[k].e);
        esra_image_free(&view->at[k].energy);
    }
}

static esra_status create_texture(struct texture *t, int width, int height, int size, struct message *message)
{
    int margin = margins[size];
    esra_status status;
    t->margin = margin;
    TRY(esra_image_create(&t->e, width + 2 * margin, height + 2 * margin, 2, message));
    TRY(esra_image_create(&t->energy, width + 2 * margin + 1, height + 2 * margin + 1, 1, message));
done:
    return status;
}

static float *sample_of(const struct texture *t, int channel, int x, int y)
{
    return plane_row(image_plane(&t->e, channel), y + t->margin) + x + t->margin;
}

/* Summed area table (Crow 1984). |e|^2 is about 1 a pixel: its sums are exact to some parts in 1e5 of a block's. */
static void sum_energy(const struct texture *t)
{
    struct plane right = image_plane(&t->e, 0), down = image_plane(&t->e, 1), sums = image_plane(&t->energy, 0);
    for (int y = 0; y < right.height; y++) {
        const float *a = plane_row(right, y), *b = plane_row(down, y), *above = plane_row(sums, y);
        float *below = plane_row(sums, y + 1), row = 0;
        for (int x = 0; x < right.width; x++) {
            row += a[x] * a[x] + b[x] * b[x];
            below[x + 1] = above[x + 1] + row;
        }
    }
}

static float energy_of(const struct texture *t, int x, int y, int side)
{
    const float *above = plane_row(image_plane(&t->energy, 0), y + t->margin) + x + t->margin,
                *below = plane_row(image_plane(&t->energy, 0), y + t->margin + side) + x + t->margin;
    return below[side] - below[0] - above[side] + above[0];
}

/* The root of brightness, and where it is known. */
static esra_status reduce(const struct matching *m, int photo, const struct image *from, struct image *brightness,
                          struct image *seen, struct context *context)
{
    struct image small = {0};
    size_t pixels = (size_t)m->width * (size_t)m->height;
    esra_status status;
    TRY(esra_scale_down(&small, context, from, m->width, m->height, (struct range){0, 1e3f}));
    TRY(esra_scale_down(seen, context, &m->options->seen[photo], m->width, m->height, (struct range){0, 1}));
    TRY(esra_image_create(brightness, m->width, m->height, 1, context->message));
    for (size_t n = 0; n < pixels; n++) {
        float sum = 0;
        for (int c = 0; c < small.channels; c++)
            sum += small.data[(size_t)c * pixels + n];
        brightness->data[n] = sqrtf(sum / (float)small.channels);
    }
done:
    esra_image_free(&small);
    return status;
}

/* grad u into the texture, |grad u|^2 into `squares`; zero at the rim of what is seen. */
static void take_gradients(const struct texture *t, struct plane u, struct plane seen, struct plane squares)
{
    for (int y = 1; y < u.height - 1; y++)
        for (int x = 1; x < u.width - 1; x++) {
            const float *here = plane_row(u, y) + x;
            if (!(plane_row(seen, y)[x] > .99f))
                continue;
            float right = .5f * (here[1] - here[-1]), down = .5f * (here[u.stride] - here[-u.stride]);
            *sample_of(t, 0, x, y) = right;
            *sample_of(t, 1, x, y) = down;
            plane_row(squares, y)[x] = right * right + down * down;
        }
}

static void normalise(const struct texture *t, struct plane squares)
{
    for (int y = 0; y < squares.height; y++)
        for (int x = 0; x < squares.width; x++) {
            float over = 1 / (sqrtf(plane_row(squares, y)[x]) + (float)camera_thresholds.block_noise);
            *sample_of(t, 0, x, y) *= over;
            *sample_of(t, 1, x, y) *= over;
        }
}

/* Means of four of e itself, so that both sizes have their peak in the same place. */
static void halve_texture(const struct texture *from, const struct texture *to, int width, int height)
{
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++) {
                const float *a = sample_of(from, c, 2 * x, 2 * y), *b = sample_of(from, c, 2 * x, 2 * y + 1);
                *sample_of(to, c, x, y) = .25f * (a[0] + a[1] + b[0] + b[1]);
            }
}

/* A job of esra_context_side_by_side(). */
static esra_status make_view(const struct matching *m, int photo, const struct image *from, struct context *context)
{
    struct view *view = &m->views[photo];
    struct texture *whole = &view->at[WHOLE], *half = &view->at[HALF];
    struct image u = {0}, seen = {0}, work = {0}; /* work: two planes */
    int width = m->width, height = m->height;
    esra_status status;
    TRY(create_texture(whole, width, height, WHOLE, context->message));
    TRY(create_texture(half, (width + 1) / 2, (height + 1) / 2, HALF, context->message));
    TRY(esra_image_create(&work, width, height, 2, context->message));
    TRY(reduce(m, photo, from, &u, &seen, context));
    struct plane first = image_plane(&work, 0), second = image_plane(&work, 1);
    esra_smallest(context, image_plane(&seen, 0), image_plane(&seen, 0), RIM_PX, first);
    esra_blur(context, image_plane(&u, 0), second, 1);
    memset(first.data, 0, plane_pixels(first) * sizeof *first.data);
    take_gradients(whole, second, image_plane(&seen, 0), first);
    esra_blur(context, first, second, NEARBY_PX);
    esra_blur(context, second, first, NEARBY_PX);
    normalise(whole, first);
    halve_texture(whole, half, (width + 1) / 2, (height + 1) / 2);
    sum_energy(whole);
    sum_energy(half);
done:
    esra_image_free(&u);
    esra_image_free(&seen);
    esra_image_free(&work);
    return status;
}

struct viewing {
    const struct matching *matching;
    const struct image *photos;
};

static esra_status view_photo(void *work, int photo, struct context *own)
{
    const struct viewing *v = work;
    return esra_context_stopping(own) ? ESRA_OK : make_view(v->matching, photo, &v->photos[photo], own);
}

/* ---- Displacements ---- */

/* A block of one size, and the displacements to look at: first .. first + across - 1, and down. */
struct search {
    const struct texture *from, *to;
    int x, y, side;
    int right, down, across, along; /* across: ACROSS or EIGHT */
};

#define ACROSS (((2 * REACH + 1) + EIGHT - 1) / EIGHT * EIGHT)
#define SCORES (ACROSS * (2 * REACH + 1))

/* sum_B e_0 . e_i(+ d) of a row of displacements, so many eights of them, which stay in registers where their number is
 * known to the compiler. Each sums along the block's rows, whatever the instruction set. */
static inline __attribute__((always_inline)) void correlate_eights(const struct search *s, int down, int eights,
                                                                   float *restrict scores)
{
    eight sum[ACROSS / EIGHT] = {{0}};
    for (int y = 0; y < s->side; y++) {
        const float *a = sample_of(s->from, 0, s->x, s->y + y), *b = sample_of(s->from, 1, s->x, s->y + y),
                    *p = sample_of(s->to, 0, s->x + s->right, s->y + down + y),
                    *q = sample_of(s->to, 1, s->x + s->right, s->y + down + y);
        for (int x = 0; x < s->side; x++)
            for (int k = 0; k < eights; k++)
                sum[k] += a[x] * *(const eight *)(p + x + k * EIGHT) + b[x] * *(const eight *)(q + x + k * EIGHT);
    }
    memcpy(scores, sum, (size_t)eights * sizeof *sum);
}

static void correlate(const struct search *s, float *scores)
{
    float own = energy_of(s->from, s->x, s->y, s->side);
    for (int j = 0; j < s->along; j++) {
        float *row = scores + j * s->across;
        if (s->across == ACROSS)
            correlate_eights(s, s->down + j, ACROSS / EIGHT, row);
        else
            correlate_eights(s, s->down + j, 1, row);
        for (int i = 0; i < s->across; i++) {
            float other = energy_of(s->to, s->x + s->right + i, s->y + s->down + j, s->side);
            row[i] /= sqrtf(own * fmaxf(other, .2f * own));
        }
    }
}

static int find_largest(const float *scores, int count)
{
    int best = 0;
    for (int n = 1; n < count; n++)
        if (scores[n] > scores[best])
            best = n;
    return best;
}

/* The peak of the parabola through three values, of which the middle one is the largest. */
static float peak_between(float before, float middle, float after)
{
    float bend = before + after - 2 * middle;
    return bend < 0 ? .5f * (before - after) / bend : 0;
}

/* How the other layer moves the middle of the block at (x, y), in px of the views. */
static void displacement_of_other(const struct matching *m, int photo, int x, int y, float *right, float *down)
{
    const struct image *map = &m->options->still[photo];
    int column = (int)((x + .5 * BLOCK_PX) / m->scale), row = (int)((y + .5 * BLOCK_PX) / m->scale);
    column = column < map->width ? column : map->width - 1;
    row = row < map->height ? row : map->height - 1;
    *right = (float)m->scale * (plane_row(image_plane(map, 0), row)[column] - (float)column);
    *down = (float)m->scale * (plane_row(image_plane(map, 1), row)[column] - (float)row);
}

/* No displacement within a pixel of the other layer's. */
static void leave_out(const struct search *s, float right, float down, float *scores)
{
    if (!(fabsf(right) < 2 * REACH && fabsf(down) < 2 * REACH))
        return;
    int x = (int)floorf(right + .5f) - s->right, y = (int)floorf(down + .5f) - s->down;
    for (int j = y > 0 ? y - 1 : 0; j <= y + 1 && j < s->along; j++)
        for (int i = x > 0 ? x - 1 : 0; i <= x + 1 && i < s->across; i++)
            scores[j * s->across + i] = -1;
}

/* Displacements past the reach, which vectors have at their ends, and the other layer's, are none. */
static int search_half(const struct matching *m, int photo, int x, int y, struct search *s, float *scores)
{
    float right, down;
    correlate(s, scores);
    for (int j = 0; j < s->along; j++)
        for (int i = 2 * REACH + 1; i < s->across; i++)
            scores[j * s->across + i] = -1;
    displacement_of_other(m, photo, x, y, &right, &down);
    leave_out(s, .5f * right, .5f * down, scores);
    return find_largest(scores, s->across * s->along);
}

static struct displacement match_block(const struct matching *m, int photo, int x, int y, float *scores)
{
    const struct view *from = &m->views[m->reference], *to = &m->views[photo];
    struct search half = {&from->at[HALF], &to->at[HALF], x / 2,  y / 2,        BLOCK_PX / 2,
                          -REACH,          -REACH,        ACROSS, 2 * REACH + 1};
    if (!(energy_of(half.from, half.x, half.y, half.side) > ENERGY_LEAST))
        return (struct displacement){0, 0, false};
    int best = search_half(m, photo, x, y, &half, scores);
    if (!(scores[best] > 0)) /* the photo shows nothing there */
        return (struct displacement){0, 0, false};
    struct search whole = {&from->at[WHOLE], &to->at[WHOLE], x, y, BLOCK_PX, 0, 0, EIGHT, 2 * FINE_REACH + 1};
    whole.right = 2 * (best % ACROSS - REACH) - FINE_REACH;
    whole.down = 2 * (best / ACROSS - REACH) - FINE_REACH;
    correlate(&whole, scores);
    best = find_largest(scores, whole.across * whole.along);
    int i = best % EIGHT, j = best / EIGHT;
    const float *at = scores + best;
    float right = i > 0 && i + 1 < EIGHT ? peak_between(at[-1], at[0], at[1]) : 0;
    float down = j > 0 && j + 1 < whole.along ? peak_between(at[-EIGHT], at[0], at[EIGHT]) : 0;
    return (struct displacement){(float)(whole.right + i) + right, (float)(whole.down + j) + down, true};
}

/* A row of blocks in one photo. */
static void match_row(void *work, int task, int worker)
{
    const struct matching *m = work;
    int photo = task / m->rows, row = task % m->rows;
    struct displacement *found = m->found + (ptrdiff_t)task * m->columns;
    if (photo == m->reference || (worker == 0 && esra_context_stopping(m->context)))
        return;
    for (int x = 0; x < m->columns; x++)
        found[x] = match_block(m, photo, x * STEP, row * STEP, m->scores + (ptrdiff_t)worker * SCORES);
}
WIDE_TASK(match_row)

/* ---- Tracks ---- */

static bool agrees(const struct displacement *a, const struct displacement *b)
{
    return b->found && esra_hypotf(a->x - b->x, a->y - b->y) < (float)camera_thresholds.block_agree_px;
}

static bool is_believed(const struct matching *m, const struct displacement *of_photo, int column, int row)
{
    const struct displacement *here = &of_photo[row * m->columns + column];
    int count = -1; /* itself */
    for (int y = row - AROUND; y <= row + AROUND; y++)
        for (int x = column - AROUND; x <= column + AROUND; x++)
            if (x >= 0 && y >= 0 && x < m->columns && y < m->rows)
                count += agrees(here, &of_photo[y * m->columns + x]);
    return here->found && count >= (int)camera_thresholds.block_agree;
}

static void list_block(const struct matching *m, struct tracks *tracks, int column, int row)
{
    double x = (column * STEP + .5 * BLOCK_PX) / m->scale - .5, y = (row * STEP + .5 * BLOCK_PX) / m->scale - .5;
    for (int i = 0; i < m->count; i++) {
        const struct displacement *of_photo = m->found + (ptrdiff_t)i * m->rows * m->columns;
        const struct displacement *d = &of_photo[row * m->columns + column];
        struct sighting *at = track_at(tracks, tracks->count, i);
        if (i == m->reference)
            *at = (struct sighting){x, y, true};
        else if (is_believed(m, of_photo, column, row))
            *at = (struct sighting){x + d->x / m->scale, y + d->y / m->scale, true};
    }
    tracks->count += track_length(tracks, tracks->count) > 0;
}

static esra_status list_tracks(const struct matching *m, struct tracks *tracks)
{
    tracks->at = esra_allocate(((size_t)m->rows * (size_t)m->columns + 1) * (size_t)m->count, sizeof *tracks->at);
    if (!tracks->at)
        return esra_fail_memory(m->context->message);
    for (int row = 0; row < m->rows; row++)
        for (int column = 0; column < m->columns; column++)
            list_block(m, tracks, column, row);
    return ESRA_OK;
}

static esra_status begin(struct matching *m, const struct image *photo)
{
    esra_scale_sides(photo->width, photo->height, BLOCKS_SIDE_PX, &m->width, &m->height);
    m->scale = (double)m->width / photo->width;
    m->columns = m->width < BLOCK_PX ? 0 : (m->width - BLOCK_PX) / STEP + 1;
    m->rows = m->height < BLOCK_PX ? 0 : (m->height - BLOCK_PX) / STEP + 1;
    m->views = esra_allocate((size_t)m->count, sizeof *m->views);
    m->found = esra_allocate((size_t)m->count * (size_t)m->rows * (size_t)m->columns + 1, sizeof *m->found);
    m->scores = esra_allocate_untouched((size_t)esra_context_threads(m->context) * SCORES, sizeof *m->scores);
    return m->views && m->found && m->scores ? ESRA_OK : esra_fail_memory(m->context->message);
}

static void end(struct matching *m)
{
    for (int i = 0; m->views && i < m->count; i++)
        free_view(&m->views[i]);
    esra_release(&m->views);
    esra_release(&m->found);
    esra_release(&m->scores);
}

esra_status esra_blocks_find(struct tracks *tracks, struct context *context, const struct image *photos, int count,
                             int reference, const struct blocks_options *options)
{
    const struct image *photo = &photos[reference];
    struct matching m = {.context = context, .options = options, .count = count, .reference = reference};
    esra_status status;
    *tracks = (struct tracks){.photos = count, .reference = reference, .width = photo->width, .height = photo->height};
    TRY(begin(&m, photo));
    TRY(esra_context_side_by_side(context, view_photo, &(struct viewing){&m, photos}, count));
    if (!esra_context_stopping(context))
        esra_context_run(context, WIDE(context, match_row), &m, count * m.rows, NULL);
    if (!esra_context_stopping(context))
        TRY(list_tracks(&m, tracks));
done:
    end(&m);
    if (status != ESRA_OK)
        esra_tracks_free(tracks);
    return status;
}
