/* pipeline/motion.c - how both layers move, and how bright the transmitted one is in each photo. */
#include <math.h>

#include "align/reflection.h"
#include "base/memory.h"
#include "gradients/mixing.h"
#include "pipeline/pipeline.h"

/* Candidates for the reflection's motion are ranked by the joint objective at a quarter of the size, where a solve takes
 * a sixteenth of the time and the right motion still stands out. */
#define RANK_LEVEL 2

static enum motion motion_model(esra_motion motion)
{
    return motion == ESRA_MOTION_TRANSLATION ? MOTION_TRANSLATION
           : motion == ESRA_MOTION_AFFINE    ? MOTION_AFFINE
                                             : MOTION_HOMOGRAPHY;
}

static struct transform transform_of(const esra_transform *given)
{
    struct transform t;
    for (int n = 0; n < 9; n++)
        t.h[n] = given->h[n] / given->h[8];
    return t;
}

static void take_given(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        p->motions[i] = (struct photo_motion){.transmitted = transform_of(&p->input->transmitted[i]),
                                              .reflected = TRANSFORM_IDENTITY,
                                              .aligned = true,
                                              .explained = 1,
                                              .overlap = 1,
                                              .gain = 1};
        if (!p->input->reflected)
            continue;
        p->motions[i].reflected = transform_of(&p->input->reflected[i]);
        p->motions[i].second = i != p->reference;
        p->motions[i].apart_px =
            esra_transform_distance(&p->motions[i].transmitted, &p->motions[i].reflected, p->width, p->height);
    }
}

/* Where a second motion was found, it becomes the scene's, and the first the reflection's. */
static void swap_layers(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        struct photo_motion *m = &p->motions[i];
        if (!m->second)
            continue;
        struct transform t = m->transmitted;
        double share = m->explained;
        m->transmitted = m->reflected;
        m->explained = m->explained_second;
        m->reflected = t;
        m->explained_second = share;
    }
}

esra_status esra_pipeline_align(struct pipeline *p)
{
    struct align_options options = {motion_model(p->input->motion), p->input->stored_values};
    esra_status status = ESRA_OK;
    if (p->input->transmitted)
        take_given(p);
    else
        TRY(esra_align(p->pool, p->seen, p->photos, p->reference, &options, p->motions, p->message));
    if (p->input->swap)
        swap_layers(p);
    for (int i = 0; i < p->photos; i++)
        p->still[i] = p->motions[i].transmitted;
fail:
    return status;
}

esra_status esra_pipeline_measure(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    struct mixing *mixing = esra_allocate((size_t)p->photos, sizeof *mixing);
    if (!mixing)
        return esra_fail_memory(p->message);
    TRY(esra_mixing_estimate(p->pool, p->aligned, p->masks, p->photos, p->reference, mixing, p->message));
    for (int i = 0; i < p->photos; i++) {
        p->mixing[i] = p->input->mixing ? p->input->mixing[i] / p->input->mixing[p->reference] : mixing[i].coefficient;
        p->reflection_gain[i] = p->mixing[i];
    }
fail:
    esra_release(&mixing);
    return status;
}

/* ---- The reflection ---- */

/* The joint score of the reference and photo i alone, with R moving by `candidate`. */
static esra_status score_candidate(struct pipeline *p, struct joint *pair, int i, const struct transform *candidate,
                                   double *score)
{
    struct transform motion[2] = {TRANSFORM_IDENTITY, TRANSFORM_IDENTITY};
    double mixing[2] = {1, p->mixing[i]}, numbers[18];
    struct joint_settings settings;
    struct joint_info info;
    if (!esra_transform_invert(candidate, &motion[1]))
        return ESRA_OK;
    for (int n = 0; n < 18; n++)
        numbers[n] = motion[n / 9].h[n % 9];
    struct joint_model model = {mixing, mixing, numbers};
    esra_joint_settings_default(&settings);
    esra_status status = esra_joint_solve(pair, &model, &settings, RANK_LEVEL, &info, p->message);
    if (status == ESRA_OK)
        *score = info.score;
    return status;
}

static esra_status choose_candidate(struct pipeline *p, int i, const struct reflection_candidates *candidates)
{
    struct image photos[2] = {p->aligned[p->reference], p->aligned[i]}, masks[2] = {p->masks[p->reference], p->masks[i]};
    struct joint_photos both = {2, photos, masks};
    struct joint *pair = NULL;
    double least = INFINITY;
    esra_status status;
    TRY(esra_joint_create(&pair, &both, JOINT_MAX_LEVELS, p->pool, p->message));
    for (int n = 0; n < candidates->count; n++) {
        double score = INFINITY;
        TRY(score_candidate(p, pair, i, &candidates->each[n].transform, &score));
        if (score < least && esra_transform_invert(&candidates->each[n].transform, &p->mirror[i]))
            least = score;
    }
fail:
    esra_joint_free(&pair);
    return status;
}

/* With transforms given for both layers there is nothing to find: R at x of the reference shows at reflected(x) of the
 * photo, and so at still^-1(reflected(x)) of the aligned one. */
static esra_status take_given_reflection(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        struct transform back, there;
        if (!esra_transform_invert(&p->motions[i].reflected, &back))
            return esra_fail(p->message, ESRA_BAD_DATA, "the transform of the reflection in photo %d cannot be undone", i + 1);
        there = esra_transform_compose(&back, &p->still[i]);
        p->mirror[i] = there;
    }
    p->reflection_found = true;
    return ESRA_OK;
}

esra_status esra_pipeline_find_reflection(struct pipeline *p)
{
    struct reflection_candidates *candidates;
    struct reflection_problem problem = {p->aligned, p->masks, p->mixing, p->photos, p->reference, p->motions,
                                         motion_model(p->input->motion)};
    esra_status status;
    if (p->input->reflected && p->input->transmitted)
        return take_given_reflection(p);
    candidates = esra_allocate((size_t)p->photos, sizeof *candidates);
    if (!candidates)
        return esra_fail_memory(p->message);
    TRY(esra_reflection_find(p->pool, &problem, candidates, p->message));
    int found = 0, wanted = 0;
    for (int i = 0; i < p->photos; i++) {
        if (i == p->reference || !p->motions[i].aligned)
            continue;
        wanted++;
        if (candidates[i].count == 0)
            continue;
        found++;
        if (esra_pipeline_stop(p, "align"))
            break;
        TRY(choose_candidate(p, i, &candidates[i]));
    }
    p->reflection_found = found > 0 && found == wanted;
fail:
    esra_release(&candidates);
    return status;
}
