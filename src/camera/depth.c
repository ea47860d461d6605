/* camera/depth.c - inverse depth from the sweep's cost volume: semi-global matching, removal of speckles, and filling
 * guided by the picture from where labels are certain to where they are not. */
#include "camera/depth.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "camera/labelling.h"
#include "camera/pair.h"
#include "camera/sgm.h"
#include "camera/sweep.h"
#include "camera/thresholds.h"
#include "ops/blur.h"
#include "ops/extreme.h"
#include "ops/fill.h"
#include "ops/scale.h"

#define SIDE_PX         700
#define SCENE_LABELS    96
#define MIRRORED_LABELS 120

/* Two surfaces are told apart where no side is longer, by labels a fraction of a pixel apart: they may be close. */
#define PAIR_SIDE_PX     400
#define PAIR_LABELS      64
#define PAIR_LABELS_A_PX 2.5

/* Labels are refined to a quarter: the parabola does the rest. */
#define PARTS 4
/* Confidence where there is none, so that there is something to fill from everywhere. */
#define UNCERTAIN 1e-4f
/* Before sums of more bytes than this are allocated the photos' gradients, about as large, are freed. */
#define SUMS_BESIDE ((size_t)40 << 20)

/* What the two layers differ in. The mirrored scene may stand anywhere: more depths, and farther ones. */
struct layer_range {
    int labels;
    double reach; /* share of the width by which depths reach past the tracks' */
    bool guarded;
    double labels_a_px;
    const struct pair *pair; /* NULL, or two surfaces of which this is one */
    int surface;             /* which of them */
};

static struct sweep_options sweep_options(const struct layer_range *range, const struct depth_options *options)
{
    const struct camera_thresholds *t = &camera_thresholds;
    return (struct sweep_options){.side_px = options && options->side_px > 0 ? options->side_px : SIDE_PX,
                                  .labels_most = options && options->labels > 0 ? options->labels : range->labels,
                                  .reach = range->reach,
                                  .margin = t->sweep_margin,
                                  .labels_a_px = range->labels_a_px,
                                  .truncate = t->sweep_truncate,
                                  .window = (int)t->sweep_window};
}

/* Planes of the sweep's size. */
enum { LABEL, MENDED, CONFIDENCE, SPECKLE, LOW, HIGH, WORK, PLANES };

struct making {
    struct context *context;
    struct sweep sweep;
    struct image guide, planes;
    struct sgm sgm;
    uint8_t *volume;
    uint8_t *shared; /* NULL, or the volume of two surfaces, for the second */
    int16_t *penalties;
    const struct layer_range *range;
};

static struct plane plane_of(const struct making *m, int which)
{
    return image_plane(&m->planes, which);
}

static size_t pixels_of(const struct making *m)
{
    return (size_t)m->sweep.width * (size_t)m->sweep.height;
}

static float clip(float value)
{
    return value < 0 ? 0 : value > 1 ? 1 : value;
}

/* Brightness as the eye weighs it, of the guide smoothed by 1 px, into WORK by way of LOW. */
static void brightness(const struct making *m)
{
    static const float weight[3] = {.299f, .587f, .114f};
    struct plane sum = plane_of(m, LOW);
    for (size_t n = 0; n < pixels_of(m); n++) {
        sum.data[n] = 0;
        for (int c = 0; c < m->guide.channels; c++)
            sum.data[n] += (m->guide.channels == 3 ? weight[c] : 1 / (float)m->guide.channels) *
                           m->guide.data[(size_t)c * pixels_of(m) + n];
    }
    esra_blur(m->context, sum, plane_of(m, WORK), 1);
}

