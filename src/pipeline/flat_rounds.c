/* pipeline/flat_rounds.c - both layers by homographies: the joint solve, and rounds that make its motions exact. With
 * the layers known, T can be registered to a photo less its reflection, and R to a photo less T. */
#include <math.h>

#include "align/refine.h"
#include "gradients/mixing.h"
#include "ops/blur.h"
#include "ops/resample.h"
#include "ops/thresholds.h"
#include "pipeline/flat.h"
#include "pipeline/thresholds.h"

#define LEVELS 4

/* Registration rounds at the small size. Each larger size on the way to the photos' own makes one more; they themselves
 * none: motions are then exact to a hundredth of a pixel at half of it. */
#define SMALL_ROUNDS 3

/* A draft's layers are enlarged: what a second round makes exact does not show in them. Photos that are small already
 * lose by it (doc/notes/draft.md). */
static int small_rounds(const struct series *series, const struct run *run)
{
    bool enlarged = run->input->effort == ESRA_EFFORT_DRAFT && !run->motions_only && series->scale < 1;
    return enlarged ? 1 : SMALL_ROUNDS;
}

struct round {
    struct model *model;
    const struct series *series;
    struct run *run;
    int number;          /* from 0 */
    struct image t, r;   /* T; R in the reference's frame */
    struct image seen;   /* R as photo i shows it */
    struct image rest;   /* photo i less one of the layers */
    struct image base;   /* the reference photo less T, smoothed */
    struct image warped; /* photo i less T, smoothed, in R's frame */
    struct image mask;   /* where the latter is known */
};

static void round_free(struct round *round)
{
    esra_image_free(&round->t);
    esra_image_free(&round->r);
    esra_image_free(&round->seen);
    esra_image_free(&round->rest);
    esra_image_free(&round->base);
    esra_image_free(&round->warped);
    esra_image_free(&round->mask);
}

static esra_status create_image(const struct round *round, struct image *image, int channels)
{
    return esra_image_create(image, round->model->width, round->model->height, channels, round->run->context->message);
}

static int clamp(int n, int count)
{
    return n < 0 ? 0 : n >= count ? count - 1 : n;
}

/* R from its canvas into the frame; its border is continued. */
static esra_status take_reflection(struct round *round)
{
    const struct model *model = round->model;
    struct image canvas = {0};
    int left = 0, top = 0;
    esra_status status;
    TRY(esra_joint_reflected(model->joint, &canvas, &left, &top));
    if (!round->r.data)
        TRY(create_image(round, &round->r, model->channels));
    for (int c = 0; c < model->channels; c++)
        for (int y = 0; y < model->height; y++) {
            const float *from = plane_row(image_plane(&canvas, c), clamp(y - top, canvas.height));
            float *to = plane_row(image_plane(&round->r, c), y);
            for (int x = 0; x < model->width; x++)
                to[x] = from[clamp(x - left, canvas.width)];
        }
done:
    esra_image_free(&canvas);
    return status;
}

static esra_status begin_round(struct round *round)
{
    const struct model *model = round->model;
    esra_status status;
    esra_joint_trim(model->joint); /* registration needs about as much memory, and not at the same time */
    esra_image_free(&round->t);
    TRY(esra_joint_transmitted(model->joint, &round->t));
    TRY(take_reflection(round));
    if (round->rest.data)
        return ESRA_OK;
    TRY(create_image(round, &round->rest, model->channels));
    TRY(create_image(round, &round->seen, model->channels));
    TRY(create_image(round, &round->base, model->channels));
    TRY(create_image(round, &round->warped, model->channels));
    TRY(create_image(round, &round->mask, 1));
done:
    return status;
}

/* rest = (photo - factor layer)/divisor */
static void subtract(struct image *rest, const struct image *photo, const struct image *layer, double factor,
                     double divisor)
{
    size_t samples = image_samples(rest);
    for (size_t n = 0; n < samples; n++)
        rest->data[n] = (float)((photo->data[n] - factor * layer->data[n]) / divisor);
}

/* T against photo i less its reflection: a small step d on top of the motion known, still <- still o d. */
static esra_status refine_transmitted(struct round *round, int i, struct transform *step)
{
    const struct model *model = round->model;
    struct context *context = round->run->context;
    struct plane weights = image_plane(&model->masks[i], 0);
    struct refine_options options = {.motion = esra_flat_motion(round->run->input),
                                     .iterations = 8,
                                     .weights = &weights,
                                     .blur_px = ops_thresholds.field_blur_px};
    struct transform identity = TRANSFORM_IDENTITY;
    struct refined refined;
    esra_status status;
    *step = identity;
    esra_image_free(&round->seen);
    TRY(esra_joint_seen(model->joint, i, &round->seen));
    subtract(&round->rest, &model->aligned[i], &round->seen, 1, model->mixing[i]);
    TRY(esra_refine_images(context, &round->t, &round->rest, &options, step, &refined));
    if (!(esra_transform_distance(step, &identity, model->width, model->height) <= pipeline_thresholds.registration_px))
        *step = identity;
done:
    return status;
}

