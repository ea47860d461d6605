/* align/refine.c - makes a transform exact: robust Gauss-Newton on gradient fields, coarse to fine.
 *
 * With C0 the reference's field, W the photo's seen through the transform and g the gain, the residual is r = W - g C0.
 * Each step minimises sum w |r + (gx M1 + gy M2) p|^2 over a small homography p applied before the transform; gx, gy
 * are the derivatives of (W + g C0)/2, the mean of both ends of the step, which makes its error third order (Benhimane
 * & Malis 2004). w is Tukey's biweight of |r|^2 smoothed by a pixel: a pixel belongs to a layer as part of an edge, not
 * alone. The scale is that of the residuals of the stronger half of the pixels; flat ones fit any motion. The gain is
 * the ratio of the norms of the two fields over all pixels seen by both: a regression of W on C0 would be pulled down
 * by the other layer's edges, which then fit the lower gain. */
#include "align/refine.h"

#include <math.h>
#include <string.h>

#include "align/thresholds.h"
#include "base/bins.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "ops/blur.h"
#include "ops/thresholds.h"

#define ROUGH_ITERATIONS 4
/* Converged: a step moves the corners by fewer pixels than this. */
#define STEP_LEAST_PX 1e-3

/* Histograms are counted in this many parts where there are so many pixels: a part costs as much to begin with as
 * 30,000. */
#define PARTS       4
#define PART_PIXELS 2e5

struct sums {
    struct normal normal;
    double photo, reference; /* energy of the fields where both see */
};

/* One level of the pyramid: its inputs, the current estimate, and scratch. */
struct stage {
    struct context *context;
    const struct field *reference, *photo;
    struct plane weights; /* data NULL: all 1 */
    struct field warped;
    struct image planes; /* valid, residual, smooth, strength */
    struct sums *sums;   /* [blocks] */
    uint32_t *bins;      /* [PARTS * BINS] */
    struct transform transform;
    double gain, cutoff2, cx, cy, s;
};

enum { VALID, RESIDUAL, SMOOTH, STRENGTH, PLANES };

static struct plane plane_of(const struct stage *stage, int which)
{
    return image_plane(&stage->planes, which);
}

static void stage_free(struct stage *stage)
{
    esra_field_free(&stage->warped);
    esra_image_free(&stage->planes);
    esra_release(&stage->sums);
    esra_release(&stage->bins);
}

static esra_status stage_create(struct stage *stage)
{
    int width = stage->reference->width, height = stage->reference->height;
    esra_status status;
    TRY(esra_field_reserve(&stage->warped, width, height, stage->context->message));
    TRY(esra_image_reserve(&stage->planes, width, height, PLANES, stage->context->message));
    stage->sums = esra_allocate((size_t)rows_blocks(height), sizeof *stage->sums);
    stage->bins = esra_allocate_untouched(PARTS, BINS * sizeof *stage->bins);
    if (!stage->sums || !stage->bins)
        TRY(esra_fail_memory(stage->context->message));
    stage->cx = .5 * (width - 1);
    stage->cy = .5 * (height - 1);
    stage->s = .5 * (width > height ? width : height);
    return ESRA_OK;
done:
    stage_free(stage);
    return status;
}

static void residual_block(void *work, int task, int worker)
{
    struct stage *stage = work;
    struct sums *sums = &stage->sums[task];
    float gain = (float)stage->gain;
    (void)worker;
    memset(sums, 0, sizeof *sums);
    for (int y = rows_begin(task); y < rows_end(task, stage->warped.height); y++) {
        float *valid = plane_row(plane_of(stage, VALID), y), *residual = plane_row(plane_of(stage, RESIDUAL), y);
        float *strength = plane_row(plane_of(stage, STRENGTH), y);
        const float *weights = stage->weights.data ? plane_row(stage->weights, y) : NULL;
        const colours *w = (const colours *)field_sample(&stage->warped, 0, y);
        const colours *c = (const colours *)field_sample(stage->reference, 0, y);
        for (int x = 0; x < stage->warped.width; x++, w += 2, c += 2) {
            colours r0 = w[0] - gain * c[0], r1 = w[1] - gain * c[1];
            float error = colours_sum(r0 * r0 + r1 * r1);
            float photo = colours_sum(w[0] * w[0] + w[1] * w[1]), reference = colours_sum(c[0] * c[0] + c[1] * c[1]);
            if (weights)
                valid[x] *= weights[x];
            residual[x] = valid[x] > 0 ? error : 0;
            strength[x] = valid[x] > 0 ? photo + reference : 0;
            sums->photo += valid[x] * photo;
            sums->reference += valid[x] * reference;
        }
    }
}
WIDE_TASK(residual_block)

/* A histogram of the values where strength is over the least; each part of the rows counts in bins of its own. */
struct counting {
    struct plane values, strength;
    double least;
    int parts;
    uint32_t *bins; /* [parts * BINS] */
};