/* |gradient| of WORK by Sobel's differences at (x, y). */
static float slope(struct plane p, int x, int y)
{
    int left = x > 0 ? x - 1 : x, right = x + 1 < p.width ? x + 1 : x;
    const float *a = plane_row(p, y > 0 ? y - 1 : y), *b = plane_row(p, y),
                *c = plane_row(p, y + 1 < p.height ? y + 1 : y);
    float across = a[right] - a[left] + 2 * (b[right] - b[left]) + c[right] - c[left];
    float down = c[left] + 2 * c[x] + c[right] - a[left] - 2 * a[x] - a[right];
    return esra_hypotf(across, down) / 8;
}

/* P1 and P2 of semi-global matching in units of the volume, less where the guide has edges: there depth may have steps.
 */
static void set_penalties(struct making *m)
{
    int16_t *small = m->penalties, *large = small + pixels_of(m);
    float unit = SWEEP_WHOLE / (float)m->sweep.options.truncate;
    brightness(m);
    for (int y = 0; y < m->sweep.height; y++)
        for (int x = 0; x < m->sweep.width; x++) {
            size_t n = (size_t)y * (size_t)m->sweep.width + (size_t)x;
            float share = unit / (1 + slope(plane_of(m, WORK), x, y) / (float)camera_thresholds.edge);
            small[n] = (int16_t)((float)camera_thresholds.step_small * share + .5f);
            large[n] = (int16_t)((float)camera_thresholds.step_large * share + .5f);
        }
    m->sgm = (struct sgm){m->sweep.width, m->sweep.height, m->sweep.labels, m->sweep.padded,
                          m->volume,      small,           large,           m->sgm.sums};
}

/* How much better label k is than all labels in the mean: 0 where the picture has nothing to compare. */
static float confidence_of(const struct making *m, size_t n, int k)
{
    const uint8_t *costs = m->volume + n * (size_t)m->sweep.padded;
    int sum = 0;
    for (int j = 0; j < m->sweep.labels; j++)
        sum += costs[j];
    float unit = (float)m->sweep.options.truncate / SWEEP_WHOLE, mean = unit * (float)sum / (float)m->sweep.labels;
    float better = clip((mean - unit * costs[k]) / (mean + 1e-6f)) * clip(mean / (float)camera_thresholds.noise);
    return better * better + UNCERTAIN;
}

static void choose_block(void *work, int task, int worker)
{
    const struct making *m = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, m->sweep.height); y++)
        for (int x = 0; x < m->sweep.width; x++) {
            size_t n = (size_t)y * (size_t)m->sweep.width + (size_t)x;
            float label = esra_sgm_choose(&m->sgm, n);
            plane_of(m, LABEL).data[n] = label;
            plane_of(m, CONFIDENCE).data[n] = confidence_of(m, n, (int)(label + .5f));
        }
}

/* MENDED <- the label where it is certain, elsewhere the value filled in. */
static esra_status mend(const struct making *m)
{
    struct plane label = plane_of(m, LOW), mended = plane_of(m, MENDED), confidence = plane_of(m, CONFIDENCE);
    struct plane speckle = plane_of(m, SPECKLE), smooth = plane_of(m, WORK);
    int most = (int)(camera_thresholds.speckle * (double)pixels_of(m));
    esra_status status;
    esra_label_median(m->context, plane_of(m, LABEL), label);
    TRY(esra_label_speckles(label, most, (float)camera_thresholds.patch_labels, speckle, m->context->message));
    for (size_t n = 0; n < pixels_of(m); n++) {
        confidence.data[n] = speckle.data[n] > 0 ? UNCERTAIN : confidence.data[n];
        mended.data[n] = label.data[n];
    }
    TRY(esra_fill(m->context, &m->guide, mended, confidence, camera_thresholds.fill, camera_thresholds.edge));
    esra_blur(m->context, confidence, smooth, 1);
    for (size_t n = 0; n < pixels_of(m); n++) {
        float keep = speckle.data[n] > 0 ? 0 : clip(smooth.data[n] / (float)camera_thresholds.certain);
        mended.data[n] += keep * (label.data[n] - mended.data[n]);
    }
done:
    return status;
}

