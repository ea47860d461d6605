/* pipeline/deep.c - the scene behind the glass by depth: camera, maps, and the photos warped by them. */
#include "pipeline/deep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/select.h"
#include "camera/model.h"
#include "camera/thresholds.h"
#include "gradients/offset.h"
#include "ops/resample.h"
#include "pipeline/deep_mirror.h"
#include "pipeline/gains.h"
#include "pipeline/thresholds.h"

/* ---- Camera and depth ---- */

void esra_deep_take_camera(struct model_depth *to, struct model_depth *from)
{
    esra_camera_free(&to->camera);
    to->camera = from->camera;
    from->camera = (struct camera){0};
}

/* Of two surfaces, the scene and what the glass mirrors. */
static esra_status find_surfaces(struct model_depth *depth, const struct series *seen, struct run *run)
{
    struct depth both[PAIR_SURFACES] = {{.count = 0}};
    int scene = depth->surface == SURFACE_NEARER ? PAIR_NEARER : PAIR_FARTHER;
    esra_status status = esra_depth_pair(both, run->context, &depth->camera, seen->images);
    depth->scene = both[scene];
    depth->mirrored = both[!scene];
    return status;
}

/* A camera that is known stays. */
static esra_status find_scene(struct model *model, const struct series *seen, struct run *run)
{
    struct model_depth *depth = &model->depth;
    struct depth_options options = {0};
    esra_status status = ESRA_OK;
    if (!depth->camera.pose)
        TRY(esra_camera_find(&depth->camera, run->context, seen->images, seen->photos, seen->reference));
    if (!depth->camera.found || esra_run_stopping(run, STAGE_ALIGN))
        return ESRA_OK;
    TRY(depth->surface == SURFACE_ONE
            ? esra_depth_transmitted(&depth->scene, run->context, &depth->camera, seen->images, &options)
            : find_surfaces(depth, seen, run));
done:
    return status;
}

/* Tracks and depths are looked for in the root of light, so that shadows count. */
static esra_status find_scene_in_roots(struct model *model, const struct series *series, struct run *run)
{
    struct series roots = {0};
    esra_status status;
    TRY(esra_series_root(&roots, series, run));
    TRY(find_scene(model, &roots, run));
done:
    esra_series_free(&roots);
    return status;
}

void esra_deep_take_scene(struct model_depth *to, struct model_depth *from)
{
    esra_deep_take_camera(to, from);
    to->scene = from->scene;
    to->mirrored = from->mirrored;
    from->scene = from->mirrored = (struct depth){0};
}

void esra_deep_take_maps(struct model *to, struct model *from)
{
    for (int i = 0; i < to->photos; i++) {
        esra_image_free(&to->depth.mirror[i]);
        to->depth.mirror[i] = from->depth.mirror[i];
        from->depth.mirror[i] = (struct image){0};
    }
}

esra_status esra_deep_find_pair(struct model *pair, const struct series *series, const struct model *one,
                                struct run *run)
{
    esra_status status;
    TRY(esra_model_create(pair, MODEL_DEPTH, series, run->context->message));
    pair->depth.surface = SURFACE_FARTHER;
    pair->depth.mirror_kind = MIRROR_SHARED;
    TRY(esra_camera_copy(&pair->depth.camera, &one->depth.camera, run->context->message));
    TRY(find_scene_in_roots(pair, series, run));
done:
    return status;
}

void esra_deep_exchange_surfaces(struct model *pair)
{
    struct depth scene = pair->depth.scene;
    pair->depth.scene = pair->depth.mirrored;
    pair->depth.mirrored = scene;
    pair->depth.surface = pair->depth.surface == SURFACE_FARTHER ? SURFACE_NEARER : SURFACE_FARTHER;
}

/* ---- Photos through maps ---- */

esra_status esra_deep_median_shift(const struct image *map, struct transform *shift, struct message *message)
{
    size_t pixels = image_pixels(map), width = (size_t)map->width;
    float *values = esra_allocate_untouched(pixels, sizeof *values), middle[2];
    if (!values)
        return esra_fail_memory(message);
    for (int c = 0; c < 2; c++) {
        for (size_t n = 0; n < pixels; n++)
            values[n] = map->data[c * pixels + n] - (float)(c ? n / width : n % width);
        middle[c] = esra_select_rank(values, pixels, pixels / 2);
    }
    *shift = esra_transform_shift(middle[0], middle[1]);
    esra_release(&values);
    return ESRA_OK;
}

/* Photo i in the reference's frame; its mask is 0 where it does not see what the reference shows: past its own frame,
 * or hidden by something nearer. */
static esra_status warp_photo(struct model *model, const struct series *series, int i, struct context *context)
{
    struct model_depth *depth = &model->depth;
    struct image visible = {0};
    struct canvas_offset none = {0, 0};
    esra_status status;
    TRY(esra_image_create(&visible, model->width, model->height, 1, context->message));
    esra_camera_map(context, &depth->camera, i, &depth->scene.inverse, none, &depth->still[i]);
    esra_resample_map(context, &series->images[i], &depth->still[i], &model->aligned[i],
                      image_plane(&model->masks[i], 0));
    TRY(esra_camera_visible(context, &depth->camera, i, &depth->scene.inverse, none,
                            pipeline_thresholds.depth_step_labels * depth->scene.step, &visible));
    for (size_t n = 0; n < image_pixels(&visible); n++)
        model->masks[i].data[n] *= visible.data[n];
    TRY(esra_deep_median_shift(&depth->still[i], &model->still[i], context->message));
done:
    esra_image_free(&visible);
    return status;
}

