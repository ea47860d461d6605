/* pipeline/layers.c - gradients and weights of the paper's problem from what was found, then the certified solve. */
#include "pipeline/layers.h"

#include <math.h>

#include "base/memory.h"
#include "base/rows.h"
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

/* A photo's layer as it is made for the guide. */
struct guiding {
    struct guide *guide;
    int i;
    struct image *photo, *layer;
    const struct image *transmitted, *doubt;
    float mixing; /* a_i, or -1 for T itself */
};

/* The doubtful part of the reflection stays in T. */
static void doubt_rows(void *work, int task, int worker)
{
    const struct guiding *g = work;
    size_t pixels = image_pixels(g->layer), width = (size_t)g->layer->width;
    (void)worker;
    for (int c = 0; c < g->layer->channels; c++)
        for (size_t n = (size_t)c * pixels + (size_t)rows_begin(task) * width,
                    end = (size_t)c * pixels + (size_t)rows_end(task, g->layer->height) * width;
             n < end; n++)
            g->layer->data[n] -= g->mixing * g->doubt->data[n];
}

/* Where a photo counts less than the least weight W, I_i <- (w I_i + (W - w)(a_i T + R_i))/W and w <- W. A sample of
 * weight 0 leaves its layer without any data: F is flat there, and the bound, to which any dual force on it costs its
 * full size, takes hundreds of iterations. R_i, whose expected gradients are zero where photo i is not seen, is
 * continued there, so that what completes the photo pulls at nothing. */
static void complete_rows(void *work, int task, int worker)
{
    const struct guiding *g = work;
    const float least = (float)pipeline_thresholds.least_weight;
    float *weights = g->guide->weights[g->i].data;
    size_t pixels = image_pixels(g->photo), width = (size_t)g->photo->width, first = (size_t)rows_begin(task) * width,
           end = (size_t)rows_end(task, g->photo->height) * width;
    (void)worker;
    for (int c = 0; c < g->photo->channels; c++)
        for (size_t p = first, n = (size_t)c * pixels + first; p < end; p++, n++) {
            float share = weights[p] / least;
            if (share < 1)
                g->photo->data[n] =
                    share * g->photo->data[n] + (1 - share) * (g->mixing * g->transmitted->data[n] + g->layer->data[n]);
        }
    for (size_t p = first; p < end; p++)
        weights[p] = fmaxf(weights[p], least);
}

/* The mean over the photos of how far the joint solution explains each; what it completed, it does not explain. */
static void confidence_rows(void *work, int task, int worker)
{
    const struct guiding *g = work;
    struct guide *guide = g->guide;
    const float least = (float)pipeline_thresholds.least_weight;
    size_t width = (size_t)guide->confidence.width, first = (size_t)rows_begin(task) * width,
           end = (size_t)rows_end(task, guide->confidence.height) * width;
    (void)worker;
    for (int i = 0; i < guide->photos; i++)
        for (size_t n = first; n < end; n++) {
            float weight = guide->weights[i].data[n];
            guide->confidence.data[n] += weight > least ? weight / (float)guide->photos : 0;
        }
}

static void run_rows(struct context *context, pool_task *rows, struct guiding *g)
{
    esra_context_run(context, rows, g, rows_blocks(g->layer->height), NULL);
}

/* What the joint solution has of photo i. */
static esra_status guide_photo(struct guiding *g, const struct model *model, struct context *context)
{
    struct image weight = {0};
    esra_status status;
    g->photo = &model->aligned[g->i];
    g->mixing = (float)model->mixing[g->i];
    TRY(esra_joint_seen(model->joint, g->i, g->layer));
    if (g->doubt->data)
        run_rows(context, doubt_rows, g);
    TRY(esra_joint_trust(model->joint, g->i, &weight));
    esra_guide_take_reflected(context, g->guide, g->i, g->layer, &weight);
    TRY(esra_extend(context, g->layer, &weight));
    run_rows(context, complete_rows, g);
done:
    esra_image_free(g->layer);
    esra_image_free(&weight);
    return status;
}

/* The joint solution's own gradients, weighed by how far it explains each photo; the doubtful part of the reflection
 * stays in T, as the reference photo has it. One layer at a time: all of them twice would be the most that a separation
 * ever holds. */
static esra_status guide_by_joint(struct guide *guide, const struct model *model, const struct image *small_doubt,
                                  struct context *context)
{
    struct image transmitted = {0}, reflected = {0}, doubt = {0};
    struct guiding g = {guide, 0, NULL, &transmitted, &transmitted, &doubt, -1};
    esra_status status;
    esra_joint_trim(model->joint);
    TRY(enlarge(model, small_doubt, &doubt, context));
    TRY(esra_guide_create(guide, model->photos, model->width, model->height, model->channels, context->message));
    TRY(esra_guide_expect(guide, context->message));
    TRY(esra_joint_transmitted(model->joint, &transmitted));
    if (doubt.data)
        run_rows(context, doubt_rows, &g);
    esra_guide_take_transmitted(context, guide, &transmitted);
    g.layer = &reflected;
    for (g.i = 0; g.i < model->photos && !esra_context_stopping(context); g.i++)
        TRY(guide_photo(&g, model, context));
    TRY(esra_image_create(&guide->confidence, model->width, model->height, 1, context->message));
    g.layer = &guide->confidence;
    run_rows(context, confidence_rows, &g);
    TRY(esra_guide_encode(guide, context->message));
done:
    esra_image_free(&transmitted);
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