static void release_volume(struct making *m)
{
    esra_release(&m->penalties);
    esra_release(&m->volume);
    esra_release(&m->sgm.sums);
}

/* ---- One of two surfaces ---- */

/* w of a surface of the pair at pixel (x, y), as a label. */
static float pair_label(const struct making *m, int surface, int x, int y)
{
    const struct pair *pair = m->range->pair;
    int column = (int)((long long)x * pair->width / m->sweep.width);
    int row = (int)((long long)y * pair->height / m->sweep.height);
    float label = (plane_row(image_plane(&pair->inverse[surface], 0), row)[column] - (float)m->sweep.lowest) /
                  (float)m->sweep.step;
    return fminf(fmaxf(label, 0), (float)(m->sweep.labels - 1));
}

/* The least cost of the labels around one in fractions. */
static float cost_near(const struct making *m, const uint8_t *costs, float label)
{
    int middle = (int)(label + .5f), least = SWEEP_WHOLE;
    for (int k = middle > 0 ? middle - 1 : 0; k <= middle + 1 && k < m->sweep.labels; k++)
        least = costs[k] < least ? costs[k] : least;
    return (float)least;
}

/* C(k) <- min(C(k), C of the other surface) + s(k - own): what the other surface explains this one need not, and it
 * stays near its block's label: s(d) = min(small (|d| - 1), large/3) past a label. The third, 42 of 250 where 40 was
 * tried, and the free label are by hand. */
static void keep_to_surface(void *work, int task, int worker)
{
    const struct making *m = work;
    int labels = m->sweep.labels;
    float unit = SWEEP_WHOLE / (float)m->sweep.options.truncate;
    float small = unit * (float)(camera_thresholds.step_small / m->sweep.options.labels_a_px);
    float large = unit * (float)camera_thresholds.step_large / 3;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, m->sweep.height); y++)
        for (int x = 0; x < m->sweep.width; x++) {
            uint8_t *costs = m->volume + ((size_t)y * (size_t)m->sweep.width + (size_t)x) * (size_t)m->sweep.padded;
            float own = pair_label(m, m->range->surface, x, y);
            float other = cost_near(m, costs, pair_label(m, !m->range->surface, x, y));
            for (int k = 0; k < labels; k++) {
                float away = fabsf((float)k - own) - 1, pull = away > 0 ? small * away : 0;
                float cost = (costs[k] < other ? (float)costs[k] : other) + (pull < large ? pull : large);
                costs[k] = (uint8_t)(cost < SWEEP_WHOLE ? cost : SWEEP_WHOLE);
            }
        }
}
WIDE_TASK(keep_to_surface)

/* ---- Labels ---- */

static esra_status find_volume(struct making *m, size_t samples)
{
    m->volume = esra_allocate_untouched(samples, sizeof *m->volume);
    return m->volume ? esra_sweep_costs(&m->sweep, m->context, m->volume) : esra_fail_memory(m->context->message);
}

/* The same photos and labels for both surfaces: the costs are found once. */
static esra_status find_volume_of_surface(struct making *m, size_t samples)
{
    esra_status status = ESRA_OK;
    if (!m->shared) {
        TRY(find_volume(m, samples));
        m->shared = esra_allocate_untouched(samples, sizeof *m->shared);
        TRY(m->shared ? ESRA_OK : esra_fail_memory(m->context->message));
        memcpy(m->shared, m->volume, samples);
    } else {
        m->volume = m->shared;
        m->shared = NULL;
    }
    esra_context_run(m->context, WIDE(m->context, keep_to_surface), m, rows_blocks(m->sweep.height), NULL);
done:
    return status;
}

