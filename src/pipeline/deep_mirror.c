/* pipeline/deep_mirror.c - how the reflection moves where T moves by depth: candidates, ranked by the joint objective.
 *
 * In a flat glass the mirrored room is a rigid scene before the camera that sees T. Curved or tilted panes, and errors
 * of T's camera, leave that: then R has a camera of its own, or, where it is far or weak, a homography a photo. */
#include "pipeline/deep_mirror.h"

#include <math.h>
#include <string.h>

#include "align/align.h"
#include "base/memory.h"
#include "camera/thresholds.h"
#include "ops/map.h"
#include "pipeline/deep.h"
#include "pipeline/deep_layers.h"
#include "pipeline/thresholds.h"

/* Candidates are ranked at a size whose sides are no longer, after one of half of it. */
#define RANK_SIDE 400

#define KINDS 3

/* One candidate: R's frame -> photo i, by a camera and depths or by homographies. */
struct motion_of_mirror {
    struct camera own;
    const struct camera *camera; /* NULL: homographies */
    struct depth depth;
    struct photo_motion *motions; /* [photos] */
};

static void free_motion(struct motion_of_mirror *motion)
{
    esra_camera_free(&motion->own);
    esra_depth_free(&motion->depth);
    esra_release(&motion->motions);
    *motion = (struct motion_of_mirror){0};
}

/* `from` is empty afterwards. */
static void move_motion(struct motion_of_mirror *to, struct motion_of_mirror *from)
{
    free_motion(to);
    *to = *from;
    if (from->camera == &from->own)
        to->camera = &to->own;
    *from = (struct motion_of_mirror){0};
}

/* ---- What T leaves of the photos ---- */

struct leaving {
    const struct model *model;
    const struct series *series;
    struct image *rests; /* [photos] */
};

/* Photo i less T, in its own frame; nothing where the photo is not aligned. A job of esra_context_side_by_side(). */
static esra_status find_rest(void *work, int i, struct context *own)
{
    const struct leaving *l = work;
    const struct model *model = l->model;
    const struct image *photo = &l->series->images[i];
    struct image mask = {0}, *rest = &l->rests[i];
    size_t pixels = (size_t)model->width * (size_t)model->height;
    esra_status status;
    TRY(esra_image_create(rest, model->width, model->height, model->channels, own->message));
    if (!model->motions[i].aligned || esra_context_stopping(own))
        return ESRA_OK;
    TRY(esra_image_create(&mask, model->width, model->height, 1, own->message));
    TRY(esra_deep_return(model, i, &model->depth.voted, rest, &mask, own));
    for (int c = 0; c < model->channels; c++)
        for (size_t n = (size_t)c * pixels; n < ((size_t)c + 1) * pixels; n++) {
            double less = model->mixing[i] * (model->depth.offset[i][c] - (double)rest->data[n]);
            rest->data[n] = fmaxf(photo->data[n] + (float)less + (float)pipeline_thresholds.mirror_lift, 0);
        }
done:
    esra_image_free(&mask);
    return status;
}

/* ---- Candidates ---- */

static esra_status find_shared(struct motion_of_mirror *motion, const struct model *model, const struct image *rests,
                               struct context *context)
{
    motion->camera = &model->depth.camera;
    return esra_depth_reflected(&motion->depth, context, motion->camera, rests, &(struct depth_options){.bare = true});
}

static esra_status find_own(struct motion_of_mirror *motion, const struct model *model, const struct image *rests,
                            struct context *context)
{
    esra_status status;
    TRY(esra_camera_find(&motion->own, context, rests, model->photos, model->reference));
    bool found = motion->own.found && !esra_context_stopping(context);
    for (int i = 0; found && i < model->photos; i++)
        found = !model_takes_part(model, i) || motion->own.pose[i].tracks >= camera_thresholds.tracks_least;
    if (found) {
        motion->camera = &motion->own;
        TRY(esra_depth_transmitted(&motion->depth, context, motion->camera, rests,
                                   &(struct depth_options){.bare = true}));
    }
done:
    return status;
}

static esra_status find_homographies(struct motion_of_mirror *motion, const struct model *model,
                                     const struct image *rests, struct context *context)
{
    struct align_options options = {MOTION_HOMOGRAPHY, model->light != LIGHT_LINEAR};
    esra_status status = ESRA_OK;
    struct photo_motion *motions = esra_allocate((size_t)model->photos, sizeof *motions);
    if (!motions)
        return esra_fail_memory(context->message);
    TRY(esra_align(context, rests, model->photos, model->reference, &options, motions));
    bool found = true;
    for (int i = 0; i < model->photos; i++)
        found = found && (!model_takes_part(model, i) || motions[i].aligned);
    if (found) {
        motion->motions = motions;
        motions = NULL;
    }
done:
    esra_release(&motions);
    return status;
}

