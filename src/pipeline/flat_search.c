/* pipeline/flat_search.c - R's motion by homographies: every photo has a few candidates (align/reflection.h); the joint
 * objective of all photos, solved small, ranks combinations of them. */
#include <math.h>
#include <string.h>

#include "align/reflection.h"
#include "base/maths.h"
#include "base/memory.h"
#include "pipeline/flat.h"
#include "pipeline/thresholds.h"

/* Candidates are ranked at this many pixels at the most, a sixteenth of 640 x 480: the right motion still stands out.
 */
#define RANK_PIXELS 2e4

/* A motion of the reflection in every photo: R's frame -> aligned photo. */
struct motions {
    struct transform *each;    /* [photos]; the reference's is the identity */
    struct transform *inverse; /* [photos]: as the joint solve takes them */
    double rough, score;       /* at half the size and at that of the ranking; infinite where not solved for */
};

/* The search: all photos at a fraction of their size, the best motions so far and those being tried. */
struct search {
    const struct model *model;
    struct run *run;
    struct joint *joint;
    struct motions best, *trials;
    int count, most;              /* of trials */
    struct transform *transforms; /* of all motions */
    int level;                    /* of the joint solve */
    bool roughly;                 /* one coarser is being solved */
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
        if (!(esra_hypot(right, down) <= pipeline_thresholds.layers_apart_most * model->width))
            return 0;
        photos++;
        more += 1 - (1 - fabs(right) / model->width) * (1 - fabs(down) / model->height);
    }
    return fmax((photos - 2 - more) / photos, pipeline_thresholds.freedom_least);
}

/* Generalised cross-validation (Golub, Heath & Wahba 1979): the misfit over the square of the degrees of freedom left.
 * Without it motions win whose frames hardly overlap, since R may then be whatever each photo holds beside T. A job of
 * esra_context_side_by_side(). */
static esra_status try_motions(void *work, int number, struct context *own)
{
    const struct search *search = work;
    const struct model *model = search->model;
    struct motions *trial = &search->trials[number];
    struct joint_model tried = {
        .mixing = model->mixing, .reflection_gain = model->mixing, .motion = (const double *)trial->inverse};
    struct joint_settings settings;
    struct joint_info info;
    struct joint *joint = NULL;
    double free_share = freedom(model, trial);
    bool dropped = !search->roughly && trial->rough == INFINITY;
    esra_status status = ESRA_OK;
    if (free_share == 0 || dropped || esra_context_stopping(own))
        return ESRA_OK;
    esra_joint_settings_default(&settings);
    TRY(esra_joint_share(&joint, search->joint, own));
    TRY(esra_joint_solve(joint, &tried, &settings, search->level + search->roughly, &info));
    *(search->roughly ? &trial->rough : &trial->score) = info.score / (free_share * free_share);
done:
    esra_joint_free(&joint);
    return status;
}

/* Candidates that are clearly worse at half the size are not solved for at the size of the ranking. */
static void drop_losers(struct search *search)
{
    double least = search->best.rough;
    for (int n = 0; n < search->count; n++)
        least = fmin(least, search->trials[n].rough);
    for (int n = 0; n < search->count; n++)
        if (search->trials[n].rough > pipeline_thresholds.rough_score_most * least)
            search->trials[n].rough = INFINITY;
}

static void keep_best(struct search *search)
{
    size_t bytes = (size_t)search->model->photos * sizeof *search->best.each;
    for (int n = 0; n < search->count; n++)
        if (search->trials[n].score < search->best.score) {
            memcpy(search->best.each, search->trials[n].each, bytes);
            search->best.rough = search->trials[n].rough;
            search->best.score = search->trials[n].score;
        }
    search->count = 0;
}

/* Ranks the trials gathered, and the best motions with them. */
static esra_status rank_trials(struct search *search)
{
    esra_status status = ESRA_OK;
    for (int pass = 0; pass < 2 && search->count > 0; pass++) {
        search->roughly = pass == 0;
        STEP(search->run, STAGE_ALIGN,
             esra_context_side_by_side(search->run->context, try_motions, search, search->count));
        if (search->roughly)
            drop_losers(search);
    }
    keep_best(search);
done:
    return status;
}

static void add_trial(struct search *search)
{
    struct motions *trial = &search->trials[search->count++];
    for (int i = 0; i < search->model->photos; i++) {
        trial->inverse[i] = TRANSFORM_IDENTITY;
        esra_transform_invert(&trial->each[i], &trial->inverse[i]);
    }
    trial->rough = trial->score = INFINITY;
}

/* One camera sees both layers: where its way from the reference to photo k is `share` times that to photo i, the
 * reflection moves against the scene by about `share` times as much: a candidate of one photo implies motions of all.
 */