/* The volume of costs and its smoothed sums; to be released also where it fails. WORK and LOW are used. */
static esra_status sweep_smoothly(struct making *m)
{
    size_t samples;
    esra_status status;
    if (!esra_size_multiply(pixels_of(m), (size_t)m->sweep.padded, &samples))
        return esra_fail_memory(m->context->message);
    m->penalties = esra_allocate_untouched(2 * pixels_of(m), sizeof *m->penalties);
    TRY(m->penalties ? ESRA_OK : esra_fail_memory(m->context->message));
    TRY(m->range->pair && !m->sweep.base.data ? find_volume_of_surface(m, samples) : find_volume(m, samples));
    if (samples * sizeof *m->sgm.sums > SUMS_BESIDE)
        esra_sweep_unload(&m->sweep);
    m->sgm.sums = esra_allocate_untouched(samples, sizeof *m->sgm.sums);
    TRY(m->sgm.sums ? ESRA_OK : esra_fail_memory(m->context->message));
    set_penalties(m);
    status = esra_sgm_run(&m->sgm, m->context);
done:
    return status;
}

static esra_status find_labels(struct making *m)
{
    esra_status status;
    TRY(sweep_smoothly(m));
    esra_context_run(m->context, choose_block, m, rows_blocks(m->sweep.height), NULL);
    release_volume(m);
    TRY(esra_sweep_load(&m->sweep, m->context));
    status = mend(m);
done:
    release_volume(m);
    return status;
}

static void restore_labels(struct sweep *sweep, const struct sweep *before)
{
    sweep->labels = before->labels;
    sweep->padded = before->padded;
    sweep->lowest = before->lowest;
    sweep->step = before->step;
    sweep->base = before->base;
}

/* MENDED <- the same to parts of a label, where the photos tell them: depths a quarter of a label apart, from one below
 * to one above each pixel's own, are compared and smoothed as labels were. */
static esra_status refine(struct making *m)
{
    struct plane label = plane_of(m, MENDED), fine = plane_of(m, HIGH), keep = plane_of(m, LOW);
    struct sweep coarse = m->sweep;
    esra_status status;
    esra_sweep_refine(&m->sweep, label, fine, PARTS);
    TRY(sweep_smoothly(m));
    esra_blur(m->context, plane_of(m, CONFIDENCE), keep, 1);
    for (size_t n = 0; n < pixels_of(m); n++) {
        float change = esra_sgm_choose(&m->sgm, n) / PARTS - 1;
        fine.data[n] = label.data[n] + clip(keep.data[n] / (float)camera_thresholds.certain) * change;
    }
    esra_label_median(m->context, fine, label);
done:
    release_volume(m);
    restore_labels(&m->sweep, &coarse);
    return status;
}

/* 0 up to half of `middle`, 1 from one and a half times it on, linear between. */
static float ramp(float value, double middle)
{
    return clip(value / (float)middle - .5f);
}

/* LOW <- guard, where the labels have a step nearby, the picture has gradients, and labels nearby explain them. */
static void set_guard(const struct making *m, struct plane low, struct plane high, struct plane least,
                      struct plane strength)
{
    const struct camera_thresholds *t = &camera_thresholds;
    for (size_t n = 0; n < pixels_of(m); n++) {
        float range = high.data[n] - low.data[n] - 2; /* low and high have a label of margin each */
        low.data[n] = ramp(1 - least.data[n], t->guard_explained) * ramp(range, t->guard_labels) *
                      ramp(strength.data[n], t->guard_strength);
    }
}

/* The share of gradients that labels near each pixel's own leave unexplained; *explained: the share explained in all;
 * with `reach`, the guard into LOW. */
