/* pipeline/mirror_motion.c - R's motion in the photos less T: as a scene before T's camera, as one before a camera of
 * its own, or by homographies. */
#include "pipeline/mirror_motion.h"

#include "align/align.h"
#include "base/memory.h"
#include "camera/thresholds.h"

/* Least number of photos besides the reference for which R's motion must be known: layers come of no fewer. */
#define KNOWN_LEAST 2

void esra_mirror_motion_free(struct mirror_motion *motion)
{
    esra_camera_free(&motion->own);
    esra_depth_free(&motion->depth);
    esra_release(&motion->motions);
    esra_release(&motion->lost);
    *motion = (struct mirror_motion){0};
}

void esra_mirror_motion_move(struct mirror_motion *to, struct mirror_motion *from)
{
    esra_mirror_motion_free(to);
    *to = *from;
    if (from->camera == &from->own)
        to->camera = &to->own;
    *from = (struct mirror_motion){0};
}

static bool is_known(const struct mirror_motion *motion, int i)
{
    return motion->motions ? motion->motions[i].aligned : motion->own.pose[i].tracks >= camera_thresholds.tracks_least;
}

/* Notes the photos that the motion lacks; *enough: the others are enough. */
static esra_status note_lost(struct mirror_motion *motion, const struct model *model, bool *enough,
                             struct message *message)
{
    int known = 0, lost = 0;
    motion->lost = esra_allocate((size_t)model->photos, sizeof *motion->lost);
    if (!motion->lost)
        return esra_fail_memory(message);
    for (int i = 0; i < model->photos; i++) {
        bool asked = model_takes_part(model, i);
        motion->lost[i] = asked && !is_known(motion, i);
        known += asked && !motion->lost[i];
        lost += motion->lost[i];
    }
    if (lost == 0)
        esra_release(&motion->lost);
    *enough = lost == 0 || known >= KNOWN_LEAST;
    return ESRA_OK;
}

static esra_status find_shared(struct mirror_motion *motion, const struct model *model, const struct image *rests,
                               struct context *context)
{
    motion->camera = &model->depth.camera;
    return esra_depth_reflected(&motion->depth, context, motion->camera, rests, &(struct depth_options){.bare = true});
}

static esra_status find_own(struct mirror_motion *motion, const struct model *model, const struct image *rests,
                            struct context *context)
{
    bool enough = false;
    esra_status status;
    TRY(esra_camera_find(&motion->own, context, rests, model->photos, model->reference));
    if (motion->own.found && !esra_context_stopping(context))
        TRY(note_lost(motion, model, &enough, context->message));
    if (enough) {
        motion->camera = &motion->own;
        TRY(esra_depth_transmitted(&motion->depth, context, motion->camera, rests,
                                   &(struct depth_options){.bare = true}));
    }
done:
    return status;
}

static esra_status find_homographies(struct mirror_motion *motion, const struct model *model, const struct image *rests,
                                     struct context *context)
{
    struct align_options options = {MOTION_HOMOGRAPHY, model->light != LIGHT_LINEAR};
    bool enough = false;
    esra_status status = ESRA_OK;
    motion->motions = esra_allocate((size_t)model->photos, sizeof *motion->motions);
    TRY(motion->motions ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_align(context, rests, model->photos, model->reference, &options, motion->motions));
    TRY(note_lost(motion, model, &enough, context->message));
done:
    if (!enough)
        esra_release(&motion->motions);
    return status;
}

esra_status esra_mirror_motion_find(struct mirror_motion *motion, enum mirror_kind kind, const struct model *model,
                                    const struct image *rests, struct context *context)
{
    esra_status status = ESRA_OK;
    esra_mirror_motion_free(motion);
    switch (kind) {
    case MIRROR_SHARED: status = find_shared(motion, model, rests, context); break;
    case MIRROR_OWN: status = find_own(motion, model, rests, context); break;
    case MIRROR_HOMOGRAPHIES: status = find_homographies(motion, model, rests, context); break;
    case MIRROR_OPEN: break;
    }
    if (!mirror_motion_found(motion))
        esra_mirror_motion_free(motion);
    return status;
}
