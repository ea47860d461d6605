/* align/candidates.c - candidates for R's motion between two photos: refines the starts, and ranks them by the
 * normalised cross-correlation of the two photos' remainders beside T, one seen through the motion. */
#include <math.h>
#include <string.h>

#include "align/pairing.h"
#include "align/refine.h"
#include "align/thresholds.h"
#include "ops/thresholds.h"

#define FINISHED_MOST    3
#define ITERATIONS       12
#define ITERATIONS_ROUGH 15

static bool far_from(const struct field *field, const struct transform *a, const struct transform *b, double px)
{
    return esra_transform_distance(a, b, field->width, field->height) > px;
}

/* Normalised cross-correlation of the two fields compared at one level, the photo's warped by t. */
static double score_of(const struct pairing *p, const struct transform *t, int level)
{
    const struct field *reference = &p->compared[0].level[level];
    struct field warped = {p->warped.data, reference->width, reference->height};
    struct plane valid = {image_plane(&p->planes, 1).data, reference->width, reference->height, reference->width};
    struct transform scaled = esra_transform_rescale(t, ldexp(1, -level));
    double cross = 0, first = 0, second = 0;
    esra_field_warp(p->context, &p->compared[1].level[level], &scaled, &warped, valid);
    for (int y = 0; y < reference->height; y++)
        for (int x = 0; x < reference->width; x++) {
            if (!(plane_row(valid, y)[x] > 0))
                continue;
            const colours *a = (const colours *)field_sample(reference, x, y),
                          *b = (const colours *)field_sample(&warped, x, y);
            cross += colours_sum(a[0] * b[0] + a[1] * b[1]);
            first += colours_sum(a[0] * a[0] + a[1] * a[1]);
            second += colours_sum(b[0] * b[0] + b[1] * b[1]);
        }
    return first > 0 && second > 0 ? cross / sqrt(first * second) : 0;
}

static bool is_listed(const struct pairing *p, const struct reflection_candidates *list, const struct transform *t,
                      double px)
{
    for (int n = 0; n < list->count; n++)
        if (!far_from(&p->compared[0].level[0], &list->each[n].transform, t, px))
            return true;
    return false;
}

/* Inserts a candidate by score, unless it is listed already or is the identity, which is T's own motion. */
static void rank(const struct pairing *p, struct reflection_candidates *list, struct reflection_candidate found)
{
    struct transform still = TRANSFORM_IDENTITY;
    int place = 0;
    if (!(found.score > 0) || is_listed(p, list, &found.transform, align_thresholds.same_px) ||
        !far_from(&p->compared[0].level[0], &found.transform, &still, align_thresholds.same_px))
        return;
    while (place < list->count && list->each[place].score >= found.score)
        place++;
    if (place == REFLECTION_CANDIDATES)
        return;
    int last = list->count < REFLECTION_CANDIDATES ? list->count++ : REFLECTION_CANDIDATES - 1;
    memmove(&list->each[place + 1], &list->each[place], (size_t)(last - place) * sizeof *list->each);
    list->each[place] = found;
}

/* Refines t down to level `finest`; keeps whichever correlates better there, t or the refined one. */
static esra_status improve(const struct pairing *p, struct transform t, bool rough, int finest,
                           struct reflection_candidate *found)
{
    const struct field *field = &p->compared[0].level[0];
    struct plane weights = pairing_weights(p);
    struct refine_options options = {.motion = p->motion,
                                     .coarsest = finest + (rough ? 1 : 0),
                                     .finest = finest,
                                     .iterations = rough ? ITERATIONS_ROUGH : ITERATIONS,
                                     .rough = rough,
                                     .weights = finest ? NULL : &weights};
    struct reflection_candidate after = {t, -1, false};
    struct refined refined;
    *found = (struct reflection_candidate){t, score_of(p, &t, finest), false};
    esra_status status =
        esra_refine(p->context, &p->compared[0], &p->compared[1], &options, &after.transform, &refined);
    if (status == ESRA_OK &&
        esra_transform_plausible(&after.transform, field->width, field->height, ops_thresholds.reach * field->width))
        after.score = score_of(p, &after.transform, finest);
    if (after.score > found->score)
        *found = after;
    return status;
}

/* Lists exact starts without refinement. */
static void list_exact(const struct pairing *p, struct reflection_candidates *list)
{
    for (int n = 0; n < p->count; n++)
        if (p->starts[n].quality == EXACT)
            rank(p, list,
                 (struct reflection_candidate){p->starts[n].transform, score_of(p, &p->starts[n].transform, 0), true});
}

static esra_status try_at_half_size(const struct pairing *p, struct reflection_candidates *list)
{
    int finest = p->compared[0].levels > 1 ? 1 : 0;
    for (int n = 0; n < p->count; n++) {
        const struct start *start = &p->starts[n];
        struct reflection_candidate found;
        if (start->quality == EXACT || is_listed(p, list, &start->transform, align_thresholds.near_px))
            continue;
        esra_status status = improve(p, start->transform, start->quality == ROUGH, finest, &found);
        if (status != ESRA_OK)
            return status;
        rank(p, list, found);
    }
    return ESRA_OK;
}

/* All starts at half size; the best few of them at full. */
esra_status esra_pairing_rank(const struct pairing *p, struct reflection_candidates *list)
{
    struct reflection_candidates half = {.count = 0};
    esra_status status;
    list_exact(p, list);
    TRY(try_at_half_size(p, &half));
    for (int n = 0; n < half.count; n++) {
        struct reflection_candidate found = half.each[n];
        if (n < FINISHED_MOST)
            TRY(improve(p, half.each[n].transform, false, 0, &found));
        else
            found.score = score_of(p, &found.transform, 0);
        rank(p, list, found);
    }
done:
    return status;
}

/* A refinement that went farther than near_px has converged to another motion, and is dropped. */
esra_status esra_pairing_finish(const struct pairing *p, struct transform *motion)
{
    struct reflection_candidate found;
    esra_status status = improve(p, *motion, false, 0, &found);
    if (status == ESRA_OK && !far_from(&p->compared[0].level[0], &found.transform, motion, align_thresholds.near_px))
        *motion = found.transform;
    return status;
}
