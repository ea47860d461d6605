/* pipeline/deep_layers.c - both layers by depth: T by voting, then the reflection's motion from what T leaves of the
 * photos, its strength, the photos' light, then both together. */
#include "pipeline/deep_layers.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "gradients/integrate.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "pipeline/deep.h"
#include "pipeline/deep_light.h"
#include "pipeline/deep_mirror.h"
#include "pipeline/thresholds.h"

#define LEVELS 4

/* Iterations of conjugate gradients a reweighing at coarse levels: 20 instead of 40 cost toy's T 1.9 dB, as low
 * frequencies are not found yet then (doc/notes/joint.md). */
#define ITERATIONS 40

/* Voted gradients are known well where photos agree, and smoothness of T beside them would only blur. */
static struct joint_settings settings_of(const struct deep_prior *prior)
{
    struct joint_settings settings;
    esra_joint_settings_default(&settings);
    settings.ridge = prior->ridge;
    settings.iterations = ITERATIONS;
    settings.once = true;
    if (prior->voted) {
        settings.lambda_transmitted = 0;
        settings.lambda_reflected = pipeline_thresholds.depth_lambda_reflected;
        settings.edge_scale = gradients_thresholds.agreement_noise;
    }
    return settings;
}

/* ---- T by voting ---- */

static esra_status find_agreement(struct model *model, struct context *context)
{
    struct model_depth *depth = &model->depth;
    struct agreement_problem voting = {model->photos,  model->reference,
                                       model->aligned, model->masks,
                                       model->mixing,  depth->scene.guard.data ? &depth->scene.guard : NULL};
    return esra_agreement_find(&depth->agreement, &voting, context);
}

/* Of two surfaces R's motion is known, and T not needed for it; where layers add up, nor are its gradients. */
static esra_status vote(struct model *model, struct context *context)
{
    struct model_depth *depth = &model->depth;
    bool pair = depth->mirrored.inverse.data != NULL;
    esra_status status = ESRA_OK;
    if (!pair || model->light != LIGHT_LINEAR)
        TRY(find_agreement(model, context));
    if (pair)
        return ESRA_OK;
    TRY(esra_image_create(&depth->voted, model->width, model->height, model->channels, context->message));
    if (!esra_context_stopping(context))
        TRY(esra_integrate(depth->agreement.gradients, &model->aligned[model->reference], &depth->voted, context));
done:
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
}

struct solving {
    const struct deep_prior *prior;
    struct joint_settings settings;
    int finest;
};

/* The reference photo is seen without a map's errors, and counts most. */
static esra_status solve(const struct model *model, struct joint **joint, const struct solving *how,
                         struct joint_info *info, struct context *context)
{
    struct joint_photos photos = esra_model_photos(model);
    struct joint_model joint_model = esra_model_joint(model);
    esra_status status;
    double *confidence = esra_allocate((size_t)model->photos, sizeof *confidence);
    if (!confidence)
        return esra_fail_memory(context->message);
    for (int i = 0; i < model->photos; i++)
        confidence[i] = i == model->reference ? pipeline_thresholds.depth_reference_confidence : 1;
    joint_model.confidence = confidence;
    joint_model.expected = how->prior->voted ? model->depth.agreement.gradients : NULL;
    TRY(esra_joint_create(joint, &photos, how->finest < LEVELS ? LEVELS : how->finest + 1, context));
    TRY(esra_joint_solve(*joint, &joint_model, &how->settings, how->finest, info));
done:
    esra_release(&confidence);
    return status;
}

esra_status esra_deep_solve_joint(const struct model *model, struct joint **joint, int finest,
                                  const struct deep_prior *prior, struct joint_info *info, struct context *context)
{
    return solve(model, joint, &(struct solving){prior, settings_of(prior), finest}, info, context);
}

/* ---- How strong R is ---- */

/* R is measured where no side is longer. */
#define STRENGTH_SIDE   100
#define STRENGTH_ROUNDS 3
/* The reference's own weight is ten times as much. */
#define RIDGE_MOST 1

