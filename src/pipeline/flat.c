/* pipeline/flat.c - T's motion by homographies, and the photos warped by it. */
#include "pipeline/flat.h"

#include <string.h>

#include "ops/resample.h"
#include "pipeline/gains.h"

enum motion esra_flat_motion(const esra_photos *input)
{
    return input->motion == ESRA_MOTION_TRANSLATION ? MOTION_TRANSLATION
           : input->motion == ESRA_MOTION_AFFINE    ? MOTION_AFFINE
                                                    : MOTION_HOMOGRAPHY;
}

static struct transform transform_of(const esra_transform *given)
{
    struct transform t;
    for (int n = 0; n < 9; n++)
        t.h[n] = given->h[n] / given->h[8];
    return t;
}

/* The motion that the caller gave of photo i, in px of its photos. */
static struct photo_motion given_motion(const esra_photos *input, int i)
{
    struct photo_motion motion = {.transmitted = TRANSFORM_IDENTITY, .reflected = TRANSFORM_IDENTITY};
    if (esra_series_left_out(input, i))
        return motion;
    motion.transmitted = transform_of(&input->transmitted[i]);
    motion.aligned = true;
    motion.explained = 1;
    if (input->reflected) {
        motion.reflected = transform_of(&input->reflected[i]);
        motion.second = i != input->reference;
        motion.apart_px = esra_transform_distance(&motion.transmitted, &motion.reflected, input->images[0].width,
                                                  input->images[0].height);
    }
    return motion;
}

static void take_given(struct model *model, const esra_photos *input)
{
    for (int i = 0; i < model->photos; i++) {
        struct photo_motion motion = given_motion(input, i);
        motion.transmitted = esra_transform_rescale(&motion.transmitted, model->scale);
        motion.reflected = esra_transform_rescale(&motion.reflected, model->scale);
        motion.apart_px *= model->scale;
        model->motions[i] = motion;
    }
}

static esra_status find_motions(struct model *model, const struct series *series, struct run *run)
{
    struct align_options options = {esra_flat_motion(run->input), series->light == LIGHT_STORED};
    esra_status status = ESRA_OK;
    if (run->input->transmitted)
        take_given(model, run->input);
    else
        TRY(esra_align(run->context, series->images, series->photos, series->reference, &options, model->motions));
    for (int i = 0; i < model->photos; i++)
        model->still[i] = model->motions[i].transmitted;
done:
    return status;
}

esra_status esra_flat_warp(struct model *model, const struct series *series, struct run *run)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < model->photos && !esra_context_stopping(run->context); i++) {
        struct image *aligned = &model->aligned[i], *mask = &model->masks[i];
        if (!aligned->data) {
            TRY(esra_image_create(aligned, model->width, model->height, model->channels, run->context->message));
            TRY(esra_image_create(mask, model->width, model->height, 1, run->context->message));
        }
        esra_resample(run->context, &series->images[i], &model->still[i], aligned, image_plane(mask, 0));
        if (!model->motions[i].aligned)
            memset(mask->data, 0, image_pixels(mask) * sizeof(float));
        model->motions[i].overlap = esra_image_mean(mask);
    }
done:
    return status;
}

esra_status esra_flat_unpark(struct model *model, const struct series *series, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    esra_status status;
    TRY(esra_flat_warp(model, series, run)); /* may leave off in the midst, once the caller has had enough */
    if (model->joint && !esra_context_stopping(run->context))
        TRY(esra_joint_load(model->joint, &photos));
done:
    return status;
}

esra_status esra_flat_align(struct model *model, const struct series *series, struct run *run)
{
    esra_status status;
    TRY(esra_model_create(model, MODEL_FLAT, series, run->context->message));
    STEP(run, STAGE_ALIGN, find_motions(model, series, run));
    STEP(run, STAGE_ALIGN, esra_flat_warp(model, series, run));
    STEP(run, STAGE_ALIGN, esra_gains_measure(model, run));
done:
    return status;
}

esra_status esra_flat_enlarge(struct model *model, const struct series *series, struct model *small, struct run *run)
{
    esra_status status;
    TRY(esra_model_create(model, MODEL_FLAT, series, run->context->message));
    esra_model_take_motions(model, small);
    STEP(run, STAGE_ALIGN, esra_flat_warp(model, series, run));
    if (!run->stopped)
        esra_model_move_in(model, series, run);
    STEP(run, STAGE_SEPARATE, esra_flat_solve(model, series, small, run));
done:
    return status;
}
