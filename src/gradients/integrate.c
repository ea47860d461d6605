/* gradients/integrate.c - robust (L1) integration of gradients by the primal-dual method of Chambolle & Pock (2011):
 *
 *     p <- proj(p + sigma (D L~ - E)),  L' = clip(L - tau D'p),  L~ = 2 L' - L
 *
 * proj brings every pixel's colours, direction by direction, into the unit ball: |.|_1 of their lengths has that dual.
 * tau sigma |D|^2 <= 1 with |D|^2 <= 8. Least squares spreads a wrong gradient over the picture; this leaves it where
 * it is. Where the bound L <= photo is active its effect reaches far, and so coarse levels come first, each handing its
 * change of L_0, the start, to the finer. */
#include "gradients/integrate.h"

#include <math.h>

#include "base/colours.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "ops/diff.h"
#include "ops/poisson.h"

#define LEVELS            5
#define LEAST_SIDE        24
#define ITERATIONS        50  /* at the finest level */
#define COARSE_ITERATIONS 150 /* at the others, which together have a third of its pixels */

/* tau; sigma = 1/(8 tau). Any converges: half and twice as much are within .05 dB after these iterations. */
#define TAU .02f

/* V-cycles for L_0: exact to a thousandth of its range, which the iterations move anyway. */
#define CYCLES 4

/* One resolution. Level k+1 averages 2x2 pixels of level k. */
struct level {
    int width, height, channels;
    struct image expected[2], photo, anchor; /* E, the bound, L_0; the first two are the caller's at level 0 */
    colours *l, *ahead;                      /* L, L~ */
    colours *dual[2];                        /* p, down and right */
};

static size_t level_pixels(const struct level *level)
{
    return (size_t)level->width * (size_t)level->height;
}

static colours pixel_of(const struct image *image, size_t n)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    colours v = {0};
    for (int c = 0; c < image->channels; c++)
        v[c] = image->data[c * pixels + n];
    return v;
}

struct anchoring {
    const struct level *level;
    const struct image *photo;
    float *scratch; /* [channels * floats] */
    size_t floats;
    struct context *context;
};

/* One channel of L_0, the least-squares integral of E (Poisson's equation), and the photo less L_0. */
static void anchor_channel(void *work, int c, int worker)
{
    const struct anchoring *a = work;
    const struct level *level = a->level;
    struct plane anchor = image_plane(&level->anchor, c), photo = image_plane(a->photo, c);
    float *rest = a->scratch + (size_t)c * a->floats;
    /* Only worker 0, the caller's thread, may ask. */
    if (worker > 0 || !esra_context_stopping(a->context))
        esra_poisson_improve(image_plane(&level->expected[0], c), image_plane(&level->expected[1], c), anchor, CYCLES,
                             rest);
    for (size_t n = 0; n < level_pixels(level); n++)
        rest[n] = photo.data[n] - anchor.data[n];
}

/* Lifts L_0 until it touches the photo, both blurred. The blur runs tasks of its own, and so cannot be part of one. */
static void lift(const struct anchoring *a, int c, struct context *context)
{
    struct plane anchor = image_plane(&a->level->anchor, c), rest = anchor, smooth = anchor;
    size_t pixels = level_pixels(a->level);
    rest.data = a->scratch + (size_t)c * a->floats;
    smooth.data = rest.data + pixels;
    esra_blur(context, rest, smooth, gradients_thresholds.integrate_blur_px);
    float least = smooth.data[0];
    for (size_t n = 1; n < pixels; n++)
        least = fminf(least, smooth.data[n]);
    for (size_t n = 0; n < pixels; n++)
        anchor.data[n] += least;
}

static esra_status find_anchor(struct level *level, const struct image *photo, struct context *context)
{
    struct anchoring a = {level, photo, NULL, esra_poisson_scratch(level->width, level->height), context};
    size_t count;
    if (esra_size_multiply(a.floats, (size_t)level->channels, &count))
        a.scratch = esra_allocate_untouched(count, sizeof *a.scratch);
    if (!a.scratch)
        return esra_fail_memory(context->message);
    esra_context_run(context, anchor_channel, &a, level->channels, NULL);
    for (int c = 0; c < level->channels; c++)
        lift(&a, c, context);
    esra_release(&a.scratch);
    return ESRA_OK;
}

static colours into_ball(colours p)
{
    float square = colours_sum(p * p);
    return square > 1 ? p * (1 / sqrtf(square)) : p;
}

static void dual_rows(void *work, int task, int worker)
{
    const struct level *s = work;
    const float sigma = 1 / (DIFF_NORM_SQUARED * TAU);
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, s->height); y++)
        for (int x = 0; x < s->width; x++) {
            size_t n = (size_t)y * s->width + x;
            if (y < s->height - 1)
                s->dual[0][n] = into_ball(
                    s->dual[0][n] + sigma * (s->ahead[n + s->width] - s->ahead[n] - pixel_of(&s->expected[0], n)));
            if (x < s->width - 1)
                s->dual[1][n] =
                    into_ball(s->dual[1][n] + sigma * (s->ahead[n + 1] - s->ahead[n] - pixel_of(&s->expected[1], n)));
        }
}
WIDE_TASK(dual_rows)

static colours clip(colours v, colours most)
{
    for (int c = 0; c < COLOURS; c++) {
        v[c] = v[c] < most[c] ? v[c] : most[c];
        v[c] = v[c] > 0 ? v[c] : 0;
    }
    return v;
}