static void count_part(void *work, int part, int worker)
{
    const struct counting *c = work;
    uint32_t *bins = c->bins + (size_t)part * BINS;
    (void)worker;
    memset(bins, 0, BINS * sizeof *bins);
    for (int y = c->values.height * part / c->parts; y < c->values.height * (part + 1) / c->parts; y++) {
        const float *value = plane_row(c->values, y), *strength = plane_row(c->strength, y);
        for (int x = 0; x < c->values.width; x++)
            if (strength[x] > c->least)
                bins[bins_number(value[x])]++;
    }
}

/* The median, to 1 %, of `values` where `strength` is over `least`. */
static double median_where(const struct stage *stage, struct plane values, struct plane strength, double least)
{
    int parts = (double)values.width * values.height > PART_PIXELS ? PARTS : 1, bin = 0;
    struct counting counting = {values, strength, least, parts, stage->bins};
    uint32_t *bins = stage->bins, total = 0, seen = 0;
    esra_context_run(stage->context, count_part, &counting, parts, NULL);
    for (int n = BINS; n < parts * BINS; n++)
        bins[n % BINS] += bins[n];
    for (int n = 0; n < BINS; n++)
        total += bins[n];
    while (bin < BINS - 1 && (seen += bins[bin]) * 2 < total)
        bin++;
    return total ? bins_value(bin) : 0;
}

static void set_cutoff(struct stage *stage)
{
    double least = median_where(stage, plane_of(stage, STRENGTH), plane_of(stage, STRENGTH), 0);
    double variance = 1.4826 * 1.4826 * median_where(stage, plane_of(stage, SMOOTH), plane_of(stage, STRENGTH), least);
    double cutoff = align_thresholds.refine_cutoff;
    /* 1e-5: under the gradients of half a step of 16-bit samples, only there to keep 0/0 away. */
    stage->cutoff2 = cutoff * cutoff * (variance + 1e-10);
}

/* Products of the derivatives of (W + g C0)/2 along x and y, and of them with r; derivatives are per s pixels. */
static void add_pixel(const struct stage *stage, struct normal_row *row, int x, int y, float weight)
{
    ptrdiff_t right = 2, down = 2 * (ptrdiff_t)stage->warped.width;
    const colours *w = (const colours *)field_sample(&stage->warped, x, y);
    const colours *c = (const colours *)field_sample(stage->reference, x, y);
    colours xx = {0}, xy = {0}, yy = {0}, rx = {0}, ry = {0};
    float gain = (float)stage->gain;
    for (int k = 0; k < 2; k++, w++, c++) {
        colours gx = .25f * (w[right] - w[-right] + gain * (c[right] - c[-right]));
        colours gy = .25f * (w[down] - w[-down] + gain * (c[down] - c[-down]));
        colours r = w[0] - gain * c[0];
        xx += gx * gx;
        xy += gx * gy;
        yy += gy * gy;
        rx += gx * r;
        ry += gy * r;
    }
    double ws = weight * stage->s, wss = ws * stage->s;
    struct normal_products products = {{wss * colours_sum(xx), wss * colours_sum(yy)},
                                       {wss * colours_sum(xy), 0},
                                       {ws * colours_sum(rx), ws * colours_sum(ry)}};
    normal_add_pixel(row, (x - stage->cx) / stage->s, products);
}

static float biweight(double residual, double cutoff2)
{
    double inside = 1 - residual / cutoff2;
    return inside > 0 ? (float)(inside * inside) : 0;
}

static void sum_block(void *work, int task, int worker)
{
    struct stage *stage = work;
    struct sums *sums = &stage->sums[task];
    struct plane valid = plane_of(stage, VALID);
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, valid.height); y++) {
        struct normal_row row = {{{{0}, {0}, {0}}}};
        const float *v = plane_row(valid, y), *smooth = plane_row(plane_of(stage, SMOOTH), y);
        for (int x = 1; x < valid.width - 1 && y > 0 && y < valid.height - 1; x++) {
            bool whole = v[x - 1] > 0 && v[x + 1] > 0 && v[x - valid.stride] > 0 && v[x + valid.stride] > 0;
            float weight = v[x] * biweight(smooth[x], stage->cutoff2);
            if (whole && weight > 0)
                add_pixel(stage, &row, x, y, weight);
        }
        esra_normal_add_row(&sums->normal, &row, (y - stage->cy) / stage->s);
    }
}
WIDE_TASK(sum_block)

static struct sums add_up(struct stage *stage)
{
    int blocks = rows_blocks(stage->warped.height);
    esra_context_run(stage->context, WIDE(stage->context, sum_block), stage, blocks, NULL);
    struct sums total = stage->sums[0];
    for (int n = 1; n < blocks; n++) {
        esra_normal_add(&total.normal, &stage->sums[n].normal);
        total.photo += stage->sums[n].photo;
        total.reference += stage->sums[n].reference;
    }
    return total;
}

