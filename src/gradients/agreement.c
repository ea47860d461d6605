/* gradients/agreement.c - the vote of photos with occlusions on T's gradients.
 *
 * Let g_i = D I_i/a_i be a photo's gradient (2c numbers a pixel: two directions, c colours), g_0 the reference's, <.> a
 * window of 1.5 px, med the median of the others that see the pixel. With
 *
 *     d = <|g_0 - med|>      how far the reference is from the others
 *     s = median_i <|g_i - med|>      how far they are from one another
 *
 * the reference's gradient is foreign, the reflection's, to the degree
 *
 *     alpha = d^2/(d^2 + (kappa s)^2 + noise^2)
 *
 * and E = alpha med + (1 - alpha) mean, the mean of g_0 and of the g_i near it, which has less noise than g_0 alone. */
#include "gradients/agreement.h"

#include <math.h>

#include "base/memory.h"
#include "base/rows.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "ops/extreme.h"

#define VALUES_MOST 6 /* two directions of three colours */

struct voting {
    const struct agreement_problem *problem;
    struct agreement *out;
    struct plane *seen;    /* [photos]: masks eroded by a pixel, so that differences do not reach over their borders */
    struct plane *spread;  /* [photos]: <|g_i - med|> */
    struct plane *away;    /* [photos]: <|g_i - g_0|> */
    struct plane distance; /* d */
    struct plane strength; /* <|g_0|> */
    float noise;           /* of the length of a gradient of 2c numbers, each the difference of two */
    float kappa;
    float near_noise,
        near_share; /* g_i is averaged with g_0 at distances up to about near_noise + near_share <|g_0|> */
};

/* g_i at a pixel: 2c numbers. */
static void gradient_at(const struct voting *v, int i, int x, int y, float *g)
{
    const struct image *image = &v->problem->images[i];
    float scale = (float)(1 / v->problem->mixing[i]);
    for (int c = 0; c < image->channels; c++) {
        struct plane plane = image_plane(image, c);
        const float *at = plane_row(plane, y) + x;
        g[2 * c] = y < plane.height - 1 ? scale * (at[plane.stride] - at[0]) : 0;
        g[2 * c + 1] = x < plane.width - 1 ? scale * (at[1] - at[0]) : 0;
    }
}

/* Median of a few; the mean of the two in the middle where their number is even. Reorders. */
static float median_of(float *values, int count)
{
    for (int k = 1; k < count; k++) {
        float value = values[k];
        int j = k;
        for (; j > 0 && values[j - 1] > value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
    return count == 0 ? 0 : count % 2 ? values[count / 2] : 0.5f * (values[count / 2 - 1] + values[count / 2]);
}

static float apart(const float *a, const float *b, int values)
{
    float sum = 0;
    for (int k = 0; k < values; k++)
        sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sqrtf(sum);
}

/* med into E, and the lengths |g_i - med|, |g_i - g_0|, |g_0 - med| and |g_0| at one pixel. */
static void ballot(const struct voting *v, int x, int y)
{
    const struct agreement_problem *p = v->problem;
    static const float nothing[VALUES_MOST] = {0};
    float g[AGREEMENT_PHOTOS_MOST][VALUES_MOST], votes[AGREEMENT_PHOTOS_MOST], median[VALUES_MOST];
    int values = 2 * p->images[0].channels;
    for (int i = 0; i < p->photos; i++)
        gradient_at(v, i, x, y, g[i]);
    for (int k = 0; k < values; k++) {
        int count = 0;
        for (int i = 0; i < p->photos; i++)
            if (i != p->reference && plane_row(v->seen[i], y)[x] > 0)
                votes[count++] = g[i][k];
        median[k] = median_of(votes, count);
        plane_row(image_plane(&v->out->gradients[k % 2], k / 2), y)[x] = median[k];
    }
    for (int i = 0; i < p->photos; i++) {
        if (i == p->reference)
            continue;
        bool seen = plane_row(v->seen[i], y)[x] > 0;
        plane_row(v->spread[i], y)[x] = seen ? apart(g[i], median, values) : 0;
        plane_row(v->away[i], y)[x] = apart(g[i], g[p->reference], values);
    }
    plane_row(v->distance, y)[x] = apart(g[p->reference], median, values);
    plane_row(v->strength, y)[x] = apart(g[p->reference], nothing, values);
}

static void ballot_rows(void *work, int task, int worker)
{
    const struct voting *v = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, v->distance.height); y++)
        for (int x = 0; x < v->distance.width; x++)
            ballot(v, x, y);
}

/* alpha; zero where fewer than two others see the pixel: one alone may itself show a reflection. */
static float foreign_at(const struct voting *v, int x, int y)
{
    const struct agreement_problem *p = v->problem;
    float votes[AGREEMENT_PHOTOS_MOST];
    int count = 0;
    for (int i = 0; i < p->photos; i++)
        if (i != p->reference && plane_row(v->seen[i], y)[x] > 0)
            votes[count++] = plane_row(v->spread[i], y)[x];
    if (count < 2)
        return 0;
    float d = plane_row(v->distance, y)[x], s = v->kappa * median_of(votes, count);
    float guard = p->guard ? plane_row(image_plane(p->guard, 0), y)[x] : 0;
    return d * d / (d * d + s * s + v->noise * v->noise) * (1 - guard);
}