static void primal_rows(void *work, int task, int worker)
{
    const struct level *s = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, s->height); y++)
        for (int x = 0; x < s->width; x++) {
            size_t n = (size_t)y * s->width + x;
            colours slope = -s->dual[0][n] - s->dual[1][n]; /* D'p; duals that stand for no difference stay zero */
            if (y > 0)
                slope += s->dual[0][n - s->width];
            if (x > 0)
                slope += s->dual[1][n - 1];
            colours l = clip(s->l[n] - TAU * slope, pixel_of(&s->photo, n));
            s->ahead[n] = 2 * l - s->l[n];
            s->l[n] = l;
        }
}
WIDE_TASK(primal_rows)

/* L = L_0 and, bilinearly, what the coarser level changed of its own. */
static void begin(struct level *level, const struct level *coarse)
{
    for (int y = 0; y < level->height; y++)
        for (int x = 0; x < level->width; x++) {
            size_t n = (size_t)y * level->width + x;
            colours l = pixel_of(&level->anchor, n);
            for (int k = 0; coarse && k < 4; k++) {
                int u = x / 2 + (k % 2 ? (x % 2 ? 1 : -1) : 0), v = y / 2 + (k / 2 ? (y % 2 ? 1 : -1) : 0);
                u = u < 0 ? 0 : u >= coarse->width ? coarse->width - 1 : u;
                v = v < 0 ? 0 : v >= coarse->height ? coarse->height - 1 : v;
                size_t from = (size_t)v * coarse->width + u;
                float share = (k % 2 ? 0.25f : 0.75f) * (k / 2 ? 0.25f : 0.75f);
                l += share * (coarse->l[from] - pixel_of(&coarse->anchor, from));
            }
            level->l[n] = level->ahead[n] = l;
            level->dual[0][n] = level->dual[1][n] = (colours){0};
        }
}

static void iterate(struct level *level, const struct level *coarse, int iterations, struct context *context)
{
    int blocks = rows_blocks(level->height);
    begin(level, coarse);
    for (int k = 0; k < iterations && !esra_context_stopping(context); k++) {
        esra_context_run(context, WIDE(context, dual_rows), level, blocks, NULL);
        esra_context_run(context, WIDE(context, primal_rows), level, blocks, NULL);
    }
}

static esra_status level_create(struct level *level, int width, int height, int channels, struct message *message)
{
    esra_status status;
    colours **vectors[4] = {&level->l, &level->ahead, &level->dual[0], &level->dual[1]};
    *level = (struct level){.width = width, .height = height, .channels = channels};
    TRY(esra_image_create(&level->anchor, width, height, channels, message));
    for (int k = 0; k < 4; k++)
        if (!(*vectors[k] = esra_allocate_untouched(level_pixels(level), sizeof(colours))))
            TRY(esra_fail_memory(message));
done:
    return status;
}

static void level_free(struct level *level)
{
    esra_image_free(&level->expected[0]);
    esra_image_free(&level->expected[1]);
    esra_image_free(&level->photo);
    esra_image_free(&level->anchor);
    esra_release(&level->l);
    esra_release(&level->ahead);
    esra_release(&level->dual[0]);
    esra_release(&level->dual[1]);
}

static void halve_image(const struct image *fine, struct image *coarse)
{
    for (int c = 0; c < fine->channels; c++)
        for (int y = 0; y < coarse->height; y++) {
            struct plane from = image_plane(fine, c);
            const float *above = plane_row(from, 2 * y);
            const float *below = plane_row(from, 2 * y + 1 < fine->height ? 2 * y + 1 : 2 * y);
            for (int x = 0; x < coarse->width; x++) {
                int right = 2 * x + 1 < fine->width ? 2 * x + 1 : 2 * x;
                plane_row(image_plane(coarse, c), y)[x] =
                    0.25f * ((above[2 * x] + above[right]) + (below[2 * x] + below[right]));
            }
        }
}

static esra_status level_halve(const struct level *fine, struct level *coarse, struct message *message)
{
    esra_status status;
    TRY(level_create(coarse, (fine->width + 1) / 2, (fine->height + 1) / 2, fine->channels, message));
    for (int k = 0; k < 2; k++)
        TRY(esra_image_create(&coarse->expected[k], coarse->width, coarse->height, coarse->channels, message));
    TRY(esra_image_create(&coarse->photo, coarse->width, coarse->height, coarse->channels, message));
    for (int c = 0; c < fine->channels; c++)
        esra_diff_halve(image_plane(&fine->expected[0], c), image_plane(&fine->expected[1], c),
                        image_plane(&coarse->expected[0], c), image_plane(&coarse->expected[1], c));
    halve_image(&fine->photo, &coarse->photo);
    halve_image(&fine->anchor, &coarse->anchor);
done:
    return status;
}

esra_status esra_integrate(const struct image *expected, const struct image *photo, const struct image *layer,
                           struct context *context)
{
    struct level level[LEVELS] = {{0}};
    int levels = 1;
    esra_status status;
    TRY(level_create(&level[0], layer->width, layer->height, layer->channels, context->message));
    level[0].expected[0] = expected[0];
    level[0].expected[1] = expected[1];
    level[0].photo = *photo;
    TRY(find_anchor(&level[0], photo, context));
    for (; levels < LEVELS && level[levels - 1].width > LEAST_SIDE && level[levels - 1].height > LEAST_SIDE; levels++)
        TRY(level_halve(&level[levels - 1], &level[levels], context->message));
    for (int k = levels - 1; k >= 0; k--) {
        iterate(&level[k], k + 1 < levels ? &level[k + 1] : NULL, k > 0 ? COARSE_ITERATIONS : ITERATIONS, context);
        if (k + 1 < levels)
            level_free(&level[k + 1]);
    }
    colours_store(level[0].l, (struct image *)layer, 0, layer->height);
done:
    level[0].expected[0] = level[0].expected[1] = level[0].photo = (struct image){0};
    for (int k = 0; k < LEVELS; k++)
        level_free(&level[k]);
    return status;
}