static esra_status explain(const struct making *m, int reach, double *explained)
{
    struct plane low = plane_of(m, LOW), high = plane_of(m, HIGH), work = plane_of(m, WORK),
                 least = plane_of(m, SPECKLE);
    struct plane here = plane_of(m, LABEL);
    double sum = 0, whole = 1e-12;
    esra_smallest(m->context, plane_of(m, MENDED), low, reach, work);
    esra_largest(m->context, plane_of(m, MENDED), high, reach, work);
    for (size_t n = 0; n < pixels_of(m); n++) {
        low.data[n] -= 1;
        high.data[n] += 1;
    }
    struct unexplained planes = {low, high, plane_of(m, MENDED), least, here};
    esra_status status = esra_sweep_unexplained(&m->sweep, m->context, &planes);
    if (status != ESRA_OK)
        return status;
    esra_sweep_strength(&m->sweep, work);
    for (size_t n = 0; n < pixels_of(m); n++) {
        sum += (1 - (double)here.data[n]) * (double)work.data[n];
        whole += (double)work.data[n];
    }
    *explained = sum / whole;
    esra_blur(m->context, work, here, 2);
    set_guard(m, low, high, least, here);
    return ESRA_OK;
}

static esra_status enlarge(const struct making *m, struct plane from, struct image *to)
{
    const struct camera *camera = m->sweep.camera;
    esra_status status = esra_image_create(to, camera->width, camera->height, 1, m->context->message);
    if (status == ESRA_OK)
        esra_scale_up(m->context, from, image_plane(to, 0));
    return status;
}

static esra_status make_guide(struct making *m)
{
    const struct image *from = &m->sweep.reference;
    esra_status status = esra_image_create(&m->guide, from->width, from->height, from->channels, m->context->message);
    for (size_t n = 0; status == ESRA_OK && n < pixels_of(m) * (size_t)from->channels; n++)
        m->guide.data[n] = clip(from->data[n]);
    return status;
}

/* Takes over the labels and writes the full-size maps. */
static esra_status finish(struct making *m, struct depth *depth, bool guarded)
{
    struct image *inverse = &depth->inverse;
    esra_status status;
    depth->count = m->sweep.labels;
    depth->lowest = m->sweep.lowest;
    depth->step = m->sweep.step;
    TRY(enlarge(m, plane_of(m, MENDED), inverse));
    for (size_t n = 0; n < image_pixels(inverse); n++)
        inverse->data[n] = (float)(depth->lowest + depth->step * (double)inverse->data[n]);
    if (guarded)
        TRY(enlarge(m, plane_of(m, LOW), &depth->guard));
    TRY(esra_image_create(&depth->labels, m->sweep.width, m->sweep.height, 1, m->context->message));
    for (size_t n = 0; n < pixels_of(m); n++)
        depth->labels.data[n] = plane_of(m, MENDED).data[n];
done:
    return status;
}

/* The photos reduced, and room for labels; to be freed also where it fails. */
static esra_status begin(struct making *m, const struct camera *camera, const struct image *photos,
                         const struct depth_options *options, const struct layer_range *range)
{
    struct sweep_options sweep = sweep_options(range, options);
    esra_status status;
    bool told = options && (options->near != 0 || options->far != 0);
    sweep.near = told ? options->near : camera->near;
    sweep.far = told ? options->far : camera->far;
    sweep.reach = told ? 0 : sweep.reach;
    TRY(esra_sweep_create(&m->sweep, m->context, camera, photos, &sweep));
    TRY(make_guide(m));
    TRY(esra_image_create(&m->planes, m->sweep.width, m->sweep.height, PLANES, m->context->message));
done:
    return status;
}

static void end(struct making *m)
{
    esra_sweep_free(&m->sweep);
    esra_image_free(&m->guide);
    esra_image_free(&m->planes);
    esra_release(&m->shared);
}

/* Depths of the layer or surface that the range is of. */
static esra_status find(struct making *m, struct depth *depth, const struct layer_range *range, bool bare)
{
    esra_status status;
    m->range = range;
    TRY(esra_sweep_load(&m->sweep, m->context));
    TRY(find_labels(m));
    if (!esra_context_stopping(m->context))
        TRY(refine(m));
    if (!bare && !esra_context_stopping(m->context)) {
        TRY(esra_sweep_load(&m->sweep, m->context));
        TRY(explain(m, range->guarded ? (int)camera_thresholds.guard_px : 0, &depth->explained));
    }
    TRY(finish(m, depth, range->guarded && !bare));
done:
    return status;
}