static esra_status find_candidate(struct motion_of_mirror *motion, enum mirror_kind kind, const struct model *model,
                                  const struct image *rests, struct context *context)
{
    *motion = (struct motion_of_mirror){0};
    switch (kind) {
    case MIRROR_SHARED: return find_shared(motion, model, rests, context);
    case MIRROR_OWN: return find_own(motion, model, rests, context);
    case MIRROR_HOMOGRAPHIES: return find_homographies(motion, model, rests, context);
    case MIRROR_OPEN: break;
    }
    return ESRA_OK;
}

static bool is_found(const struct motion_of_mirror *motion)
{
    return (motion->camera && motion->depth.inverse.data) || motion->motions;
}

/* ---- Maps ---- */

static void map_transform(const struct transform *transform, const struct image *map)
{
    for (int y = 0; y < map->height; y++)
        for (int x = 0; x < map->width; x++) {
            double u, v;
            bool before = transform_apply(transform, x, y, &u, &v);
            plane_row(image_plane(map, 0), y)[x] = before ? (float)u : -1e6f;
            plane_row(image_plane(map, 1), y)[x] = before ? (float)v : -1e6f;
        }
}

struct meeting {
    struct model *model;
    const struct motion_of_mirror *motion;
};

/* g_i: where R's frame has what photo i reflects at a pixel of the scene. Where the two maps do not meet, the photo's
 * mask becomes 0. A job of esra_context_side_by_side(). */
static esra_status meet(void *work, int i, struct context *context)
{
    struct model *model = ((struct meeting *)work)->model;
    const struct motion_of_mirror *motion = ((struct meeting *)work)->motion;
    struct model_depth *depth = &model->depth;
    struct image map = {0}, met = {0};
    esra_status status = ESRA_OK;
    if (esra_context_stopping(context))
        return ESRA_OK;
    TRY(esra_image_create(&map, model->width, model->height, 2, context->message));
    TRY(esra_image_create(&met, model->width, model->height, 1, context->message));
    if (!depth->mirror[i].data)
        TRY(esra_image_create(&depth->mirror[i], model->width, model->height, 2, context->message));
    if (motion->camera)
        esra_camera_map(context, motion->camera, i, &motion->depth.inverse, (struct canvas_offset){0, 0}, &map);
    else
        map_transform(&motion->motions[i].transmitted, &map);
    esra_map_meet(context, &depth->still[i], &(struct placed_map){&map, 0, 0}, &depth->mirror[i], image_plane(&met, 0));
    for (size_t n = 0; i != model->reference && n < image_pixels(&met); n++)
        model->masks[i].data[n] *= met.data[n];
    TRY(esra_deep_median_shift(&depth->mirror[i], &model->mirror[i], context->message));
done:
    esra_image_free(&map);
    esra_image_free(&met);
    return status;
}

static esra_status meet_all(struct model *model, const struct motion_of_mirror *motion, struct context *context)
{
    return esra_context_side_by_side(context, meet, &(struct meeting){model, motion}, model->photos);
}

/* ---- The best ---- */

/* Masks of the photos, kept while candidates change them. */
static void copy_masks(struct image *to, const struct image *from, int photos)
{
    for (int i = 0; i < photos; i++)
        memcpy(to[i].data, from[i].data, image_samples(&from[i]) * sizeof(float));
}

/* The joint objective with the motion in the model. */
static esra_status score_model(struct model *model, int side, double *score, struct context *context)
{
    struct deep_prior prior = {.voted = model->light != LIGHT_LINEAR};
    struct joint *joint = NULL;
    struct joint_info info = {.score = INFINITY};
    esra_status status = esra_deep_solve_joint(model, &joint, model_halvings(model, side), &prior, &info, context);
    esra_joint_free(&joint);
    *score = info.score;
    return status;
}

struct candidate {
    struct motion_of_mirror motion; /* empty: none was found, or others are better */
    double score;
};

static int count_found(const struct candidate *each)
{
    int count = 0;
    for (int k = 0; k < KINDS; k++)
        count += is_found(&each[k].motion);
    return count;
}