/* R against photo i less T. Candidates may be some pixels off: the first round starts from a coarser level. */
static esra_status refine_reflected(struct round *round, int i)
{
    struct model *model = round->model;
    struct refine_options options = {.motion = esra_flat_motion(round->run->input),
                                     .coarsest = round->number == 0 ? 2 : 0,
                                     .iterations = 10,
                                     .blur_px = pipeline_thresholds.register_reflected_blur_px};
    double most_px = round->number == 0 ? pipeline_thresholds.step_first_px : pipeline_thresholds.step_reflected_px;
    struct transform before, after;
    struct refined refined;
    esra_status status = ESRA_OK;
    if (!esra_transform_invert(&model->mirror[i], &before))
        return ESRA_OK;
    after = before;
    subtract(&round->rest, &model->aligned[i], &round->t, model->mixing[i], 1);
    TRY(esra_refine_images(round->run->context, &round->r, &round->rest, &options, &after, &refined));
    if (!(esra_transform_distance(&after, &before, model->width, model->height) <= most_px))
        after = before;
    esra_transform_invert(&after, &model->mirror[i]);
done:
    return status;
}

/* out = rest smoothed. */
static void smooth(struct round *round, struct image *out)
{
    for (int c = 0; c < out->channels; c++)
        esra_blur(round->run->context, image_plane(&round->rest, c), image_plane(out, c),
                  pipeline_thresholds.register_reflected_blur_px);
}

/* b_i by the mode of gradient ratios, as a_i is found, between the reference photo less T and photo i less T, the
 * latter warped into R's frame. Regression on R itself, which is solved for in turn with it, drifts. */
static esra_status refine_gain(struct round *round, int i)
{
    struct model *model = round->model;
    double a = model->mixing[i];
    struct transform there;
    struct mixing mixing[2];
    struct image pair[2] = {round->base, round->warped}, masks[2] = {model->masks[model->reference], round->mask};
    esra_status status = ESRA_OK;
    if (!esra_transform_invert(&model->mirror[i], &there))
        return ESRA_OK;
    subtract(&round->rest, &model->aligned[i], &round->t, a, 1);
    smooth(round, &round->seen);
    esra_resample(round->run->context, &round->seen, &there, &round->warped, image_plane(&round->mask, 0));
    TRY(esra_mixing_estimate(round->run->context, pair, masks, 2, 0, mixing));
    if (mixing[1].support >= pipeline_thresholds.gain_support_least)
        model->reflection_gain[i] = fmin(fmax(mixing[1].coefficient, a / pipeline_thresholds.gain_ratio_most),
                                         a * pipeline_thresholds.gain_ratio_most);
done:
    return status;
}

/* Two photos do not tell the layers apart well enough for it: b_i/a_i came out 2 to 6 % too low, and one exposure makes
 * it 1. */
static esra_status refine_gains(struct round *round)
{
    struct model *model = round->model;
    esra_status status = ESRA_OK;
    if (model->photos == 2)
        return ESRA_OK;
    subtract(&round->rest, &model->aligned[model->reference], &round->t, 1, 1);
    smooth(round, &round->base);
    for (int i = 0; i < model->photos && !esra_context_stopping(round->run->context); i++)
        if (model_takes_part(model, i))
            TRY(refine_gain(round, i));
done:
    return status;
}

/* A motion that the caller gave stays as it is; it may have been given of what is now the other layer. */
static bool is_given(const struct round *round, bool transmitted)
{
    const esra_photos *input = round->run->input;
    return (transmitted != round->model->exchanged ? input->transmitted : input->reflected) != NULL;
}

static esra_status refine_motions(struct round *round)
{
    struct model *model = round->model;
    esra_status status = ESRA_OK;
    for (int i = 0; i < model->photos && !esra_context_stopping(round->run->context); i++) {
        struct transform step = TRANSFORM_IDENTITY;
        if (!model_takes_part(model, i))
            continue;
        if (!is_given(round, true))
            TRY(refine_transmitted(round, i, &step));
        if (!is_given(round, false))
            TRY(refine_reflected(round, i));
        model->still[i] = esra_transform_compose(&model->still[i], &step);
        model->mirror[i] = esra_transform_compose(&model->mirror[i], &step);
    }
done:
    return status;
}

