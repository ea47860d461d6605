/* pipeline/mirror_motion.c - R's motion in the photos less T: as a scene before T's camera, as one before a camera of
 * its own, or by homographies. */
#include "pipeline/mirror_motion.h"

#include <math.h>

#include "align/align.h"
#include "align/consensus.h"
#include "base/maths.h"
#include "base/memory.h"
#include "camera/model.h"
#include "camera/thresholds.h"
#include "ops/thresholds.h"
#include "pipeline/thresholds.h"

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

static esra_status find_shared(struct mirror_motion *motion, const struct model *model, const struct rests *rests,
                               struct context *context)
{
    motion->camera = &model->depth.camera;
    return esra_depth_reflected(&motion->depth, context, motion->camera, rests->images,
                                &(struct depth_options){.bare = true});
}

static esra_status find_own(struct mirror_motion *motion, const struct model *model, const struct rests *rests,
                            struct context *context)
{
    bool enough = false;
    esra_status status;
    TRY(esra_camera_of_tracks(&motion->own, context, rests->images, &rests->tracks));
    if (motion->own.found && !esra_context_stopping(context))
        TRY(note_lost(motion, model, &enough, context->message));
    if (enough) {
        motion->camera = &motion->own;
        TRY(esra_depth_transmitted(&motion->depth, context, motion->camera, rests->images,
                                   &(struct depth_options){.bare = true}));
    }
done:
    return status;
}

/* Sightings of the photo that the homography puts near where they are. */
static int count_explained(const struct transform *motion, const struct tracks *sightings, int photo)
{
    int longer = sightings->width > sightings->height ? sightings->width : sightings->height, explained = 0;
    for (int n = 0; n < sightings->count; n++) {
        const struct sighting *from = track_at(sightings, n, sightings->reference), *to = track_at(sightings, n, photo);
        double x, y;
        explained += to->seen && transform_apply(motion, from->x, from->y, &x, &y) &&
                     esra_hypot(x - to->x, y - to->y) < pipeline_thresholds.sighting_near * longer;
    }
    return explained;
}

/* The homography that most tracks agree on, unless the one found by alignment, which is exact to parts of a pixel,
 * explains nearly as many blocks. */
static void check_homography(struct photo_motion *found, const struct rests *rests, int photo, struct matches *matches)
{
    const struct tracks *tracks = &rests->tracks;
    int longer = tracks->width > tracks->height ? tracks->width : tracks->height;
    struct consensus_options options = {.motion = MOTION_HOMOGRAPHY,
                                        .width = tracks->width,
                                        .height = tracks->height,
                                        .limit_px = ops_thresholds.reach * longer,
                                        .most = 1};
    struct transform agreed;
    matches->count = 0;
    for (int n = 0; n < tracks->count; n++) {
        const struct sighting *from = track_at(tracks, n, tracks->reference), *to = track_at(tracks, n, photo);
        if (to->seen)
            matches->data[matches->count++] =
                (struct match){.x = from->x, .y = from->y, .u = to->x, .v = to->y, .spread = 1, .from = n};
    }
    if (photo == tracks->reference || esra_consensus(matches, &options, &agreed) == 0)
        return;
    int by_alignment = found->aligned ? count_explained(&found->transmitted, &rests->blocks, photo) : 0;
    if (by_alignment < pipeline_thresholds.sightings_aligned * count_explained(&agreed, &rests->blocks, photo)) {
        found->transmitted = agreed;
        found->aligned = true;
    }
}

static esra_status check_homographies(struct mirror_motion *motion, const struct rests *rests, struct context *context)
{
    struct matches matches = {esra_allocate((size_t)rests->tracks.count + 1, sizeof *matches.data), 0};
    if (!matches.data)
        return esra_fail_memory(context->message);
    for (int i = 0; i < rests->photos && !esra_context_stopping(context); i++)
        check_homography(&motion->motions[i], rests, i, &matches);
    esra_matches_free(&matches);
    return ESRA_OK;
}

static esra_status find_homographies(struct mirror_motion *motion, const struct model *model, const struct rests *rests,
                                     struct context *context)
{
    struct align_options options = {MOTION_HOMOGRAPHY, model->light != LIGHT_LINEAR};
    bool enough = false;
    esra_status status;
    motion->motions = esra_allocate((size_t)model->photos, sizeof *motion->motions);
    TRY(motion->motions ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_align(context, rests->images, rests->photos, model->reference, &options, motion->motions));
    TRY(check_homographies(motion, rests, context));
    TRY(note_lost(motion, model, &enough, context->message));
done:
    if (!enough)
        esra_release(&motion->motions);
    return status;
}

static bool place(const struct mirror_motion *motion, int photo, const struct sighting *from, double *x, double *y)
{
    if (!motion->camera)
        return transform_apply(&motion->motions[photo].transmitted, from->x, from->y, x, y);
    struct plane inverse = image_plane(&motion->depth.inverse, 0);
    int column = (int)(from->x + .5), row = (int)(from->y + .5);
    column = column < inverse.width ? column : inverse.width - 1;
    row = row < inverse.height ? row : inverse.height - 1;
    return model_project(motion->camera, photo, from->x, from->y, plane_row(inverse, row)[column], x, y);
}

double esra_mirror_motion_explains(const struct mirror_motion *motion, const struct tracks *sightings, double limit_px)
{
    int explained = 0, all = 0;
    for (int n = 0; mirror_motion_found(motion) && n < sightings->count; n++)
        for (int i = 0; i < sightings->photos; i++) {
            const struct sighting *at = track_at(sightings, n, i);
            double x, y;
            if (i == sightings->reference || !at->seen)
                continue;
            all++;
            explained += place(motion, i, track_at(sightings, n, sightings->reference), &x, &y) &&
                         esra_hypot(x - at->x, y - at->y) < limit_px;
        }
    return all ? (double)explained / all : 0;
}

esra_status esra_mirror_motion_find(struct mirror_motion *motion, enum mirror_kind kind, const struct model *model,
                                    const struct rests *rests, struct context *context)
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