static int least_of(const struct candidate *each)
{
    int least = 0;
    for (int k = 1; k < KINDS; k++)
        if (is_found(&each[k].motion) && (!is_found(&each[least].motion) || each[k].score < each[least].score))
            least = k;
    return least;
}

static esra_status score_all(struct candidate *each, struct model *model, const struct image *masks, int side,
                             struct context *context)
{
    esra_status status = ESRA_OK;
    for (int k = 0; k < KINDS && !esra_context_stopping(context); k++) {
        each[k].score = INFINITY;
        if (!is_found(&each[k].motion))
            continue;
        copy_masks(model->masks, masks, model->photos);
        TRY(meet_all(model, &each[k].motion, context));
        if (!esra_context_stopping(context))
            TRY(score_model(model, side, &each[k].score, context));
    }
done:
    return status;
}

/* Small first: those that are clearly worse there are dropped. One that is alone needs no score. */
static esra_status rank(struct candidate *each, struct model *model, const struct image *masks, struct context *context)
{
    esra_status status = ESRA_OK;
    for (int side = RANK_SIDE / 2; side <= RANK_SIDE && count_found(each) > 1; side *= 2) {
        TRY(score_all(each, model, masks, side, context));
        double most = pipeline_thresholds.rough_score_most * each[least_of(each)].score;
        for (int k = 0; k < KINDS; k++)
            if (!(each[k].score <= most))
                free_motion(&each[k].motion);
    }
done:
    return status;
}

/* *best: the motion of the kind chosen; empty where none was found. */
static esra_status choose(struct model *model, const struct image *rests, struct motion_of_mirror *best,
                          struct context *context)
{
    static const enum mirror_kind kinds[KINDS] = {MIRROR_SHARED, MIRROR_OWN, MIRROR_HOMOGRAPHIES};
    struct candidate each[KINDS] = {0};
    struct image *masks = NULL;
    esra_status status;
    TRY(esra_images_create(&masks, model->photos, model->width, model->height, 1, context->message));
    copy_masks(masks, model->masks, model->photos);
    for (int k = 0; k < KINDS && !esra_context_stopping(context); k++)
        TRY(find_candidate(&each[k].motion, kinds[k], model, rests, context));
    TRY(rank(each, model, masks, context));
    copy_masks(model->masks, masks, model->photos);
    int least = least_of(each);
    model->depth.mirror_kind = kinds[least];
    move_motion(best, &each[least].motion);
done:
    for (int k = 0; k < KINDS; k++)
        free_motion(&each[k].motion);
    esra_images_free(&masks, model->photos);
    return status;
}

/* Takes the motion of the kind that the model has, looked for where it is not there yet. */
static esra_status take(struct model *model, const struct image *rests, struct motion_of_mirror *motion,
                        struct context *context)
{
    esra_status status = ESRA_OK;
    if (!is_found(motion))
        TRY(find_candidate(motion, model->depth.mirror_kind, model, rests, context));
    if (!is_found(motion) && model->depth.mirror_kind != MIRROR_SHARED) {
        free_motion(motion);
        model->depth.mirror_kind = MIRROR_SHARED;
        TRY(find_candidate(motion, MIRROR_SHARED, model, rests, context));
    }
    TRY(meet_all(model, motion, context));
    model->two_motions = !esra_context_stopping(context);
done:
    return status;
}

/* R is the other of two surfaces. */
static esra_status take_surface(struct model *model, struct context *context)
{
    struct motion_of_mirror borrowed = {.camera = &model->depth.camera, .depth = model->depth.mirrored};
    esra_status status = meet_all(model, &borrowed, context);
    model->two_motions = !esra_context_stopping(context);
    return status;
}

esra_status esra_deep_find_mirror(struct model *model, const struct series *series, struct context *context)
{
    if (model->depth.mirrored.inverse.data)
        return take_surface(model, context);
    struct image *rests = esra_allocate((size_t)model->photos, sizeof *rests);
    struct motion_of_mirror best = {0};
    esra_status status = ESRA_OK;
    if (!rests)
        return esra_fail_memory(context->message);
    TRY(esra_context_side_by_side(context, find_rest, &(struct leaving){model, series, rests}, model->photos));
    if (model->depth.mirror_kind == MIRROR_OPEN)
        TRY(choose(model, rests, &best, context));
    if (!esra_context_stopping(context))
        TRY(take(model, rests, &best, context));
done:
    free_motion(&best);
    esra_images_free(&rests, model->photos);
    return status;
}
