/* pipeline/layers.c - gradients and weights of the paper's problem from what was found, then the certified solve. */
#include "pipeline/layers.h"

#include <math.h>

#include "base/memory.h"
#include "gradients/joint_gradients.h"
#include "gradients/vote.h"
#include "ops/extend.h"
#include "ops/resample.h"
#include "solve/engine.h"

/* The doubt at full size; empty where it is. Pixel centres of the two sizes lie as those of joint_level.h. */
static esra_status enlarge(const struct model *model, const struct image *small, struct image *doubt,
                           struct context *context)
{
    if (!small->data)
        return ESRA_OK;
    double factor = round((double)model->width / small->width);
    struct transform shrink = {{1 / factor, 0, (1 / factor - 1) / 2, 0, 1 / factor, (1 / factor - 1) / 2, 0, 0, 1}};
    esra_status status = esra_image_create(doubt, model->width, model->height, model->channels, context->message);
    if (status == ESRA_OK)
        esra_resample(context, small, &shrink, doubt, (struct plane){0});
    return status;
}

static void add(struct image *layer, const struct image *doubt, double factor)
{
    size_t samples = image_samples(layer);
    for (size_t n = 0; doubt->data && n < samples; n++)
        layer->data[n] += (float)factor * doubt->data[n];
}

/* Where a photo counts less than the least weight W, I_i <- (w I_i + (W - w)(a_i T + R_i))/W and w <- W. A sample of
 * weight 0 leaves its layer without any data: F is flat there, and the bound, to which any dual force on it costs its
 * full size, takes hundreds of iterations. R_i, whose expected gradients are zero where photo i is not seen, is
 * continued there, so that what completes the photo pulls at nothing. */
static void complete(struct image *photo, struct image *weight, const struct image *transmitted,
                     const struct image *reflected, double mixing)
{
    const float least = (float)pipeline_thresholds.least_weight;
    size_t pixels = image_pixels(weight);
    for (int c = 0; c < photo->channels; c++)
        for (size_t p = 0, n = (size_t)c * pixels; p < pixels; p++, n++) {
            float share = weight->data[p] / least;
            if (share < 1)
                photo->data[n] =
                    share * photo->data[n] + (1 - share) * ((float)mixing * transmitted->data[n] + reflected->data[n]);
        }
    for (size_t n = 0; n < pixels; n++)
        weight->data[n] = fmaxf(weight->data[n], least);
}

/* The mean over the photos of how far the joint solution explains each; what it completed, it does not explain. */
static esra_status take_confidence(struct guide *guide, struct message *message)
{
    const struct image *like = &guide->weights[0];
    size_t pixels = image_pixels(like);
    esra_status status = esra_image_create(&guide->confidence, like->width, like->height, 1, message);
    for (int i = 0; status == ESRA_OK && i < guide->photos; i++)
        for (size_t n = 0; n < pixels; n++) {
            float weight = guide->weights[i].data[n];
            guide->confidence.data[n] +=
                weight > (float)pipeline_thresholds.least_weight ? weight / (float)guide->photos : 0;
        }
    return status;
}

/* The joint solution's own gradients, weighed by how far it explains each photo; the doubtful part of the reflection
 * stays in T, as the reference photo has it. One layer at a time: all of them twice would be the most that a separation
 * ever holds. */
static esra_status guide_by_joint(struct guide *guide, const struct model *model, const struct image *small_doubt,
                                  struct context *context)
{
    struct image transmitted = {0}, layer = {0}, weight = {0}, doubt = {0};
    esra_status status;
    esra_joint_trim(model->joint);
    TRY(enlarge(model, small_doubt, &doubt, context));
    TRY(esra_guide_create(guide, model->photos, model->width, model->height, model->channels, context->message));
    TRY(esra_guide_expect(guide, context->message));
    TRY(esra_joint_transmitted(model->joint, &transmitted));
    add(&transmitted, &doubt, 1);
    esra_guide_take_transmitted(context, guide, &transmitted);
    for (int i = 0; i < model->photos && !esra_context_stopping(context); i++) {
        TRY(esra_joint_seen(model->joint, i, &layer));
        add(&layer, &doubt, -model->mixing[i]);
        TRY(esra_joint_trust(model->joint, i, &weight));
        esra_guide_take_reflected(context, guide, i, &layer, &weight);
        TRY(esra_extend(&layer, &weight, context->message));
        complete(&model->aligned[i], &guide->weights[i], &transmitted, &layer, model->mixing[i]);
        esra_image_free(&layer);
        esra_image_free(&weight);
    }
    TRY(take_confidence(guide, context->message));
    TRY(esra_guide_encode(guide, context->message));
done:
    esra_image_free(&transmitted);
    esra_image_free(&layer);
    esra_image_free(&weight);
    esra_image_free(&doubt);
    return status;
}