static void add_family(struct search *search, int i, const struct transform *candidate)
{
    const struct model *model = search->model;
    double way_i[2], way_k[2], apart[2];
    shift_of(model, &model->still[i], &way_i[0], &way_i[1]);
    shift_of(model, candidate, &apart[0], &apart[1]);
    double length = way_i[0] * way_i[0] + way_i[1] * way_i[1];
    if (!(sqrt(length) >= pipeline_thresholds.registration_px))
        return;
    for (int k = 0; k < model->photos; k++) {
        shift_of(model, &model->still[k], &way_k[0], &way_k[1]);
        double share = model_takes_part(model, k) ? (way_i[0] * way_k[0] + way_i[1] * way_k[1]) / length : 0;
        search->trials[search->count].each[k] = esra_transform_shift(share * apart[0], share * apart[1]);
    }
    add_trial(search);
}

/* The best motions with one photo's replaced, unless it is theirs. */
static void add_one(struct search *search, int i, const struct transform *candidate)
{
    struct transform *each = search->trials[search->count].each;
    if (memcmp(&search->best.each[i], candidate, sizeof *candidate) == 0)
        return;
    memcpy(each, search->best.each, (size_t)search->model->photos * sizeof *each);
    each[i] = *candidate;
    add_trial(search);
}

typedef void trial_of(struct search *search, int i, const struct transform *candidate);

static void add_photo(struct search *search, const struct reflection_candidates *candidates, int i, trial_of *add)
{
    for (int n = 0; model_takes_part(search->model, i) && n < candidates[i].count; n++)
        add(search, i, &candidates[i].each[n].transform);
}

/* First the best candidate of each photo and families that one camera would make, then one photo at a time. */
static esra_status search_motions(struct search *search, const struct reflection_candidates *candidates)
{
    const struct model *model = search->model;
    esra_status status;
    for (int i = 0; i < model->photos; i++)
        search->trials[0].each[i] = search->best.each[i] = model_takes_part(model, i) && candidates[i].count > 0
                                                               ? candidates[i].each[0].transform
                                                               : TRANSFORM_IDENTITY;
    add_trial(search);
    for (int i = 0; i < model->photos; i++)
        add_photo(search, candidates, i, add_family);
    TRY(rank_trials(search));
    for (int i = 0; i < model->photos; i++) {
        add_photo(search, candidates, i, add_one);
        TRY(rank_trials(search));
    }
done:
    return status;
}

static void hand_out(struct search *search)
{
    struct transform *next = search->transforms;
    int m = search->model->photos;
    search->best.each = next;
    for (int n = 0; n < search->most; n++) {
        search->trials[n].each = next += m;
        search->trials[n].inverse = next += m;
    }
}

static esra_status search_create(struct search *search, const struct model *model, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    size_t m = (size_t)model->photos;
    esra_status status;
    *search = (struct search){.model = model, .run = run, .best = {.rough = INFINITY, .score = INFINITY}};
    for (double pixels = (double)model->width * model->height; pixels > RANK_PIXELS; pixels /= 4)
        search->level++;
    search->most = 1 + model->photos * REFLECTION_CANDIDATES;
    search->trials = esra_allocate((size_t)search->most, sizeof *search->trials);
    search->transforms = esra_allocate((1 + 2 * (size_t)search->most) * m, sizeof *search->transforms);
    if (!search->trials || !search->transforms)
        return esra_fail_memory(run->context->message);
    hand_out(search);
    TRY(esra_joint_create(&search->joint, &photos, JOINT_MAX_LEVELS, run->context));
    TRY(esra_joint_halve(search->joint));
done:
    return status;
}

static void search_free(struct search *search)
{
    esra_joint_free(&search->joint);
    esra_release(&search->trials);
    esra_release(&search->transforms);
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

/* Candidates that were taken, and are as rough as the search. */
static void find_rough(const struct search *search, const struct reflection_candidates *candidates, bool *rough)
{
    for (int i = 0; i < search->model->photos; i++)
        for (int n = 0; n < candidates[i].count; n++) {
            const struct reflection_candidate *candidate = &candidates[i].each[n];
            if (!candidate->exact &&
                memcmp(&search->best.each[i], &candidate->transform, sizeof candidate->transform) == 0)
                rough[i] = true;
        }
}

static esra_status finish(struct search *search, const struct reflection_problem *problem,
                          const struct reflection_candidates *candidates)
{
    struct context *context = search->run->context;
    bool *rough = esra_allocate((size_t)search->model->photos, sizeof *rough);
    if (!rough)
        return esra_fail_memory(context->message);
    find_rough(search, candidates, rough);
    esra_status status = esra_reflection_finish(context, problem, rough, search->best.each);
    esra_release(&rough);
    return status;
}

static esra_status rank(struct model *model, const struct reflection_problem *problem,
                        const struct reflection_candidates *candidates, struct run *run)
{
    struct search search = {0};
    esra_status status;
    TRY(search_create(&search, model, run));
    TRY(search_motions(&search, candidates));
    esra_joint_free(&search.joint); /* makes room */
    model->two_motions = search.best.score < INFINITY;
    if (model->two_motions)
        STEP(run, STAGE_ALIGN, finish(&search, problem, candidates));
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
        TRY(rank(model, &problem, candidates, run));
done:
    esra_release(&candidates);
    return status;
}
