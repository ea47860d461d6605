/* pipeline/model.c - making, moving and freeing a model. */
#include "pipeline/model.h"

#include <string.h>

#include "base/memory.h"

static esra_status create_depth(struct model_depth *depth, size_t photos, struct message *message)
{
    depth->still = esra_allocate(photos, sizeof *depth->still);
    depth->mirror = esra_allocate(photos, sizeof *depth->mirror);
    depth->offset = esra_allocate(photos, sizeof *depth->offset);
    return depth->still && depth->mirror && depth->offset ? ESRA_OK : esra_fail_memory(message);
}

esra_status esra_model_create(struct model *model, enum model_kind kind, const struct series *series,
                              struct message *message)
{
    size_t m = (size_t)series->photos;
    *model = (struct model){.kind = kind,
                            .light = series->light,
                            .photos = series->photos,
                            .reference = series->reference,
                            .width = series->width,
                            .height = series->height,
                            .channels = series->channels,
                            .scale = series->scale};
    model->motions = esra_allocate(m, sizeof *model->motions);
    model->still = esra_allocate(m, sizeof *model->still);
    model->mirror = esra_allocate(m, sizeof *model->mirror);
    model->mixing = esra_allocate(m, sizeof *model->mixing);
    model->reflection_gain = esra_allocate(m, sizeof *model->reflection_gain);
    model->aligned = esra_allocate(m, sizeof *model->aligned);
    model->masks = esra_allocate(m, sizeof *model->masks);
    if (!model->motions || !model->still || !model->mirror || !model->mixing || !model->reflection_gain ||
        !model->aligned || !model->masks)
        return esra_fail_memory(message);
    for (int i = 0; i < model->photos; i++) {
        model->motions[i] = (struct photo_motion){.transmitted = TRANSFORM_IDENTITY, .reflected = TRANSFORM_IDENTITY};
        model->still[i] = model->mirror[i] = TRANSFORM_IDENTITY;
        model->mixing[i] = model->reflection_gain[i] = 1;
    }
    return kind == MODEL_DEPTH ? create_depth(&model->depth, m, message) : ESRA_OK;
}

static void free_depth(struct model_depth *depth, int photos)
{
    esra_camera_free(&depth->camera);
    esra_depth_free(&depth->scene);
    esra_depth_free(&depth->mirrored);
    esra_images_free(&depth->still, photos);
    esra_images_free(&depth->mirror, photos);
    esra_release(&depth->offset);
    esra_agreement_free(&depth->agreement);
    esra_image_free(&depth->voted);
}

void esra_model_free(struct model *model)
{
    esra_images_free(&model->aligned, model->photos);
    esra_images_free(&model->masks, model->photos);
    esra_joint_free(&model->joint);
    free_depth(&model->depth, model->photos);
    esra_release(&model->motions);
    esra_release(&model->still);
    esra_release(&model->mirror);
    esra_release(&model->mixing);
    esra_release(&model->reflection_gain);
    *model = (struct model){0};
}

void esra_model_take_motions(struct model *model, const struct model *from)
{
    double scale = model->scale / from->scale;
    for (int i = 0; i < model->photos; i++) {
        model->motions[i] = from->motions[i];
        model->motions[i].transmitted = esra_transform_rescale(&from->motions[i].transmitted, scale);
        model->motions[i].reflected = esra_transform_rescale(&from->motions[i].reflected, scale);
        model->motions[i].apart_px *= scale;
        model->still[i] = esra_transform_rescale(&from->still[i], scale);
        model->mirror[i] = esra_transform_rescale(&from->mirror[i], scale);
        model->mixing[i] = from->mixing[i];
        model->reflection_gain[i] = from->reflection_gain[i];
    }
    model->two_motions = from->two_motions;
    model->exchanged = from->exchanged;
}

void esra_model_park(struct model *model)
{
    for (int i = 0; i < model->photos; i++) {
        esra_image_free(&model->aligned[i]);
        esra_image_free(&model->masks[i]);
    }
}

static bool may_move_in(const struct model *model, const struct series *series, const struct run *run, int i)
{
    const struct image *photo = &series->images[i], *aligned = &model->aligned[i];
    return i != model->reference && model->scale == series->scale && photo->lent && aligned->data && !aligned->lent &&
           run->output->reflected && run->output->reflected[i].data == photo->data;
}

void esra_model_move_in(struct model *model, const struct series *series, const struct run *run)
{
    for (int i = 0; !run->motions_only && i < model->photos; i++) {
        if (!may_move_in(model, series, run, i))
            continue;
        memcpy(series->images[i].data, model->aligned[i].data, image_samples(&model->aligned[i]) * sizeof(float));
        esra_image_free(&model->aligned[i]);
        model->aligned[i] = series->images[i];
    }
}

void esra_model_trim(struct model *model)
{
    struct model_depth *depth = &model->depth;
    esra_images_free(&depth->still, model->photos);
    esra_images_free(&depth->mirror, model->photos);
    esra_agreement_free(&depth->agreement);
    esra_image_free(&depth->voted);
    esra_depth_free(&depth->mirrored);
}

_Static_assert(sizeof(struct transform) == 9 * sizeof(double), "homographies are handed on as nine numbers each");

struct joint_model esra_model_joint(const struct model *model)
{
    bool maps = model->kind == MODEL_DEPTH;
    return (struct joint_model){.mixing = model->mixing,
                                .reflection_gain = model->reflection_gain,
                                .motion = maps ? NULL : (const double *)model->mirror,
                                .maps = maps ? model->depth.mirror : NULL};
}

struct joint_photos esra_model_photos(const struct model *model)
{
    return (struct joint_photos){model->photos, model->aligned, model->masks};
}

double esra_model_gain_of_light(const struct model *model, double gain)
{
    return model->light == LIGHT_ROOT ? gain * gain : gain;
}