/* The reference sees all of its own frame, a photo that is not aligned nothing of it. */
static void fix_mask(struct model *model, const struct series *series, int i)
{
    bool reference = i == model->reference;
    size_t pixels = image_pixels(&model->masks[i]);
    if (reference)
        memcpy(model->aligned[i].data, series->images[i].data, image_samples(&model->aligned[i]) * sizeof(float));
    for (size_t n = 0; n < pixels && (reference || !model->motions[i].aligned); n++)
        model->masks[i].data[n] = reference;
    model->motions[i].overlap = esra_image_mean(&model->masks[i]);
}

struct warping {
    struct model *model;
    const struct series *series;
};

/* A job of esra_context_side_by_side(): points are splatted and medians found by one thread. */
static esra_status align_photo(void *work, int i, struct context *own)
{
    const struct warping *w = work;
    struct model *model = w->model;
    const struct model_depth *depth = &model->depth;
    bool reference = i == model->reference, known = depth->scene.inverse.data != NULL;
    esra_status status;
    TRY(esra_image_create(&model->aligned[i], model->width, model->height, model->channels, own->message));
    TRY(esra_image_create(&model->masks[i], model->width, model->height, 1, own->message));
    TRY(esra_image_create(&model->depth.still[i], model->width, model->height, 2, own->message));
    model->motions[i].aligned = reference || (known && depth->camera.pose[i].tracks >= camera_thresholds.tracks_least);
    model->motions[i].explained = reference ? 1 : depth->scene.explained;
    if (known && !esra_context_stopping(own))
        TRY(warp_photo(model, w->series, i, own));
    fix_mask(model, w->series, i);
done:
    return status;
}

/* What photo i lacks everywhere against the reference, added to it; likewise a job. */
static esra_status level_photo(void *work, int i, struct context *own)
{
    struct model *model = work;
    struct image *photo = &model->aligned[i];
    size_t pixels = image_pixels(photo);
    double *offset = model->depth.offset[i];
    if (!model_takes_part(model, i) || esra_context_stopping(own))
        return ESRA_OK;
    float *scratch = esra_allocate_untouched(pixels, sizeof *scratch);
    if (!scratch)
        return esra_fail_memory(own->message);
    esra_offset_estimate(&model->aligned[model->reference], photo, &model->masks[i], model->mixing[i], offset, scratch);
    for (int c = 0; c < photo->channels; c++)
        for (size_t n = 0; n < pixels; n++)
            photo->data[(size_t)c * pixels + n] += (float)(model->mixing[i] * offset[c]);
    esra_release(&scratch);
    return ESRA_OK;
}

esra_status esra_deep_align(struct model *model, const struct series *series, struct model *start, struct run *run)
{
    esra_status status;
    bool same_size = start && start->width == series->width && start->height == series->height;
    bool same_camera = start && start->depth.camera.width == series->width;
    TRY(esra_model_create(model, MODEL_DEPTH, series, run->context->message));
    if (start) {
        model->depth.mirror_kind = start->depth.mirror_kind;
        model->depth.surface = start->depth.surface;
    }
    if (same_size)
        esra_deep_take_scene(&model->depth, &start->depth);
    else if (same_camera)
        esra_deep_take_camera(&model->depth, &start->depth);
    if (!same_size)
        STEP(run, STAGE_ALIGN,
             series->light == LIGHT_LINEAR ? find_scene_in_roots(model, series, run) : find_scene(model, series, run));
    STEP(run, STAGE_ALIGN,
         esra_context_side_by_side(run->context, align_photo, &(struct warping){model, series}, model->photos));
    if (start && !same_size)
        esra_gains_take(model, start);
    else
        STEP(run, STAGE_ALIGN, esra_gains_measure(model, run));
    STEP(run, STAGE_ALIGN, esra_context_side_by_side(run->context, level_photo, model, model->photos));
done:
    return status;
}

esra_status esra_deep_look_again(struct model *model, const struct series *series, struct model *known, struct run *run)
{
    esra_status status;
    TRY(esra_deep_align(model, series, known, run));
    model->depth.mirror_kind = MIRROR_OPEN;
    TRY(esra_joint_transmitted(known->joint, &model->depth.voted));
    STEP(run, STAGE_ALIGN, esra_deep_find_mirror(model, series, true, run->context));
done:
    return status;
}

/* ---- Back ---- */

bool esra_deep_follow(const struct model *model, int i, int x, int y, double *u, double *v)
{
    const struct model_depth *depth = &model->depth;
    float inverse = plane_row(image_plane(&depth->scene.inverse, 0), y)[x];
    return model_project(&depth->camera, i, x, y, inverse, u, v);
}

esra_status esra_deep_return(const struct model *model, int i, const struct image *image, struct image *own,
                             struct image *mask, struct context *context)
{
    const struct model_depth *depth = &model->depth;
    struct image back = {0};
    esra_status status;
    TRY(esra_image_create(&back, model->width, model->height, 2, context->message));
    TRY(esra_camera_unmap(context, &depth->camera, i, &depth->scene.inverse, (struct canvas_offset){0, 0}, &back));
    esra_resample_map(context, image, &back, own, image_plane(mask, 0));
done:
    esra_image_free(&back);
    return status;
}
