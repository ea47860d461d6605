/* align/hypotheses.c - the motions that a layer may have between two photos, by matches of features (RANSAC), by phase
 * correlation, and the identity: no single method finds the transmitted layer in every scene, but one of these does,
 * and each is only a start for refinement. */
#include "align/hypotheses.h"

#include <math.h>

#include "align/consensus.h"
#include "align/correlate.h"
#include "align/refine.h"
#include "align/thresholds.h"
#include "ops/thresholds.h"

#define CONSENSUS_MOST   3
#define PEAKS_MOST       3
#define ITERATIONS       12
#define ITERATIONS_ROUGH 18

struct search {
    struct context *context;
    const struct view *reference, *photo;
    struct explainer *explainer;
    enum motion motion;
    int level;
};

static int width_of(const struct view *view)
{
    return view->pyramid.level[0].width;
}

static int height_of(const struct view *view)
{
    return view->pyramid.level[0].height;
}

/* Farther than same_px of the work level from those found. */
static bool is_new(const struct hypotheses *hypotheses, const struct transform *t, const struct search *s,
                   double same_px)
{
    for (int n = 0; n < hypotheses->count; n++)
        if (esra_transform_distance(&hypotheses->each[n].transform, t, width_of(s->reference),
                                    height_of(s->reference)) < ldexp(same_px, s->level))
            return false;
    return true;
}

static struct explained explain(const struct search *s, const struct hypothesis *h, struct plane map)
{
    struct transform scaled = esra_transform_rescale(&h->transform, ldexp(1, -s->level));
    return esra_explain(s->explainer, s->context, &s->photo->fields.level[s->level], &scaled, h->gain, map);
}

/* Refines h; an exact start on the pixels that it explains already, a rough one on all. */
static esra_status refine(const struct search *s, struct hypothesis *h, bool rough, struct plane map)
{
    struct refine_options options = {.motion = s->motion,
                                     .coarsest = s->level + (rough ? 2 : 0),
                                     .finest = s->level,
                                     .iterations = rough ? ITERATIONS_ROUGH : ITERATIONS,
                                     .rough = rough,
                                     .weights = rough ? NULL : &map};
    struct refined refined;
    if (!rough) {
        explain(s, h, map);
        esra_explain_weights(s->explainer, map, 0, map);
    }
    esra_status status =
        esra_refine(s->context, &s->reference->fields, &s->photo->fields, &options, &h->transform, &refined);
    h->gain = refined.gain;
    return status;
}

/* Refines a start and keeps it where it is plausible and new. */
static esra_status consider(struct hypotheses *hypotheses, const struct search *s, struct transform start, bool rough)
{
    int width = width_of(s->reference), height = height_of(s->reference);
    struct plane map = image_plane(&hypotheses->maps, hypotheses->count);
    struct hypothesis h = {.transform = start, .gain = 1};
    if (hypotheses->count == HYPOTHESES_MOST ||
        !is_new(hypotheses, &start, s, rough ? align_thresholds.near_px : align_thresholds.same_px))
        return ESRA_OK;
    esra_status status = refine(s, &h, rough, map);
    if (status != ESRA_OK)
        return status;
    if (esra_transform_plausible(&h.transform, width, height, ops_thresholds.reach * width) &&
        is_new(hypotheses, &h.transform, s, align_thresholds.same_px)) {
        h.explained = explain(s, &h, map);
        hypotheses->each[hypotheses->count++] = h;
    }
    return ESRA_OK;
}

static esra_status consider_matches(struct hypotheses *hypotheses, const struct search *s)
{
    int width = width_of(s->reference), height = height_of(s->reference);
    struct matches matches;
    struct transform found[CONSENSUS_MOST];
    esra_status status;
    double reach = ops_thresholds.reach * width;
    TRY(esra_features_match(&matches, s->context, &s->reference->features, &s->photo->features, reach));
    struct consensus_options options = {s->motion, width, height, reach, CONSENSUS_MOST};
    int count = esra_consensus(&matches, &options, found);
    for (int n = 0; n < count && !esra_context_stopping(s->context); n++)
        TRY(consider(hypotheses, s, found[n], false));
done:
    esra_matches_free(&matches);
    return status;
}

static esra_status consider_peaks(struct hypotheses *hypotheses, const struct search *s)
{
    const struct field *reference = &s->reference->fields.level[s->level];
    struct peak peaks[PEAKS_MOST];
    int count;
    esra_status status;
    struct correlate_options options = {true, ops_thresholds.reach * reference->width, PEAKS_MOST};
    TRY(esra_correlate(s->context, reference, &s->photo->fields.level[s->level], &options, peaks, &count));
    for (int n = 0; n < count && !esra_context_stopping(s->context); n++)
        TRY(consider(hypotheses, s,
                     esra_transform_shift(ldexp(peaks[n].right, s->level), ldexp(peaks[n].down, s->level)), true));
done:
    return status;
}

esra_status esra_hypotheses_find(struct hypotheses *hypotheses, struct context *context, const struct view *reference,
                                 const struct view *photo, struct explainer *explainer, enum motion motion)
{
    struct search s = {context, reference, photo, explainer, motion, reference->work_level};
    esra_status status;
    *hypotheses = (struct hypotheses){.count = 0};
    TRY(esra_image_create(&hypotheses->maps, explainer->reference->width, explainer->reference->height,
                          HYPOTHESES_MOST + 1, context->message));
    TRY(consider_matches(hypotheses, &s));
    TRY(consider(hypotheses, &s, TRANSFORM_IDENTITY, true));
    TRY(consider_peaks(hypotheses, &s));
    return ESRA_OK;
done:
    esra_hypotheses_free(hypotheses);
    return status;
}

void esra_hypotheses_free(struct hypotheses *hypotheses)
{
    esra_image_free(&hypotheses->maps);
    hypotheses->count = 0;
}