static esra_status guide_by_vote(struct guide *guide, const struct model *model, struct context *context)
{
    struct vote vote = {model->photos, model->aligned, model->masks, model->mixing};
    return esra_guide_from_vote(guide, &vote, context);
}

/* The caller's gradients stay where they are. */
static esra_status guide_as_given(struct guide *guide, const struct model *model, struct context *context)
{
    size_t pixels = (size_t)model->width * (size_t)model->height;
    esra_status status =
        esra_guide_create(guide, model->photos, model->width, model->height, model->channels, context->message);
    for (int i = 0; status == ESRA_OK && i < model->photos; i++)
        for (size_t n = 0; n < pixels; n++)
            guide->weights[i].data[n] = model->masks[i].data[n];
    return status;
}

static esra_status make_guide(struct guide *guide, struct model *model, esra_method method, const struct image *doubt,
                              struct context *context)
{
    switch (method) {
    case ESRA_METHOD_JOINT: return guide_by_joint(guide, model, doubt, context);
    case ESRA_METHOD_VOTING: return guide_by_vote(guide, model, context);
    case ESRA_METHOD_GIVEN: return guide_as_given(guide, model, context);
    case ESRA_METHOD_NONE: break;
    }
    return ESRA_OK;
}

/* What only led to the layers makes room for the guide, and what led to that for the solver. */
static esra_status extract(struct guide *guide, struct model *model, esra_method method, const struct image *doubt,
                           struct context *context)
{
    esra_model_trim(model);
    esra_status status = make_guide(guide, model, method, doubt, context);
    esra_joint_free(&model->joint);
    esra_images_free(&model->masks, model->photos);
    return status;
}

static void view_all(esra_image *views, const struct image *images, int count)
{
    for (int n = 0; n < count; n++)
        views[n] = esra_image_planar(images[n].data, images[n].width, images[n].height, images[n].channels);
}

/* The gap that is asked for, in the settings'. A draft's is small enough: T of stone, huang-71 and made photos of 12 MP
 * at .05 instead of .01 gains .2, .1 and 0 dB, in 45, 49 and 66 iterations instead of 77, 80 and 417. */
static const double gaps[] = {[ESRA_EFFORT_NORMAL] = 1, [ESRA_EFFORT_DRAFT] = 5, [ESRA_EFFORT_BEST] = .1};

/* Where an engine holds what it was given, what photo i reflects takes its place. */
static void write_over_photos(struct guide *guide, struct model *model)
{
    for (int i = 0; i < model->photos; i++) {
        esra_image_free(&guide->layers[i + 1]);
        guide->layers[i + 1] = model->aligned[i];
        model->aligned[i].lent = true;
    }
}

static esra_status solve(struct guide *guide, struct model *model, struct run *run)
{
    int m = model->photos;
    esra_image *views = esra_allocate(3 * (size_t)m + 1, sizeof *views);
    if (!views)
        return esra_fail_memory(run->context->message);
    esra_image *weights = views + m, *layers = weights + m;
    if (guide->expected && esra_engine_holds(run->settings->engine))
        write_over_photos(guide, model);
    view_all(views, model->aligned, m);
    view_all(weights, guide->weights, m);
    view_all(layers, guide->layers, m + 1);
    esra_problem problem = ESRA_PROBLEM_INIT;
    problem.photos = m;
    problem.mixing = model->mixing;
    problem.mixtures = views;
    problem.gradients = run->input->gradients;
    problem.weights = guide->codes ? NULL : weights;
    esra_result result = ESRA_RESULT_INIT;
    result.layers = layers;
    esra_settings settings = *run->settings;
    settings.gap *= gaps[run->input->effort];
    struct expectation expected = {guide->expected, guide->voted, guide->codes};
    struct solve_task task = {&problem, &result, &settings, run->progress, run->user, expected};
    esra_status status = esra_solve(run->context, &task, run->memory, run->output->info);
    /* The caller's images take memory when they are written to. */
    esra_solve_memory_free(run->memory);
    esra_release(&views);
    return status;
}

esra_status esra_layers_solve(struct layers *layers, struct model *model, esra_method method, const struct image *doubt,
                              struct run *run)
{
    esra_status status = ESRA_OK;
    STEP(run, STAGE_SOLVE, extract(&layers->guide, model, method, doubt, run->context));
    if (!esra_run_stopping(run, STAGE_SOLVE)) {
        TRY(solve(&layers->guide, model, run));
        layers->solved = true;
    }
done:
    return status;
}

void esra_layers_free(struct layers *layers)
{
    esra_guide_free(&layers->guide);
}
