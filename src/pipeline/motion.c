/* pipeline/motion.c - how both layers move, and how bright the transmitted one is in each photo. */
#include <math.h>
#include <string.h>

#include "align/reflection.h"
#include "base/memory.h"
#include "gradients/mixing.h"
#include "pipeline/pipeline.h"

/* Candidates for the reflection's motion are ranked by the joint objective at about this many pixels, a quarter of the size
 * of 640 x 480: a solve takes a sixteenth of the time, and the right motion still stands out. */
#define RANK_PIXELS 4e4

/* Where the camera went less far, the ratio of two ways says nothing. */
#define LEAST_WAY_PX 2

/* Layers do not move further apart than this share of the width. */
#define MOST_APART .25

enum motion esra_pipeline_motion(const struct pipeline *p)
{
    return p->input->motion == ESRA_MOTION_TRANSLATION ? MOTION_TRANSLATION
           : p->input->motion == ESRA_MOTION_AFFINE    ? MOTION_AFFINE
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
        if (esra_pipeline_left_out(p, i)) {
            p->motions[i] = (struct photo_motion){.transmitted = TRANSFORM_IDENTITY, .reflected = TRANSFORM_IDENTITY, .gain = 1};
            continue;
        }
        p->motions[i] = (struct photo_motion){.transmitted = transform_of(&p->input->transmitted[i]),
                                              .reflected = TRANSFORM_IDENTITY,
                                              .aligned = true,
                                              .explained = 1,
                                              .gain = 1};
        if (!p->input->reflected)
            continue;
        p->motions[i].reflected = transform_of(&p->input->reflected[i]);
        p->motions[i].second = i != p->reference;
        p->motions[i].apart_px =
            esra_transform_distance(&p->motions[i].transmitted, &p->motions[i].reflected, p->width, p->height);
    }
}

esra_status esra_pipeline_align(struct pipeline *p)
{
    struct align_options options = {esra_pipeline_motion(p), p->input->stored_values};
    esra_status status = ESRA_OK;
    if (p->approached)
        return ESRA_OK;
    if (p->input->transmitted)
        take_given(p);
    else
        TRY(esra_align(p->context, p->seen, p->photos, p->reference, &options, p->motions));
    for (int i = 0; i < p->photos; i++)
        p->still[i] = p->motions[i].transmitted;
    for (int i = 0; i < p->photos; i++)
        p->mirror[i] = TRANSFORM_IDENTITY;
done:
    return status;
}

/* What small photos told is kept. By depth, large ones fit to a pixel or two: edges laid beside each other look fainter than
 * they are, and on photographs of one exposure the mode of their ratios came out at .87. */
esra_status esra_pipeline_measure(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    if (p->measured)
        return ESRA_OK;
    struct mixing *mixing = esra_allocate((size_t)p->photos, sizeof *mixing);
    if (!mixing)
        return esra_fail_memory(p->context->message);
    TRY(esra_mixing_estimate(p->context, p->aligned, p->masks, p->photos, p->reference, mixing));
    for (int i = 0; i < p->photos; i++) {
        double given = p->input->mixing ? p->input->mixing[i] / p->input->mixing[p->reference] : 0;
        p->mixing[i] = !p->input->mixing ? mixing[i].coefficient : p->rooted ? sqrt(given) : given;
        p->reflection_gain[i] = p->mixing[i];
    }
    p->measured = true;
done:
    esra_release(&mixing);
    return status;
}

/* ---- The reflection ---- */

/* A motion of the reflection in every photo: R's frame -> aligned photo. */
struct motions {
    struct transform *each; /* [photos]; the reference's is the identity */
    double score;
};

/* The search: all photos at a fraction of their size, the best motions so far and those being tried. */
struct search {
    struct pipeline *p;
    struct joint *joint;
    struct motions best, trial;
    double *numbers; /* [9 photos] */
    int level;       /* of the joint solve */
};

