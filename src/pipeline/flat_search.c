/* pipeline/flat_search.c - R's motion by homographies: every photo has a few candidates (align/reflection.h); the joint
 * objective of all photos, solved small, ranks combinations of them. */
#include <math.h>
#include <string.h>

#include "align/reflection.h"
#include "base/memory.h"
#include "pipeline/flat.h"
#include "pipeline/thresholds.h"

/* Candidates are ranked at about this many pixels, a quarter of the size of 640 x 480: a solve takes a sixteenth of the
 * time, and the right motion still stands out. */
#define RANK_PIXELS 4e4

/* A motion of the reflection in every photo: R's frame -> aligned photo. */
struct motions {
    struct transform *each; /* [photos]; the reference's is the identity */
    double score;
};

/* The search: all photos at a fraction of their size, the best motions so far and those being tried. */
struct search {
    const struct model *model;
    struct run *run;
    struct joint *joint;
    struct motions best, trial;
    struct transform *inverse; /* [photos]: of those being tried, as the joint solve takes them */
    int level;                 /* of the joint solve */
};

/* How far a motion carries the middle of the frame. */
static void shift_of(const struct model *model, const struct transform *motion, double *right, double *down)
{
    double x = 0.5 * (model->width - 1), y = 0.5 * (model->height - 1), u = x, v = y;
    transform_apply(motion, x, y, &u, &v);
    *right = u - x;
    *down = v - y;
}

/* The share of the samples that exceeds the unknowns: m photos have m frames of samples for one T, one R, and the part
 * of R that each further photo sees past the others' frames. At least a tenth: below that, smoothness decides. 0 for
 * motions that no handheld camera makes. */
static double freedom(const struct model *model, const struct motions *motions)
{
    double photos = 1, more = 0;
    for (int i = 0; i < model->photos; i++) {
        double right, down;
        if (!model_takes_part(model, i))
            continue;
        shift_of(model, &motions->each[i], &right, &down);
        if (!(hypot(right, down) <= pipeline_thresholds.layers_apart_most * model->width))
            return 0;
        photos++;
        more += 1 - (1 - fabs(right) / model->width) * (1 - fabs(down) / model->height);
    }
    return fmax((photos - 2 - more) / photos, pipeline_thresholds.freedom_least);
}

/* Generalised cross-validation (Golub, Heath & Wahba 1979): the misfit over the square of the degrees of freedom left.
 * Without it motions win whose frames hardly overlap, since R may then be whatever each photo holds beside T. */
static esra_status try_motions(struct search *search)
{
    const struct model *model = search->model;
    struct joint_settings settings;
    struct joint_info info;
    double free_share = freedom(model, &search->trial);
    if (free_share == 0)
        return ESRA_OK;
    for (int i = 0; i < model->photos; i++) {
        search->inverse[i] = TRANSFORM_IDENTITY;
        esra_transform_invert(&search->trial.each[i], &search->inverse[i]);
    }
    struct joint_model tried = {
        .mixing = model->mixing, .reflection_gain = model->mixing, .motion = (const double *)search->inverse};
    esra_joint_settings_default(&settings);
    esra_status status = esra_joint_solve(search->joint, &tried, &settings, search->level, &info);
    double score = info.score / (free_share * free_share);
    if (status == ESRA_OK && score < search->best.score) {
        memcpy(search->best.each, search->trial.each, (size_t)model->photos * sizeof *search->best.each);
        search->best.score = score;
    }
    return status;
}

/* One camera sees both layers: where its way from the reference to photo k is `share` times that to photo i, the
 * reflection moves against the scene by about `share` times as much: a candidate of one photo implies motions of all.
 */
static esra_status try_family(struct search *search, int i, const struct transform *candidate)
{
    const struct model *model = search->model;
    double way_i[2], way_k[2], apart[2];
    shift_of(model, &model->still[i], &way_i[0], &way_i[1]);
    shift_of(model, candidate, &apart[0], &apart[1]);
    double length = way_i[0] * way_i[0] + way_i[1] * way_i[1];
    if (!(sqrt(length) >= pipeline_thresholds.camera_way_least_px))
        return ESRA_OK;
    for (int k = 0; k < model->photos; k++) {
        shift_of(model, &model->still[k], &way_k[0], &way_k[1]);
        double share = model_takes_part(model, k) ? (way_i[0] * way_k[0] + way_i[1] * way_k[1]) / length : 0;
        search->trial.each[k] = esra_transform_shift(share * apart[0], share * apart[1]);
    }
    return try_motions(search);
}