static esra_status make(struct depth *depth, struct context *context, const struct camera *camera,
                        const struct image *photos, const struct depth_options *options,
                        const struct layer_range *range)
{
    struct making m = {.context = context};
    esra_status status;
    *depth = (struct depth){.count = 0};
    TRY(begin(&m, camera, photos, options, range));
    TRY(find(&m, depth, range, options && options->bare));
done:
    end(&m);
    if (status != ESRA_OK)
        esra_depth_free(depth);
    return status;
}

esra_status esra_depth_transmitted(struct depth *depth, struct context *context, const struct camera *camera,
                                   const struct image *photos, const struct depth_options *options)
{
    const struct layer_range range = {.labels = SCENE_LABELS, .guarded = true, .labels_a_px = 1};
    return make(depth, context, camera, photos, options, &range);
}

esra_status esra_depth_reflected(struct depth *depth, struct context *context, const struct camera *camera,
                                 const struct image *rests, const struct depth_options *options)
{
    const struct layer_range range = {
        .labels = MIRRORED_LABELS, .reach = camera_thresholds.mirrored_reach, .labels_a_px = 1};
    return make(depth, context, camera, rests, options, &range);
}

/* ---- Both surfaces ---- */

static esra_status find_pair(struct pair *pair, struct context *context, const struct camera *camera,
                             const struct image *photos, const struct depth_options *options)
{
    const struct layer_range range = {.labels = PAIR_LABELS, .labels_a_px = PAIR_LABELS_A_PX};
    struct sweep_options sweep = sweep_options(&range, options);
    struct sweep small = {0};
    uint8_t *volume = NULL;
    size_t pixels, samples;
    esra_status status;
    sweep.near = options->near;
    sweep.far = options->far;
    sweep.side_px = PAIR_SIDE_PX;
    TRY(esra_sweep_create(&small, context, camera, photos, &sweep));
    if (esra_size_multiply((size_t)small.width, (size_t)small.height, &pixels) &&
        esra_size_multiply(pixels, (size_t)small.padded, &samples))
        volume = esra_allocate_untouched(samples, sizeof *volume);
    TRY(volume ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_sweep_costs(&small, context, volume));
    esra_sweep_unload(&small);
    TRY(esra_pair_find(pair, &small, volume, context));
done:
    esra_release(&volume);
    esra_sweep_free(&small);
    return status;
}

esra_status esra_depth_pair(struct depth depths[PAIR_SURFACES], struct context *context, const struct camera *camera,
                            const struct image *photos)
{
    struct depth_options options = {.near = camera->near, .far = camera->far};
    struct pair pair = {0};
    struct layer_range range = {
        .labels = SCENE_LABELS, .guarded = true, .labels_a_px = PAIR_LABELS_A_PX, .pair = &pair};
    struct making m = {.context = context};
    esra_status status;
    for (int g = 0; g < camera->groups; g++) {
        options.near = fmax(options.near, camera->group[g].near);
        options.far = fmin(options.far, camera->group[g].far);
    }
    TRY(find_pair(&pair, context, camera, photos, &options));
    TRY(begin(&m, camera, photos, &options, &range));
    for (int k = 0; k < PAIR_SURFACES && !esra_context_stopping(context); k++) {
        range.surface = k;
        TRY(find(&m, &depths[k], &range, false));
    }
done:
    end(&m);
    esra_pair_free(&pair);
    return status;
}

void esra_depth_free(struct depth *depth)
{
    esra_image_free(&depth->inverse);
    esra_image_free(&depth->guard);
    esra_image_free(&depth->labels);
    *depth = (struct depth){.count = 0};
}