static bool takes_part(const struct pipeline *p, int i)
{
    return i != p->reference && p->motions[i].aligned;
}

/* How far a motion carries the middle of the frame. */
static void shift_of(const struct pipeline *p, const struct transform *motion, double *right, double *down)
{
    double x = 0.5 * (p->width - 1), y = 0.5 * (p->height - 1), u = x, v = y;
    transform_apply(motion, x, y, &u, &v);
    *right = u - x;
    *down = v - y;
}

/* The share of the unknowns that the photos determine: m photos see T once and R once, and a part of R more for each photo
 * whose frame it only partly shares; 0 where a motion is not to be believed at all. Below a tenth it is called that:
 * smoothness decides then. */
static double freedom(const struct pipeline *p, const struct motions *motions)
{
    double photos = 1, more = 0;
    for (int i = 0; i < p->photos; i++) {
        double right, down;
        if (!takes_part(p, i))
            continue;
        shift_of(p, &motions->each[i], &right, &down);
        if (!(hypot(right, down) <= MOST_APART * p->width))
            return 0;
        photos++;
        more += 1 - (1 - fabs(right) / p->width) * (1 - fabs(down) / p->height);
    }
    return fmax((photos - 2 - more) / photos, 0.1);
}

/* Generalised cross-validation (Golub, Heath & Wahba 1979): what is not explained, over the square of the freedom that was
 * not used up. Without it motions win that hardly overlap, since R may then be whatever each photo holds beside T. */
static esra_status try_motions(struct search *search)
{
    struct pipeline *p = search->p;
    struct joint_settings settings;
    struct joint_info info;
    double free_share = freedom(p, &search->trial);
    if (free_share == 0)
        return ESRA_OK;
    for (int i = 0; i < p->photos; i++) {
        struct transform back = TRANSFORM_IDENTITY;
        esra_transform_invert(&search->trial.each[i], &back);
        memcpy(search->numbers + 9 * i, back.h, sizeof back.h);
    }
    struct joint_model model = {.mixing = p->mixing, .reflection_gain = p->mixing, .motion = search->numbers};
    esra_joint_settings_default(&settings);
    esra_status status = esra_joint_solve(search->joint, &model, &settings, search->level, &info);
    double score = info.score / (free_share * free_share);
    if (status == ESRA_OK && score < search->best.score) {
        memcpy(search->best.each, search->trial.each, (size_t)p->photos * sizeof *search->best.each);
        search->best.score = score;
    }
    return status;
}

/* One camera sees both layers: where its way from the reference to photo k is `share` times that to photo i, the reflection
 * moves against the scene by about `share` times as much. So what may be true of one photo is tried on all. */
static esra_status try_family(struct search *search, int i, const struct transform *candidate)
{
    struct pipeline *p = search->p;
    double way_i[2], way_k[2], apart[2];
    shift_of(p, &p->still[i], &way_i[0], &way_i[1]);
    shift_of(p, candidate, &apart[0], &apart[1]);
    double length = way_i[0] * way_i[0] + way_i[1] * way_i[1];
    if (!(length >= LEAST_WAY_PX * LEAST_WAY_PX))
        return ESRA_OK;
    for (int k = 0; k < p->photos; k++) {
        shift_of(p, &p->still[k], &way_k[0], &way_k[1]);
        double share = takes_part(p, k) ? (way_i[0] * way_k[0] + way_i[1] * way_k[1]) / length : 0;
        search->trial.each[k] = esra_transform_shift(share * apart[0], share * apart[1]);
    }
    return try_motions(search);
}

/* The best motions with one photo's replaced. */
static esra_status try_one(struct search *search, int i, const struct transform *candidate)
{
    memcpy(search->trial.each, search->best.each, (size_t)search->p->photos * sizeof *search->trial.each);
    search->trial.each[i] = *candidate;
    return try_motions(search);
}

typedef esra_status attempt_function(struct search *search, int i, const struct transform *candidate);

