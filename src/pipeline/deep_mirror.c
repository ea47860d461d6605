/* pipeline/deep_mirror.c - how the reflection moves where T moves by depth: candidates, ranked by the joint objective.
 *
 * In a flat glass the mirrored room is a rigid scene before the camera that sees T. Curved or tilted panes, and errors
 * of T's camera, leave that: then R has a camera of its own, or, where it is far or weak, a homography a photo. */
#include "pipeline/deep_mirror.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ops/map.h"
#include "pipeline/deep.h"
#include "pipeline/deep_layers.h"
#include "pipeline/mirror_motion.h"
#include "pipeline/thresholds.h"

/* Candidates are ranked at a size whose sides are no longer, after one of half of it. */
#define RANK_SIDE 400

/* How often R's motion is looked for at the most, as long as it lacks photos. */
#define LOOKS 4

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
    const struct mirror_motion *motion;
};

/* g_i: where R's frame has what photo i reflects at a pixel of the scene. Where the two maps do not meet, the photo's
 * mask becomes 0. A job of esra_context_side_by_side(). */
static esra_status meet(void *work, int i, struct context *context)
{
    struct model *model = ((struct meeting *)work)->model;
    const struct mirror_motion *motion = ((struct meeting *)work)->motion;
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

/* Photos of which the motion says nothing have no part in the layers. */
static void hide_lost(struct model *model, const struct mirror_motion *motion)
{
    for (int i = 0; motion->lost && i < model->photos; i++)
        if (motion->lost[i])
            memset(model->masks[i].data, 0, image_samples(&model->masks[i]) * sizeof(float));
}

static esra_status meet_all(struct model *model, const struct mirror_motion *motion, struct context *context)
{
    esra_status status = esra_context_side_by_side(context, meet, &(struct meeting){model, motion}, model->photos);
    hide_lost(model, motion);
    return status;
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
    struct mirror_motion motion; /* empty: none was found, or others are better */
    double score;
};

enum { SHARED, OWN, HOMOGRAPHIES, KINDS };
static const enum mirror_kind kinds[KINDS] = {MIRROR_SHARED, MIRROR_OWN, MIRROR_HOMOGRAPHIES};

/* What a look is for. */
struct look {
    enum mirror_kind kind; /* OPEN: any */
    bool whole;            /* a motion that lacks photos is none */
};

static int count_found(const struct candidate *each)
{
    int count = 0;
    for (int k = 0; k < KINDS; k++)
        count += mirror_motion_found(&each[k].motion);
    return count;
}

static int least_of(const struct candidate *each)
{
    int least = 0;
    for (int k = 1; k < KINDS; k++)
        if (mirror_motion_found(&each[k].motion) &&
            (!mirror_motion_found(&each[least].motion) || each[k].score < each[least].score))
            least = k;
    return least;
}

/* All are scored on the photos that none of them lacks. */
static esra_status score_all(struct candidate *each, struct model *model, const struct image *masks, int side,
                             struct context *context)
{
    esra_status status = ESRA_OK;
    for (int k = 0; k < KINDS && !esra_context_stopping(context); k++) {
        each[k].score = INFINITY;
        if (!mirror_motion_found(&each[k].motion))
            continue;
        copy_masks(model->masks, masks, model->photos);
        TRY(meet_all(model, &each[k].motion, context));
        for (int j = 0; j < KINDS; j++)
            hide_lost(model, &each[j].motion);
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
                esra_mirror_motion_free(&each[k].motion);
    }
done:
    return status;
}

/* A scene before T's camera has some depth or other even where there is no such scene. So a motion of another kind that
 * is not clearly worse is followed first, though some photos lack it yet. */
static int follow_first(const struct candidate *each)
{
    int least = least_of(each), first = least;
    for (int k = 0; k < KINDS && least == SHARED; k++)
        if (mirror_motion_found(&each[k].motion) && each[k].motion.lost &&
            (first == SHARED || each[k].score < each[first].score))
            first = k;
    return first;
}

static esra_status find_candidates(struct candidate *each, struct model *model, const struct rests *rests,
                                   const struct look *look, struct context *context)
{
    esra_status status = ESRA_OK;
    for (int k = 0; k < KINDS && !esra_context_stopping(context); k++) {
        if (look->kind != MIRROR_OPEN && look->kind != kinds[k])
            continue;
        TRY(esra_mirror_motion_find(&each[k].motion, kinds[k], model, rests, context));
        if (look->whole && each[k].motion.lost) {
            model->depth.in_part = true;
            esra_mirror_motion_free(&each[k].motion);
        }
    }
done:
    return status;
}

static int count_sightings(const struct tracks *tracks)
{
    int count = 0;
    for (int n = 0; n < tracks->count; n++)
        count += track_length(tracks, n);
    return count;
}

/* A scene before T's camera has some depth or other even where there is no such scene, and explains the photos a
 * little. What moves in them it does not explain. */
static void drop_unlike(struct candidate *each, const struct model *model, const struct tracks *sightings)
{
    const struct pipeline_thresholds *t = &pipeline_thresholds;
    int longer = model->width > model->height ? model->width : model->height;
    double share[KINDS], most = 0;
    if (count_sightings(sightings) < (int)t->sightings_least)
        return;
    for (int k = 0; k < KINDS; k++) {
        share[k] = esra_mirror_motion_explains(&each[k].motion, sightings, t->sighting_near * longer);
        most = fmax(most, share[k]);
    }
    for (int k = 0; k < KINDS; k++)
        if (share[k] < t->sightings_share * most)
            esra_mirror_motion_free(&each[k].motion);
}

/* *best: the motion of the kind chosen; empty where none was found. */
static esra_status choose(struct model *model, const struct rests *rests, const struct look *look,
                          struct mirror_motion *best, struct context *context)
{
    struct candidate each[KINDS] = {0};
    struct image *masks = NULL;
    esra_status status;
    TRY(esra_images_create(&masks, model->photos, model->width, model->height, 1, context->message));
    copy_masks(masks, model->masks, model->photos);
    TRY(find_candidates(each, model, rests, look, context));
    drop_unlike(each, model, &rests->blocks);
    TRY(rank(each, model, masks, context));
    copy_masks(model->masks, masks, model->photos);
    int first = follow_first(each);
    model->depth.mirror_kind = kinds[first];
    esra_mirror_motion_move(best, &each[first].motion);
done:
    for (int k = 0; k < KINDS; k++)
        esra_mirror_motion_free(&each[k].motion);
    esra_images_free(&masks, model->photos);
    return status;
}

/* Takes the motion; where none was found, a scene before T's camera is looked for. */
static esra_status take(struct model *model, const struct rests *rests, struct mirror_motion *motion,
                        struct context *context)
{
    esra_status status = ESRA_OK;
    if (!mirror_motion_found(motion)) {
        model->depth.mirror_kind = MIRROR_SHARED;
        TRY(esra_mirror_motion_find(motion, MIRROR_SHARED, model, rests, context));
    }
    TRY(meet_all(model, motion, context));
    model->two_motions = !esra_context_stopping(context);
done:
    return status;
}

/* R is the other of two surfaces. */
static esra_status take_surface(struct model *model, struct context *context)
{
    struct mirror_motion borrowed = {.camera = &model->depth.camera, .depth = model->depth.mirrored};
    esra_status status = meet_all(model, &borrowed, context);
    model->two_motions = !esra_context_stopping(context);
    return status;
}

/* ---- Looks ---- */

/* Photos less T, and R's motion in them. */
static esra_status look_for(struct model *model, const struct series *series, const struct look *look,
                            struct rests *rests, struct mirror_motion *best, struct context *context)
{
    esra_status status = ESRA_OK;
    esra_mirror_motion_free(best);
    esra_rests_free(rests);
    TRY(esra_rests_find(rests, model, series, context));
    if (look->kind != MIRROR_SHARED && !esra_context_stopping(context))
        TRY(esra_rests_track(rests, model, context));
    TRY(choose(model, rests, look, best, context));
done:
    return status;
}

/* `voted` <- T by the photos in which R's motion is known: it leaves less of the scene in all of them than votes do,
 * and R can be followed where it was lost. */
static esra_status improve_scene(struct model *model, const struct mirror_motion *motion, struct context *context)
{
    struct deep_prior prior = {.voted = model->light != LIGHT_LINEAR};
    struct joint *joint = NULL;
    struct joint_info info;
    struct image *masks = NULL;
    esra_status status;
    TRY(esra_images_create(&masks, model->photos, model->width, model->height, 1, context->message));
    copy_masks(masks, model->masks, model->photos);
    TRY(meet_all(model, motion, context));
    if (!esra_context_stopping(context))
        TRY(esra_deep_solve_joint(model, &joint, 0, &prior, &info, context));
    if (!esra_context_stopping(context)) {
        esra_image_free(&model->depth.voted);
        TRY(esra_joint_transmitted(joint, &model->depth.voted));
    }
    copy_masks(model->masks, masks, model->photos);
done:
    esra_joint_free(&joint);
    esra_images_free(&masks, model->photos);
    return status;
}

esra_status esra_deep_find_mirror(struct model *model, const struct series *series, bool follow,
                                  struct context *context)
{
    if (model->depth.mirrored.inverse.data)
        return take_surface(model, context);
    struct rests rests = {0};
    struct look look = {.kind = model->depth.mirror_kind, .whole = !follow};
    struct mirror_motion best = {0};
    esra_status status = ESRA_OK;
    TRY(look_for(model, series, &look, &rests, &best, context));
    for (int n = 2; n <= LOOKS && best.lost && !esra_context_stopping(context); n++) {
        TRY(improve_scene(model, &best, context));
        look.whole = n == LOOKS;
        TRY(look_for(model, series, &look, &rests, &best, context));
    }
    if (!esra_context_stopping(context))
        TRY(take(model, &rests, &best, context));
done:
    esra_mirror_motion_free(&best);
    esra_rests_free(&rests);
    return status;
}