/* Coarse to fine; from the layers of smaller photos where `enlarged`. */
static esra_status solve(struct model *model, bool enlarged)
{
    struct joint_model joint_model = esra_model_joint(model);
    struct joint_settings settings;
    esra_joint_settings_default(&settings);
    if (enlarged) {
        esra_joint_settings_brief(&settings);
        settings.black_point = false; /* the smaller photos' solve has settled it */
        settings.once = true;
    }
    return esra_joint_solve(model->joint, &joint_model, &settings, 0, &model->joint_info);
}

/* From the layers of the round before, with the photos warped by the new motions. */
static esra_status solve_again(struct round *round)
{
    struct model *model = round->model;
    struct joint_photos photos = esra_model_photos(model);
    struct joint_model joint_model = esra_model_joint(model);
    struct joint_settings settings;
    esra_status status;
    esra_joint_settings_default(&settings);
    TRY(esra_flat_warp(model, round->series, round->run));
    TRY(esra_joint_load(model->joint, &photos));
    TRY(esra_joint_resume(model->joint, &joint_model, &settings, &model->joint_info));
done:
    return status;
}

static esra_status refine(struct round *round)
{
    esra_status status;
    TRY(begin_round(round));
    TRY(refine_gains(round));
    TRY(refine_motions(round));
done:
    return status;
}

static esra_status run_rounds(struct model *model, const struct series *series, struct run *run)
{
    struct round round = {.model = model, .series = series, .run = run};
    int rounds = small_rounds(series, run);
    esra_status status = ESRA_OK;
    for (; round.number < rounds && !esra_run_stopping(run, STAGE_SEPARATE); round.number++) {
        TRY(refine(&round));
        TRY(solve_again(&round));
    }
done:
    round_free(&round);
    return status;
}

/* One more, for photos of twice the size: their solve begins at this one, with the motions found here. */
static esra_status run_round_between(struct model *model, const struct series *series, struct run *run)
{
    struct round round = {.model = model, .series = series, .run = run, .number = SMALL_ROUNDS};
    esra_status status = ESRA_OK;
    if (!esra_run_stopping(run, STAGE_SEPARATE))
        TRY(refine(&round));
done:
    round_free(&round);
    return status;
}

/* R at x of the reference stands at still_i(g_i^-1 x) of photo i. Taken for the scene, it stands still by
 *
 *     still_i <- still_i o g_i^-1,   and then   g_i <- g_i^-1. */
static void exchange_motions(struct model *model, bool mixing_given)
{
    for (int i = 0; i < model->photos; i++) {
        struct transform back;
        double gain = model->mixing[i];
        if (!esra_transform_invert(&model->mirror[i], &back)) {
            model->motions[i].aligned = false; /* there is no such frame */
            continue;
        }
        model->still[i] = esra_transform_compose(&model->still[i], &back);
        model->mirror[i] = back;
        model->mixing[i] = mixing_given ? gain : model->reflection_gain[i];
        model->reflection_gain[i] = gain;
    }
    model->exchanged = true;
}

/* After the rounds, which make both motions exact: a scene must be aligned better than a reflection. */
esra_status esra_flat_exchange(struct model *model, const struct series *series, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    esra_status status;
    exchange_motions(model, run->input->mixing != NULL);
    TRY(esra_flat_warp(model, series, run));
    if (model->joint && !esra_context_stopping(run->context)) {
        TRY(esra_joint_load(model->joint, &photos));
        TRY(solve(model, false));
        esra_joint_trim(model->joint);
    }
done:
    return status;
}

/* The first solve begins with the layers of smaller photos, where there are some. */
static esra_status solve_first(struct model *model, struct model *small, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    int halvings = small ? scale_halvings(model->scale, small->scale) : 0;
    esra_status status;
    TRY(esra_joint_create(&model->joint, &photos, small ? halvings + 1 : LEVELS, run->context));
    TRY(solve(model, small && small->joint && esra_joint_start(model->joint, &small->joint, halvings)));
done:
    return status;
}

esra_status esra_flat_solve(struct model *model, const struct series *series, struct model *small, struct run *run)
{
    esra_status status = ESRA_OK;
    if (!model->two_motions)
        return ESRA_OK;
    if (!run->input->gradients) {
        TRY(solve_first(model, small, run));
        if (!small)
            TRY(run_rounds(model, series, run));
        else if (series->scale < 1)
            TRY(run_round_between(model, series, run));
        esra_joint_trim(model->joint);
    }
done:
    return status;
}
