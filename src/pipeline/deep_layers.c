/* pipeline/deep_layers.c - both layers by depth: T by voting, then the reflection's depth from what T leaves of the
 * photos, then both together. */
#include "base/memory.h"
#include "gradients/integrate.h"
#include "ops/map.h"
#include "pipeline/deep.h"
#include "pipeline/thresholds.h"

#define LEVELS 4

/* Iterations of conjugate gradients a reweighing: 25 instead of 40 cost T .3 and 1.3 dB on stone and toy, whose low
 * frequencies are not found yet then. */
#define ITERATIONS 40

/* The joint solve beside voted gradients. Those are known well where photos agree, and smoothness of T would only blur.
 */
static struct joint_settings settings_beside_vote(void)
{
    struct joint_settings settings;
    esra_joint_settings_default(&settings);
    settings.lambda_transmitted = 0;
    settings.lambda_reflected = pipeline_thresholds.depth_lambda_reflected;
    settings.edge_scale = pipeline_thresholds.depth_edge_scale;
    settings.iterations = ITERATIONS;
    return settings;
}

/* ---- T by voting ---- */

static esra_status vote(struct model *model, struct context *context)
{
    struct model_depth *depth = &model->depth;
    struct agreement_problem voting = {model->photos,  model->reference,
                                       model->aligned, model->masks,
                                       model->mixing,  depth->scene.guard.data ? &depth->scene.guard : NULL};
    esra_status status;
    TRY(esra_agreement_find(&depth->agreement, &voting, context));
    TRY(esra_image_create(&depth->voted, model->width, model->height, model->channels, context->message));
    if (!esra_context_stopping(context))
        TRY(esra_integrate(depth->agreement.gradients, &model->aligned[model->reference], &depth->voted, context));
done:
    return status;
}

/* ---- The reflection's depth ---- */

/* Photo i less T, in its own frame; nothing where the photo is not aligned. */
static esra_status find_rest(const struct model *model, const struct series *series, int i, struct image *rest,
                             struct context *context)
{
    size_t pixels = (size_t)model->width * (size_t)model->height;
    const double *offset = model->depth.offset[i];
    struct image mask = {0};
    esra_status status;
    TRY(esra_image_create(rest, model->width, model->height, model->channels, context->message));
    if (!model->motions[i].aligned || esra_context_stopping(context))
        return ESRA_OK;
    TRY(esra_image_create(&mask, model->width, model->height, 1, context->message));
    TRY(esra_deep_return(model, i, &model->depth.voted, rest, &mask, context));
    for (size_t n = 0; n < image_samples(rest); n++)
        rest->data[n] =
            series->images[i].data[n] + (float)(model->mixing[i] * (offset[n / pixels] - (double)rest->data[n]));
done:
    esra_image_free(&mask);
    return status;
}

/* g_i: where R's frame has what photo i reflects at a pixel of the scene. Where the two maps do not meet, the photo's
 * mask becomes 0. */
static esra_status meet(struct model *model, int i, struct context *context)
{
    struct model_depth *depth = &model->depth;
    struct image map = {0}, met = {0};
    esra_status status;
    TRY(esra_image_create(&map, model->width, model->height, 2, context->message));
    TRY(esra_image_create(&met, model->width, model->height, 1, context->message));
    TRY(esra_image_create(&depth->mirror[i], model->width, model->height, 2, context->message));
    esra_camera_map(context, &depth->camera, i, &depth->mirrored.inverse, (struct canvas_offset){0, 0}, &map);
    esra_map_meet(context, &depth->still[i], &(struct placed_map){&map, 0, 0}, &depth->mirror[i], image_plane(&met, 0));
    for (size_t n = 0; i != model->reference && n < image_pixels(&met); n++)
        model->masks[i].data[n] *= met.data[n];
    TRY(esra_deep_median_shift(&depth->mirror[i], &model->mirror[i], context->message));
done:
    esra_image_free(&map);
    esra_image_free(&met);
    return status;
}

static esra_status find_reflection(struct model *model, const struct series *series, struct context *context)
{
    struct model_depth *depth = &model->depth;
    struct image *rests = esra_allocate((size_t)model->photos, sizeof *rests);
    esra_status status = ESRA_OK;
    if (!rests)
        return esra_fail_memory(context->message);
    for (int i = 0; i < model->photos; i++)
        TRY(find_rest(model, series, i, &rests[i], context));
    TRY(esra_depth_reflected(&depth->mirrored, context, &depth->camera, rests, &(struct depth_options){0}));
    for (int i = 0; i < model->photos && !esra_context_stopping(context); i++)
        TRY(meet(model, i, context));
    model->two_motions = !esra_context_stopping(context);
done:
    esra_images_free(&rests, model->photos);
    return status;
}

/* ---- Both layers ---- */

/* Frees what only led to the photos' alignment and the reflection's maps. */
static void free_ways(struct model *model)
{
    struct model_depth *depth = &model->depth;
    for (int i = 0; i < model->photos; i++)
        esra_image_free(&depth->still[i]);
    esra_image_free(&depth->voted);
    esra_depth_free(&depth->mirrored);
}

/* The reference photo is seen without a map's errors, and counts most. */
static esra_status solve(struct model *model, struct context *context)
{
    struct joint_photos photos = esra_model_photos(model);
    struct joint_model joint_model = esra_model_joint(model);
    struct joint_settings settings = settings_beside_vote();
    esra_status status;
    double *confidence = esra_allocate((size_t)model->photos, sizeof *confidence);
    if (!confidence)
        return esra_fail_memory(context->message);
    for (int i = 0; i < model->photos; i++)
        confidence[i] = i == model->reference ? pipeline_thresholds.depth_reference_confidence : 1;
    joint_model.confidence = confidence;
    joint_model.expected = model->depth.agreement.gradients;
    TRY(esra_joint_create(&model->joint, &photos, LEVELS, context));
    TRY(esra_joint_solve(model->joint, &joint_model, &settings, 0, &model->joint_info));
    esra_joint_trim(model->joint);
done:
    esra_release(&confidence);
    return status;
}

esra_status esra_deep_find_reflection(struct model *model, const struct series *series, struct run *run)
{
    esra_status status = ESRA_OK;
    if (!model->depth.scene.inverse.data)
        return ESRA_OK;
    STEP(run, STAGE_ALIGN, vote(model, run->context));
    STEP(run, STAGE_ALIGN, find_reflection(model, series, run->context));
done:
    return status;
}

esra_status esra_deep_solve(struct model *model, struct run *run)
{
    free_ways(model);
    return model->two_motions && !run->input->gradients ? solve(model, run->context) : ESRA_OK;
}