/* The best motions with one photo's replaced. */
static esra_status try_one(struct search *search, int i, const struct transform *candidate)
{
    memcpy(search->trial.each, search->best.each, (size_t)search->model->photos * sizeof *search->trial.each);
    search->trial.each[i] = *candidate;
    return try_motions(search);
}

typedef esra_status attempt_function(struct search *search, int i, const struct transform *candidate);

static esra_status try_all(struct search *search, const struct reflection_candidates *candidates,
                           attempt_function *attempt)
{
    const struct model *model = search->model;
    esra_status status = ESRA_OK;
    for (int i = 0; i < model->photos && !esra_run_stopping(search->run, STAGE_ALIGN); i++)
        for (int n = 0; model_takes_part(model, i) && n < candidates[i].count; n++)
            if (!esra_context_stopping(search->run->context))
                TRY(attempt(search, i, &candidates[i].each[n].transform));
done:
    return status;
}

/* First the best candidate of each photo, then families that one camera would make, then one photo at a time. */
static esra_status search_motions(struct search *search, const struct reflection_candidates *candidates)
{
    const struct model *model = search->model;
    esra_status status;
    for (int i = 0; i < model->photos; i++)
        search->trial.each[i] = search->best.each[i] = model_takes_part(model, i) && candidates[i].count > 0
                                                           ? candidates[i].each[0].transform
                                                           : TRANSFORM_IDENTITY;
    TRY(try_motions(search));
    TRY(try_all(search, candidates, try_family));
    TRY(try_all(search, candidates, try_one));
done:
    return status;
}

static esra_status search_create(struct search *search, const struct model *model, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    size_t m = (size_t)model->photos;
    *search = (struct search){.model = model, .run = run, .best.score = INFINITY};
    for (double pixels = (double)model->width * model->height; pixels > RANK_PIXELS; pixels /= 4)
        search->level++;
    search->best.each = esra_allocate(m, sizeof *search->best.each);
    search->trial.each = esra_allocate(m, sizeof *search->trial.each);
    search->inverse = esra_allocate(m, sizeof *search->inverse);
    if (!search->best.each || !search->trial.each || !search->inverse)
        return esra_fail_memory(run->context->message);
    return esra_joint_create(&search->joint, &photos, JOINT_MAX_LEVELS, run->context);
}

static void search_free(struct search *search)
{
    esra_joint_free(&search->joint);
    esra_release(&search->best.each);
    esra_release(&search->trial.each);
    esra_release(&search->inverse);
}

/* With transforms given for both layers there is nothing to find: R at x of the reference shows at reflected(x) of the
 * photo, and so at still^-1(reflected(x)) of the aligned one. */
static esra_status take_given(struct model *model, struct run *run)
{
    for (int i = 0; i < model->photos; i++) {
        struct transform back;
        if (!esra_transform_invert(&model->motions[i].reflected, &back))
            return esra_fail(run->context->message, ESRA_BAD_DATA,
                             "the transform of the reflection in photo %d cannot be undone", i + 1);
        model->mirror[i] = esra_transform_compose(&back, &model->still[i]);
    }
    model->two_motions = true;
    return ESRA_OK;
}

static bool any_candidate(const struct model *model, const struct reflection_candidates *candidates)
{
    bool any = false;
    for (int i = 0; i < model->photos; i++)
        any = any || (model_takes_part(model, i) && candidates[i].count > 0);
    return any;
}

static esra_status rank(struct model *model, const struct reflection_candidates *candidates, struct run *run)
{
    struct search search = {0};
    esra_status status;
    TRY(search_create(&search, model, run));
    TRY(search_motions(&search, candidates));
    model->two_motions = search.best.score < INFINITY;
    for (int i = 0; i < model->photos && model->two_motions; i++)
        model->two_motions = esra_transform_invert(&search.best.each[i], &model->mirror[i]);
done:
    search_free(&search);
    return status;
}

esra_status esra_flat_find_reflection(struct model *model, struct run *run)
{
    struct reflection_problem problem = {model->aligned,
                                         model->masks,
                                         model->mixing,
                                         model->photos,
                                         model->reference,
                                         model->motions,
                                         esra_flat_motion(run->input)};
    esra_status status = ESRA_OK;
    if (run->input->reflected)
        return take_given(model, run);
    struct reflection_candidates *candidates = esra_allocate((size_t)model->photos, sizeof *candidates);
    if (!candidates)
        return esra_fail_memory(run->context->message);
    TRY(esra_reflection_find(run->context, &problem, candidates));
    if (any_candidate(model, candidates))
        TRY(rank(model, candidates, run));
done:
    esra_release(&candidates);
    return status;
}