/* The variance of R in the octaves that its motion determines: of what a blur takes away. */
static esra_status measure_band(const struct joint *joint, int photo, double *variance, struct context *context)
{
    struct image seen = {0}, smooth = {0};
    double sum = 0;
    esra_status status;
    TRY(esra_joint_seen(joint, photo, &seen));
    TRY(esra_image_create(&smooth, seen.width, seen.height, seen.channels, context->message));
    for (int c = 0; c < seen.channels; c++)
        esra_blur(context, image_plane(&seen, c), image_plane(&smooth, c), pipeline_thresholds.strength_blur_px);
    for (size_t n = 0; n < image_samples(&seen); n++) {
        double rest = (double)seen.data[n] - (double)smooth.data[n];
        sum += rest * rest;
    }
    *variance = sum / (double)image_samples(&seen);
done:
    esra_image_free(&seen);
    esra_image_free(&smooth);
    return status;
}

/* The weight of |R|^2 under a Gaussian prior is the misfit's variance over R's. R's is that of the octaves its motion
 * determines, times their number: pictures have about as much of it in every octave (Field 1987). What a solve adds in
 * the octaves that are not determined, a veil, does not make R stronger. */
static esra_status find_ridge(const struct model *model, double share, struct deep_prior *prior,
                              struct context *context)
{
    int level = model_halvings(model, STRENGTH_SIDE);
    esra_status status = ESRA_OK;
    prior->ridge = 1e-3;
    for (int round = 0; round < STRENGTH_ROUNDS && !esra_context_stopping(context); round++) {
        struct joint *joint = NULL;
        struct joint_info info;
        double variance = 0;
        status = esra_deep_solve_joint(model, &joint, level, prior, &info, context);
        if (status == ESRA_OK)
            status = measure_band(joint, model->reference, &variance, context);
        esra_joint_free(&joint);
        if (status != ESRA_OK)
            return status;
        prior->ridge = fmin(share * info.residual * info.residual / fmax(variance, 1e-12), RIDGE_MOST);
    }
    return status;
}

/* Where layers add up, and R is determined, the photos tell the layers' gradients: votes, which take edges that hardly
 * move apart for T's, would only mislead, and what no layers explain is the photos' light. */
static esra_status prepare(struct model *model, bool determined, struct context *context)
{
    bool told = determined && model->light == LIGHT_LINEAR;
    double share = determined ? pipeline_thresholds.depth_ridge : pipeline_thresholds.depth_ridge_open;
    struct deep_prior *prior = &model->depth.prior;
    esra_status status;
    prior->voted = !told && model->depth.agreement.gradients[0].data;
    TRY(find_ridge(model, share, prior, context));
    if (told)
        TRY(esra_deep_fit_light(model, prior, context));
done:
    return status;
}

esra_status esra_deep_find_reflection(struct model *model, const struct series *series, bool follow, struct run *run)
{
    esra_status status = ESRA_OK;
    if (!model->depth.scene.inverse.data)
        return ESRA_OK;
    STEP(run, STAGE_ALIGN, vote(model, run->context));
    STEP(run, STAGE_ALIGN, esra_deep_find_mirror(model, series, follow, run->context));
done:
    return status;
}

/* What the photos see of the reference's frame, R's part of it included, follows from the motions. */
esra_status esra_deep_in_roots(struct model *model, const struct series *roots, struct model *known, struct run *run)
{
    esra_status status;
    TRY(esra_deep_align(model, roots, known, run));
    if (esra_run_stopping(run, STAGE_ALIGN)) /* perhaps before there were masks */
        return ESRA_OK;
    esra_deep_take_maps(model, known);
    for (int i = 0; i < model->photos; i++) {
        memcpy(model->masks[i].data, known->masks[i].data, image_samples(&model->masks[i]) * sizeof(float));
        model->mirror[i] = known->mirror[i];
    }
    model->two_motions = known->two_motions;
    STEP(run, STAGE_ALIGN, find_agreement(model, run->context));
done:
    return status;
}

/* Gradients that are given leave no layers to solve for. */
static bool has_layers(const struct model *model, const struct run *run)
{
    return model->two_motions && !run->input->gradients;
}

esra_status esra_deep_prepare(struct model *model, bool determined, struct run *run)
{
    free_ways(model);
    return has_layers(model, run) ? prepare(model, determined, run->context) : ESRA_OK;
}

esra_status esra_deep_solve(struct model *model, struct run *run)
{
    struct solving how = {&model->depth.prior, settings_of(&model->depth.prior), 0};
    esra_status status = ESRA_OK;
    if (!has_layers(model, run) || model->joint)
        return ESRA_OK;
    esra_joint_settings_brief(&how.settings);
    TRY(solve(model, &model->joint, &how, &model->joint_info, run->context));
    esra_joint_trim(model->joint);
done:
    return status;
}
