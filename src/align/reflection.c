/* align/reflection.c - how the reflected layer moves, once the transmitted one stands still. Starts are the second motion
 * that alignment met, and the peaks of the correlation of what the photos hold beside T; each is refined on that, and
 * ranked by how well it correlates afterwards. */
#include "align/reflection.h"

#include <math.h>
#include <string.h>

#include "align/consensus.h"
#include "align/correlate.h"
#include "align/refine.h"
#include "align/remainder.h"
#include "base/memory.h"

/* Candidates are sought at about 640 x 480 at most and correlated at 320 x 240: the joint solve refines the one it takes. */
#define SEARCH_PIXELS 3.2e5
#define CORRELATE_PIXELS 1.2e5
#define PEAKS_MOST 3
#define CONSENSUS_MOST 2
#define STARTS_MOST (1 + CONSENSUS_MOST + 4 * PEAKS_MOST)
/* How far R may move against T, as a share of the width. */
#define REACH .35
/* Reflections are mostly out of focus. */
#define PART_BLUR_PX 1.
/* Nearer to the identity it is T's own remainder; nearer to one another two candidates are one. In px of the search. */
#define STILL_PX 1.2
#define SAME_PX .7
/* A start this near to a candidate would only end there. */
#define NEAR_PX 4.
#define FINISHED_MOST 3
/* A candidate this near to the exact one is the same motion, blurred, unless it correlates much better. */
#define EXACT_PX 6.
#define EXACT_SHARE .5
#define ITERATIONS 12
#define ITERATIONS_ROUGH 15

/* exact: as alignment found it, on the photos themselves; refining it on remainders would only blur it. */
enum quality { ROUGH, GOOD, EXACT };

struct start {
    struct transform transform;
    enum quality quality;
};

/* A pair of photos, the fields compared and the starts collected. */
struct pairing {
    struct pool *pool;
    enum motion motion;
    struct fields by_sign[2], by_median[2]; /* reference, photo; by_median only with three photos or more */
    struct fields *compared;                /* the two refined on */
    struct field warped;
    struct image planes; /* weights, valid */
    struct start starts[STARTS_MOST];
    int count;
};

/* All photos at the size of the search. */
struct searching {
    const struct reflection_problem *problem;
    struct pool *pool;
    struct pyramid *photos, *masks; /* level 0 used */
    struct field *remainders;       /* [count], with three photos or more */
    struct image *photo_images, *mask_images;
    double scale;
};

static bool far_from(const struct field *field, const struct transform *a, const struct transform *b, double px)
{
    return esra_transform_distance(a, b, field->width, field->height) > px;
}

static void add_start(struct pairing *p, struct transform t, enum quality quality)
{
    const struct field *field = &p->by_sign[0].level[0];
    if (p->count < STARTS_MOST && esra_transform_plausible(&t, field->width, field->height, REACH * field->width))
        p->starts[p->count++] = (struct start){t, quality};
}

static int small_level(const struct fields *fields)
{
    int level = 0;
    while (level < fields->levels - 1 && (double)fields->level[level].width * fields->level[level].height > CORRELATE_PIXELS)
        level++;
    return level;
}

/* Shifts at which the two fields correlate, but for those that are no shift. */
static esra_status add_peaks(struct pairing *p, const struct fields *pair, bool whiten, struct message *message)
{
    int level = small_level(&pair[0]), count;
    const struct field *field = &pair[0].level[level];
    struct peak peaks[PEAKS_MOST + 1];
    esra_status status = esra_correlate(p->pool, field, &pair[1].level[level], whiten, REACH * field->width, PEAKS_MOST + 1,
                                        peaks, &count, message);
    for (int n = 0; status == ESRA_OK && n < count; n++)
        if (hypot(peaks[n].right, peaks[n].down) > 1)
            add_start(p, esra_transform_shift(ldexp(peaks[n].right, level), ldexp(peaks[n].down, level)), ROUGH);
    return status;
}