/* E = alpha med + (1 - alpha) mean, the mean of g_0 and the g_i with weights 1/(1 + (<|g_i - g_0|>/near)^4). */
static void decide(const struct voting *v, int x, int y)
{
    const struct agreement_problem *p = v->problem;
    int values = 2 * p->images[0].channels;
    float alpha = foreign_at(v, x, y), sum[VALUES_MOST], total = 1, g[VALUES_MOST];
    float near = v->near_noise + v->near_share * plane_row(v->strength, y)[x];
    gradient_at(v, p->reference, x, y, sum);
    for (int i = 0; i < p->photos; i++) {
        if (i == p->reference || !(plane_row(v->seen[i], y)[x] > 0))
            continue;
        float ratio = plane_row(v->away[i], y)[x] / near, square = ratio * ratio;
        float weight = 1 / (1 + square * square);
        gradient_at(v, i, x, y, g);
        for (int k = 0; k < values; k++)
            sum[k] += weight * g[k];
        total += weight;
    }
    for (int k = 0; k < values; k++) {
        float *e = plane_row(image_plane(&v->out->gradients[k % 2], k / 2), y) + x;
        *e = alpha * *e + (1 - alpha) * sum[k] / total;
    }
}

static void decide_rows(void *work, int task, int worker)
{
    const struct voting *v = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, v->distance.height); y++)
        for (int x = 0; x < v->distance.width; x++)
            decide(v, x, y);
}

/* values <- <values>, by way of scratch. */
static void smooth(struct context *context, struct plane values, double window_px, struct plane scratch)
{
    esra_blur(context, values, scratch, window_px);
    for (int y = 0; y < values.height; y++)
        for (int x = 0; x < values.width; x++)
            plane_row(values, y)[x] = plane_row(scratch, y)[x];
}

/* Normalised convolution, over what is seen alone: <values>/<seen>; values are zero elsewhere. */
static void smooth_seen(struct context *context, struct plane values, struct plane seen, double window_px,
                        struct plane scratch)
{
    smooth(context, values, window_px, scratch);
    esra_blur(context, seen, scratch, window_px);
    for (int y = 0; y < values.height; y++)
        for (int x = 0; x < values.width; x++)
            plane_row(values, y)[x] /= plane_row(scratch, y)[x] + 1e-3f;
}

/* All lengths averaged over the window. */
static void smooth_all(struct voting *v, struct context *context, struct plane scratch)
{
    double window_px = gradients_thresholds.agreement_window_px *
                       fmax(1, v->distance.width / gradients_thresholds.agreement_window_width);
    window_px = fmin(window_px, BLUR_SIGMA_MOST);
    for (int i = 0; i < v->problem->photos; i++)
        if (i != v->problem->reference) {
            smooth_seen(context, v->spread[i], v->seen[i], window_px, scratch);
            smooth(context, v->away[i], window_px, scratch);
        }
    smooth(context, v->distance, window_px, scratch);
    smooth(context, v->strength, window_px, scratch);
}

static struct plane next_plane(float **floats, const struct image *like)
{
    struct plane plane = {*floats, like->width, like->height, like->width};
    *floats += (size_t)like->width * (size_t)like->height;
    return plane;
}

static void vote(struct agreement *agreement, const struct agreement_problem *problem, struct context *context,
                 float *floats)
{
    const struct image *first = &problem->images[0];
    struct plane seen[AGREEMENT_PHOTOS_MOST], spread[AGREEMENT_PHOTOS_MOST], away[AGREEMENT_PHOTOS_MOST];
    const struct gradients_thresholds *t = &gradients_thresholds;
    struct voting v = {.problem = problem, .out = agreement, .seen = seen, .spread = spread, .away = away};
    v.noise = (float)t->agreement_noise * sqrtf(4.f * (float)first->channels);
    v.kappa = (float)t->agreement_kappa;
    v.near_noise = (float)t->agreement_near_noise * sqrtf(2) * v.noise;
    v.near_share = (float)t->agreement_near_share;
    struct plane scratch = next_plane(&floats, first);
    v.distance = next_plane(&floats, first);
    v.strength = next_plane(&floats, first);
    for (int i = 0; i < problem->photos; i++) {
        seen[i] = next_plane(&floats, first);
        esra_smallest(context, image_plane(&problem->masks[i], 0), seen[i], 1, scratch);
        spread[i] = next_plane(&floats, first);
        away[i] = next_plane(&floats, first);
    }
    int blocks = rows_blocks(first->height);
    esra_context_run(context, ballot_rows, &v, blocks, NULL);
    smooth_all(&v, context, scratch);
    esra_context_run(context, decide_rows, &v, blocks, NULL);
}

esra_status esra_agreement_find(struct agreement *agreement, const struct agreement_problem *problem,
                                struct context *context)
{
    const struct image *first = &problem->images[0];
    size_t pixels = (size_t)first->width * (size_t)first->height, count = 0;
    float *floats = NULL;
    esra_status status = ESRA_OK;
    *agreement = (struct agreement){0};
    if (problem->photos > AGREEMENT_PHOTOS_MOST || 2 * first->channels > VALUES_MOST)
        return esra_fail(context->message, ESRA_OVER_LIMIT, "%d photos of %d channels: at most %d of %d can agree",
                         problem->photos, first->channels, AGREEMENT_PHOTOS_MOST, VALUES_MOST / 2);
    for (int direction = 0; direction < 2; direction++)
        TRY(esra_image_create(&agreement->gradients[direction], first->width, first->height, first->channels,
                              context->message));
    if (esra_size_multiply(pixels, 3 * (size_t)problem->photos + 3, &count))
        floats = esra_allocate_untouched(count, sizeof *floats);
    if (!floats)
        TRY(esra_fail_memory(context->message));
    vote(agreement, problem, context, floats);
done:
    esra_release(&floats);
    if (status != ESRA_OK)
        esra_agreement_free(agreement);
    return status;
}

void esra_agreement_free(struct agreement *agreement)
{
    for (int direction = 0; direction < 2; direction++)
        esra_image_free(&agreement->gradients[direction]);
}