static esra_status try_all(struct search *search, const struct reflection_candidates *candidates,
                           attempt_function *attempt)
{
    struct pipeline *p = search->p;
    esra_status status = ESRA_OK;
    for (int i = 0; i < p->photos && !esra_pipeline_stopping(p, "align"); i++)
        for (int n = 0; takes_part(p, i) && n < candidates[i].count && !esra_context_stopping(p->context); n++)
            TRY(attempt(search, i, &candidates[i].each[n].transform));
done:
    return status;
}

/* First what each photo likes best by itself, then what one camera would do, then one photo at a time. */
static esra_status search_motions(struct search *search, const struct reflection_candidates *candidates)
{
    struct pipeline *p = search->p;
    esra_status status;
    for (int i = 0; i < p->photos; i++)
        search->trial.each[i] = search->best.each[i] =
            takes_part(p, i) && candidates[i].count > 0 ? candidates[i].each[0].transform : TRANSFORM_IDENTITY;
    TRY(try_motions(search));
    TRY(try_all(search, candidates, try_family));
    TRY(try_all(search, candidates, try_one));
done:
    return status;
}

static esra_status search_create(struct search *search, struct pipeline *p)
{
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    size_t m = (size_t)p->photos;
    *search = (struct search){.p = p, .best.score = INFINITY};
    for (double pixels = (double)p->width * p->height; pixels > RANK_PIXELS; pixels /= 4)
        search->level++;
    search->best.each = esra_allocate(m, sizeof *search->best.each);
    search->trial.each = esra_allocate(m, sizeof *search->trial.each);
    search->numbers = esra_allocate(9 * m, sizeof *search->numbers);
    if (!search->best.each || !search->trial.each || !search->numbers)
        return esra_fail_memory(p->context->message);
    return esra_joint_create(&search->joint, &photos, JOINT_MAX_LEVELS, p->context);
}

static void search_free(struct search *search)
{
    esra_joint_free(&search->joint);
    esra_release(&search->best.each);
    esra_release(&search->trial.each);
    esra_release(&search->numbers);
}

/* With transforms given for both layers there is nothing to find: R at x of the reference shows at reflected(x) of the
 * photo, and so at still^-1(reflected(x)) of the aligned one. */
static esra_status take_given_reflection(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        struct transform back, there;
        if (!esra_transform_invert(&p->motions[i].reflected, &back))
            return esra_fail(p->context->message, ESRA_BAD_DATA,
                             "the transform of the reflection in photo %d cannot be undone", i + 1);
        there = esra_transform_compose(&back, &p->still[i]);
        p->mirror[i] = there;
    }
    p->reflection_found = true;
    return ESRA_OK;
}

esra_status esra_pipeline_find_reflection(struct pipeline *p)
{
    struct reflection_problem problem = {p->aligned, p->masks, p->mixing, p->photos, p->reference, p->motions,
                                         esra_pipeline_motion(p)};
    struct search search = {0};
    esra_status status;
    if (p->approached || p->alike)
        return ESRA_OK;
    if (p->input->reflected && p->input->transmitted)
        return take_given_reflection(p);
    struct reflection_candidates *candidates = esra_allocate((size_t)p->photos, sizeof *candidates);
    if (!candidates)
        TRY(esra_fail_memory(p->context->message));
    TRY(esra_reflection_find(p->context, &problem, candidates));
    bool any = false;
    for (int i = 0; i < p->photos; i++)
        any = any || (takes_part(p, i) && candidates[i].count > 0);
    if (any) {
        TRY(search_create(&search, p));
        TRY(search_motions(&search, candidates));
        p->reflection_found = search.best.score < INFINITY;
        for (int i = 0; i < p->photos && p->reflection_found; i++)
            p->reflection_found = esra_transform_invert(&search.best.each[i], &p->mirror[i]);
    }
done:
    search_free(&search);
    esra_release(&candidates);
    return status;
}