/* Motions that corners of the two parts of the difference agree on. */
static esra_status add_matches(struct pairing *p, const struct pyramid *parts, struct message *message)
{
    int width = parts[0].level[0].width, height = parts[0].level[0].height;
    struct features features[2] = {{0}, {0}};
    struct matches matches = {0};
    struct transform found[CONSENSUS_MOST];
    esra_status status;
    TRY(esra_features_find(&features[0], p->pool, &parts[0], message));
    TRY(esra_features_find(&features[1], p->pool, &parts[1], message));
    TRY(esra_features_match(&matches, p->pool, &features[0], &features[1], REACH * width, message));
    int count = esra_consensus(&matches, width, height, REACH * width, p->motion, CONSENSUS_MOST, found);
    for (int n = 0; n < count; n++)
        add_start(p, found[n], GOOD);
fail:
    esra_features_free(&features[0]);
    esra_features_free(&features[1]);
    esra_matches_free(&matches);
    return status;
}

static struct plane weights_of(const struct pairing *p)
{
    return image_plane(&p->planes, 0);
}

/* Correlation of the two fields compared at one level, the photo's seen through t. */
static double score_of(const struct pairing *p, const struct transform *t, int level)
{
    const struct field *reference = &p->compared[0].level[level];
    struct field warped = {p->warped.data, reference->width, reference->height};
    struct plane valid = {image_plane(&p->planes, 1).data, reference->width, reference->height, reference->width};
    struct transform scaled = esra_transform_rescale(t, ldexp(1, -level));
    double cross = 0, first = 0, second = 0;
    esra_field_warp(p->pool, &p->compared[1].level[level], &scaled, &warped, valid);
    for (int y = 0; y < reference->height; y++)
        for (int x = 0; x < reference->width; x++) {
            if (!(plane_row(valid, y)[x] > 0))
                continue;
            const lanes *a = (const lanes *)field_sample(reference, x, y), *b = (const lanes *)field_sample(&warped, x, y);
            cross += lanes_sum(a[0] * b[0] + a[1] * b[1]);
            first += lanes_sum(a[0] * a[0] + a[1] * a[1]);
            second += lanes_sum(b[0] * b[0] + b[1] * b[1]);
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

/* Near an exact candidate that correlates nearly as well. */
static bool is_blurred(const struct pairing *p, const struct reflection_candidate *exact,
                       const struct reflection_candidate *found)
{
    return exact->score > EXACT_SHARE * found->score &&
           !far_from(&p->compared[0].level[0], &exact->transform, &found->transform, EXACT_PX);
}

/* Sorted in by score, unless it is there already, or keeps R with T. */
static void rank(const struct pairing *p, struct reflection_candidates *list, struct reflection_candidate found)
{
    struct transform still = TRANSFORM_IDENTITY;
    int place = 0;
    if (!(found.score > 0) || is_listed(p, list, &found.transform, SAME_PX) ||
        !far_from(&p->compared[0].level[0], &found.transform, &still, STILL_PX))
        return;
    while (place < list->count && list->each[place].score >= found.score)
        place++;
    if (place == REFLECTION_CANDIDATES)
        return;
    int last = list->count < REFLECTION_CANDIDATES ? list->count++ : REFLECTION_CANDIDATES - 1;
    memmove(&list->each[place + 1], &list->each[place], (size_t)(last - place) * sizeof *list->each);
    list->each[place] = found;
}

/* Refines t between two levels; keeps what correlates better at the finer one, before or after. */
static esra_status improve(const struct pairing *p, struct transform t, bool rough, int finest,
                           struct reflection_candidate *found, struct message *message)
{
    const struct field *field = &p->compared[0].level[0];
    struct refine_options options = {.motion = p->motion, .coarsest = finest + (rough ? 1 : 0), .finest = finest,
                                     .iterations = rough ? ITERATIONS_ROUGH : ITERATIONS, .rough = rough};
    struct reflection_candidate after = {t, -1};
    struct plane weights = weights_of(p);
    struct refined refined;
    *found = (struct reflection_candidate){t, score_of(p, &t, finest)};
    esra_status status = esra_refine(p->pool, &p->compared[0], &p->compared[1], finest ? NULL : &weights, &options,
                                     &after.transform, &refined, message);
    if (status == ESRA_OK && esra_transform_plausible(&after.transform, field->width, field->height, REACH * field->width))
        after.score = score_of(p, &after.transform, finest);
    if (after.score > found->score)
        *found = after;
    return status;
}

/* Lists the exact start as it is, and returns it; score 0: there is none. */
static struct reflection_candidate list_exact(const struct pairing *p, struct reflection_candidates *list)
{
    struct reflection_candidate exact = {.score = 0};
    for (int n = 0; n < p->count; n++)
        if (p->starts[n].quality == EXACT) {
            exact = (struct reflection_candidate){p->starts[n].transform, score_of(p, &p->starts[n].transform, 0)};
            rank(p, list, exact);
        }
    return exact;
}

static esra_status try_at_half_size(const struct pairing *p, struct reflection_candidates *list, struct message *message)
{
    int finest = p->compared[0].levels > 1 ? 1 : 0;
    for (int n = 0; n < p->count; n++) {
        const struct start *start = &p->starts[n];
        struct reflection_candidate found;
        if (start->quality == EXACT || is_listed(p, list, &start->transform, NEAR_PX))
            continue;
        esra_status status = improve(p, start->transform, start->quality == ROUGH, finest, &found, message);
        if (status != ESRA_OK)
            return status;
        rank(p, list, found);
    }
    return ESRA_OK;
}

/* All starts at half size; the best few of them at full. */
static esra_status try_starts(const struct pairing *p, struct reflection_candidates *list, struct message *message)
{
    struct reflection_candidates half = {.count = 0};
    struct reflection_candidate exact = list_exact(p, list), found;
    esra_status status;
    TRY(try_at_half_size(p, &half, message));
    for (int n = 0; n < half.count; n++) {
        found = half.each[n];
        if (n < FINISHED_MOST)
            TRY(improve(p, half.each[n].transform, false, 0, &found, message));
        else
            found.score = score_of(p, &found.transform, 0);
        if (!is_blurred(p, &exact, &found))
            rank(p, list, found);
    }
fail:
    return status;
}

static void pairing_free(struct pairing *p)
{
    for (int n = 0; n < 2; n++) {
        esra_fields_free(&p->by_sign[n]);
        esra_fields_free(&p->by_median[n]);
    }
    esra_field_free(&p->warped);
    esra_image_free(&p->planes);
}

static esra_status copy_remainder(const struct searching *s, int photo, struct fields *to, struct message *message)
{
    const struct field *from = &s->remainders[photo];
    struct field copy;
    esra_status status = esra_field_create(&copy, from->width, from->height, message);
    if (status != ESRA_OK)
        return status;
    memcpy(copy.data, from->data, (size_t)from->width * (size_t)from->height * FIELD_LANES * sizeof *copy.data);
    return esra_fields_of_field(to, s->pool, &copy, message);
}

static void fill_weights(const struct searching *s, int photo, struct plane weights)
{
    const float *reference = s->mask_images[s->problem->reference].data, *other = s->mask_images[photo].data;
    for (size_t n = 0; n < (size_t)weights.width * (size_t)weights.height; n++)
        weights.data[n] = reference[n] * other[n];
}

static esra_status use_parts(struct pairing *p, const struct searching *s, int photo, struct message *message)
{
    const struct reflection_problem *problem = s->problem;
    const struct pyramid_options as_is = {.most_pixels = INFINITY};
    struct image parts[2] = {{0}, {0}};
    struct pyramid pyramids[2] = {{.levels = 0}, {.levels = 0}};
    esra_status status;
    TRY(esra_remainder_by_sign(&s->photo_images[problem->reference], &s->photo_images[photo], &s->mask_images[photo],
                               problem->mixing[photo], &parts[0], &parts[1], message));
    for (int n = 0; n < 2; n++) {
        TRY(esra_pyramid_create(&pyramids[n], s->pool, &parts[n], &as_is, message));
        TRY(esra_fields_of_pyramid(&p->by_sign[n], s->pool, &pyramids[n], PART_BLUR_PX, message));
    }
    TRY(add_matches(p, pyramids, message));
fail:
    for (int n = 0; n < 2; n++) {
        esra_image_free(&parts[n]);
        esra_pyramid_free(&pyramids[n]);
    }
    return status;
}

static esra_status make_pairing(struct pairing *p, const struct searching *s, int photo, struct message *message)
{
    const struct reflection_problem *problem = s->problem;
    const struct image *reference = &s->photo_images[problem->reference];
    esra_status status;
    TRY(esra_image_create(&p->planes, reference->width, reference->height, 2, message));
    TRY(esra_field_create(&p->warped, reference->width, reference->height, message));
    fill_weights(s, photo, weights_of(p));
    TRY(use_parts(p, s, photo, message));
    if (s->remainders) {
        TRY(copy_remainder(s, problem->reference, &p->by_median[0], message));
        TRY(copy_remainder(s, photo, &p->by_median[1], message));
    }
    p->compared = s->remainders ? p->by_median : p->by_sign;
    return ESRA_OK;
fail:
    return status;
}

/* R's motion against T's, from what alignment saw: x -> transmitted^-1 (reflected (x)). */
static void add_second_motion(struct pairing *p, const struct searching *s, int photo)
{
    const struct photo_motion *m = s->problem->motions ? &s->problem->motions[photo] : NULL;
    struct transform back;
    if (!m || !m->second || !esra_transform_invert(&m->transmitted, &back))
        return;
    struct transform t = esra_transform_compose(&back, &m->reflected);
    add_start(p, esra_transform_rescale(&t, s->scale), EXACT);
}

static esra_status search_photo(const struct searching *s, int photo, struct reflection_candidates *list,
                                struct message *message)
{
    struct pairing p = {.pool = s->pool, .motion = s->problem->motion};
    esra_status status;
    TRY(make_pairing(&p, s, photo, message));
    add_second_motion(&p, s, photo);
    for (int whiten = 0; whiten < 2; whiten++) {
        TRY(add_peaks(&p, p.by_sign, whiten, message));
        if (s->remainders)
            TRY(add_peaks(&p, p.by_median, whiten, message));
    }
    TRY(try_starts(&p, list, message));
    for (int n = 0; n < list->count; n++)
        list->each[n].transform = esra_transform_rescale(&list->each[n].transform, 1 / s->scale);
fail:
    pairing_free(&p);
    return status;
}

static void searching_free(struct searching *s)
{
    for (int n = 0; n < s->problem->count; n++) {
        if (s->photos)
            esra_pyramid_free(&s->photos[n]);
        if (s->masks)
            esra_pyramid_free(&s->masks[n]);
        if (s->remainders)
            esra_field_free(&s->remainders[n]);
    }
    esra_release(&s->photos);
    esra_release(&s->masks);
    esra_release(&s->remainders);
    esra_release(&s->photo_images);
    esra_release(&s->mask_images);
}

/* Masks after halving: seen only where nothing unseen was mixed in. */
static void harden(struct image *mask)
{
    for (size_t n = 0; n < (size_t)mask->width * (size_t)mask->height; n++)
        mask->data[n] = mask->data[n] > .99f ? 1 : 0;
}

static esra_status make_small(struct searching *s, struct message *message)
{
    const struct reflection_problem *problem = s->problem;
    struct pyramid_options options = {.most_pixels = SEARCH_PIXELS};
    esra_status status = ESRA_OK;
    for (int n = 0; n < problem->count; n++) {
        TRY(esra_pyramid_create(&s->photos[n], s->pool, &problem->photos[n], &options, message));
        TRY(esra_pyramid_create(&s->masks[n], s->pool, &problem->masks[n], &options, message));
        s->photo_images[n] = s->photos[n].level[0];
        s->mask_images[n] = s->masks[n].level[0];
        harden(&s->mask_images[n]);
    }
    s->scale = s->photos[0].scale;
    if (problem->count >= 3)
        TRY(esra_remainder_by_median(s->pool, s->photo_images, s->mask_images, problem->mixing, problem->count,
                                     s->remainders, message));
fail:
    return status;
}

esra_status esra_reflection_find(struct pool *pool, const struct reflection_problem *problem,
                                 struct reflection_candidates *candidates, struct message *message)
{
    size_t count = (size_t)problem->count;
    struct searching s = {.problem = problem, .pool = pool};
    esra_status status = ESRA_OK;
    memset(candidates, 0, count * sizeof *candidates);
    s.photos = esra_allocate(count, sizeof *s.photos);
    s.masks = esra_allocate(count, sizeof *s.masks);
    s.photo_images = esra_allocate(count, sizeof *s.photo_images);
    s.mask_images = esra_allocate(count, sizeof *s.mask_images);
    if (count >= 3)
        s.remainders = esra_allocate(count, sizeof *s.remainders);
    if (!s.photos || !s.masks || !s.photo_images || !s.mask_images || (count >= 3 && !s.remainders))
        TRY(esra_fail_memory(message));
    TRY(make_small(&s, message));
    for (int n = 0; n < problem->count; n++)
        if (n != problem->reference)
            TRY(search_photo(&s, n, &candidates[n], message));
fail:
    searching_free(&s);
    return status;
}