/* One Gauss-Newton step; false on convergence, singular equations or divergence. */
static bool iterate(struct stage *stage, enum motion motion, bool rough, struct refined *refined)
{
    int width = stage->warped.width, height = stage->warped.height;
    double p[NORMAL_PARAMETERS];
    esra_field_warp(stage->context, stage->photo, &stage->transform, &stage->warped, plane_of(stage, VALID));
    esra_context_run(stage->context, WIDE(stage->context, residual_block), stage, rows_blocks(height), NULL);
    esra_blur(stage->context, plane_of(stage, RESIDUAL), plane_of(stage, SMOOTH), 1);
    set_cutoff(stage);
    struct sums sums = add_up(stage);
    if (!(sums.reference > 0) || !esra_normal_solve(&sums.normal, motion, p))
        return false;
    const double most = ops_thresholds.gain_most;
    stage->gain = fmin(fmax(sqrt(sums.photo / sums.reference), 1 / most), most);
    *refined = (struct refined){stage->gain};
    struct transform step = esra_normal_step(p, stage->cx, stage->cy, stage->s), before = stage->transform;
    struct transform after = esra_transform_compose(&before, &step);
    double moved = esra_transform_distance(&before, &after, width, height);
    /* A step past the image leads nowhere; NaN ends here as well. */
    if (!(moved < width))
        return false;
    stage->transform = after;
    return rough || moved > STEP_LEAST_PX;
}

/* The motion's model in an iteration: where the start is rough, a shift in the first third, affine in the second. */
static enum motion staged_motion(const struct refine_options *options, bool coarsest, int iteration)
{
    enum motion most = options->motion;
    if (options->rough && coarsest && 3 * iteration < 2 * options->iterations)
        most = 3 * iteration < options->iterations ? MOTION_TRANSLATION : MOTION_AFFINE;
    return most < options->motion ? most : options->motion;
}

static esra_status refine_level(struct stage *stage, const struct refine_options *options, bool coarsest,
                                struct refined *refined)
{
    esra_status status = stage_create(stage);
    if (status != ESRA_OK)
        return status;
    for (int k = 0; k < options->iterations && !esra_context_stopping(stage->context); k++) {
        enum motion motion = staged_motion(options, coarsest, k);
        bool rough = options->rough && coarsest && k < ROUGH_ITERATIONS;
        if (!iterate(stage, motion, rough, refined) && motion == options->motion)
            break;
    }
    stage_free(stage);
    return ESRA_OK;
}

/* The weights at the levels coarser than `finest`, where the caller has given them. */
static esra_status halve_weights(struct context *context, const struct plane *weights, int finest, int coarsest,
                                 struct image *halved)
{
    struct plane above = *weights;
    for (int n = finest + 1; n <= coarsest; n++) {
        esra_status status =
            esra_image_reserve(&halved[n], (above.width + 1) / 2, (above.height + 1) / 2, 1, context->message);
        if (status != ESRA_OK)
            return status;
        esra_halve(context, above, image_plane(&halved[n], 0), 1);
        above = image_plane(&halved[n], 0);
    }
    return ESRA_OK;
}

esra_status esra_refine(struct context *context, const struct fields *reference, const struct fields *photo,
                        const struct refine_options *options, struct transform *transform, struct refined *refined)
{
    const struct plane *weights = options->weights;
    int levels = reference->levels < photo->levels ? reference->levels : photo->levels;
    int coarsest = options->coarsest < levels ? options->coarsest : levels - 1;
    int finest = options->finest < coarsest ? options->finest : coarsest;
    struct image halved[PYRAMID_LEVELS] = {{0}};
    esra_status status = ESRA_OK;
    struct transform found = *transform;
    *refined = (struct refined){1};
    if (weights)
        TRY(halve_weights(context, weights, finest, coarsest, halved));
    for (int n = coarsest; n >= finest; n--) {
        double scale = ldexp(1, -n);
        struct stage stage = {.context = context,
                              .reference = &reference->level[n],
                              .photo = &photo->level[n],
                              .gain = refined->gain,
                              .transform = esra_transform_rescale(&found, scale)};
        if (weights)
            stage.weights = n > finest ? image_plane(&halved[n], 0) : *weights;
        TRY(refine_level(&stage, options, n == coarsest, refined));
        found = esra_transform_rescale(&stage.transform, 1 / scale);
    }
    *transform = found;
done:
    for (int n = 0; n < PYRAMID_LEVELS; n++)
        esra_image_free(&halved[n]);
    return status;
}

esra_status esra_refine_images(struct context *context, const struct image *reference, const struct image *photo,
                               const struct refine_options *options, struct transform *transform,
                               struct refined *refined)
{
    const struct pyramid_options as_is = {.most_pixels = INFINITY};
    const struct image *images[2] = {reference, photo};
    struct pyramid pyramid = {0};
    struct fields fields[2] = {{.levels = 0}};
    esra_status status = ESRA_OK;
    for (int n = 0; n < 2; n++) {
        TRY(esra_pyramid_create(&pyramid, context, images[n], &as_is));
        TRY(esra_fields_of_pyramid(&fields[n], context, &pyramid, options->blur_px));
        esra_pyramid_free(&pyramid);
    }
    TRY(esra_refine(context, &fields[0], &fields[1], options, transform, refined));
done:
    esra_pyramid_free(&pyramid);
    esra_fields_free(&fields[0]);
    esra_fields_free(&fields[1]);
    return status;
}
