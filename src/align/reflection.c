/* align/reflection.c - how the reflected layer moves, once the transmitted one stands still: candidates for every photo
 * from alignment's second motion and from what the photos hold beside T. */
#include "align/reflection.h"

#include <math.h>
#include <string.h>

#include "align/pairing.h"
#include "align/remainder.h"
#include "base/memory.h"
#include "ops/thresholds.h"

/* All photos at the size of the search. */
struct searching {
    const struct reflection_problem *problem;
    struct reflection_candidates *candidates; /* [count], of a search ... */
    const bool *rough;                        /* ... or [count] both, of motions that are made exact */
    struct transform *motions;
    struct context *context;
    struct pyramid *photos, *masks; /* level 0 used */
    struct field *remainders;       /* [count], with three photos or more */
    struct image *photo_images, *mask_images;
    double scale;
};

static esra_status copy_remainder(const struct searching *s, int photo, struct fields *to)
{
    const struct field *from = &s->remainders[photo];
    struct field copy;
    esra_status status = esra_field_reserve(&copy, from->width, from->height, s->context->message);
    if (status != ESRA_OK)
        return status;
    memcpy(copy.data, from->data, (size_t)from->width * (size_t)from->height * FIELD_FLOATS * sizeof *copy.data);
    return esra_fields_of_field(to, s->context, &copy);
}

static void fill_weights(const struct searching *s, int photo, struct plane weights)
{
    const float *reference = s->mask_images[s->problem->reference].data, *other = s->mask_images[photo].data;
    for (size_t n = 0; n < plane_pixels(weights); n++)
        weights.data[n] = reference[n] * other[n];
}

/* The fields of the parts where the photo has more light than the reference and where it has less, at T's motion
 * (remainder.h), and, where wanted, starts by matches of features between them. */
static esra_status use_parts(struct pairing *p, const struct searching *s, int photo, bool starts)
{
    const struct reflection_problem *problem = s->problem;
    const struct pyramid_options as_is = {.most_pixels = INFINITY};
    struct image parts[2] = {{0}, {0}};
    struct pyramid pyramids[2] = {{.levels = 0}, {.levels = 0}};
    esra_status status;
    TRY(esra_remainder_by_sign(&s->photo_images[problem->reference], &s->photo_images[photo], &s->mask_images[photo],
                               problem->mixing[photo], parts, p->context->message));
    for (int n = 0; n < 2; n++) {
        TRY(esra_pyramid_create(&pyramids[n], s->context, &parts[n], &as_is));
        TRY(esra_fields_of_pyramid(&p->by_sign[n], s->context, &pyramids[n], ops_thresholds.field_blur_px));
    }
    if (starts)
        TRY(esra_pairing_start_matches(p, pyramids));
done:
    for (int n = 0; n < 2; n++) {
        esra_image_free(&parts[n]);
        esra_pyramid_free(&pyramids[n]);
    }
    return status;
}

/* Remainders by sign are compared where there are none by the median, and always searched for starts. */
static esra_status make_pairing(struct pairing *p, const struct searching *s, int photo, bool starts)
{
    const struct reflection_problem *problem = s->problem;
    const struct image *reference = &s->photo_images[problem->reference];
    esra_status status;
    TRY(esra_image_create(&p->planes, reference->width, reference->height, 2, p->context->message));
    TRY(esra_field_reserve(&p->warped, reference->width, reference->height, p->context->message));
    fill_weights(s, photo, pairing_weights(p));
    if (starts || !s->remainders)
        TRY(use_parts(p, s, photo, starts));
    if (s->remainders) {
        TRY(copy_remainder(s, problem->reference, &p->by_median[0]));
        TRY(copy_remainder(s, photo, &p->by_median[1]));
    }
    p->compared = s->remainders ? p->by_median : p->by_sign;
done:
    return status;
}

/* R's motion relative to T's, from the two motions of the alignment: x -> transmitted^-1 (reflected (x)). */
static void add_second_motion(struct pairing *p, const struct searching *s, int photo)
{
    const struct photo_motion *m = s->problem->motions ? &s->problem->motions[photo] : NULL;
    struct transform back;
    if (!m || !m->second || !esra_transform_invert(&m->transmitted, &back))
        return;
    struct transform t = esra_transform_compose(&back, &m->reflected);
    esra_pairing_start(p, esra_transform_rescale(&t, s->scale), EXACT);
}

static esra_status search_pair(const struct searching *s, int photo)
{
    struct pairing p = {.context = s->context, .motion = s->problem->motion};
    struct reflection_candidates *list = &s->candidates[photo];
    esra_status status;
    TRY(make_pairing(&p, s, photo, true));
    add_second_motion(&p, s, photo);
    for (int whiten = 0; whiten < 2; whiten++) {
        TRY(esra_pairing_start_peaks(&p, p.by_sign, whiten));
        if (s->remainders)
            TRY(esra_pairing_start_peaks(&p, p.by_median, whiten));
    }
    TRY(esra_pairing_rank(&p, list));
    for (int n = 0; n < list->count; n++)
        list->each[n].transform = esra_transform_rescale(&list->each[n].transform, 1 / s->scale);
done:
    esra_pairing_free(&p);
    return status;
}

static esra_status finish_pair(const struct searching *s, int photo)
{
    struct pairing p = {.context = s->context, .motion = s->problem->motion};
    struct transform motion = esra_transform_rescale(&s->motions[photo], s->scale);
    esra_status status = ESRA_OK;
    if (!s->rough[photo])
        return ESRA_OK;
    TRY(make_pairing(&p, s, photo, false));
    TRY(esra_pairing_finish(&p, &motion));
    s->motions[photo] = esra_transform_rescale(&motion, 1 / s->scale);
done:
    esra_pairing_free(&p);
    return status;
}

/* A job of esra_context_side_by_side(), one for each photo but the reference: the steps of a pair are short and in part
 * serial. */
static esra_status work_on_photo(void *work, int number, struct context *context)
{
    struct searching own = *(const struct searching *)work;
    int photo = number + (number >= own.problem->reference);
    own.context = context;
    return esra_context_stopping(context) ? ESRA_OK
           : own.candidates               ? search_pair(&own, photo)
                                          : finish_pair(&own, photo);
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

/* Of a halved mask: a pixel counts as seen only if all that were averaged into it were. */
static void harden(struct image *mask)
{
    for (size_t n = 0; n < image_pixels(mask); n++)
        mask->data[n] = mask->data[n] > .99f ? 1 : 0;
}

static esra_status make_small(struct searching *s, double most_pixels)
{
    const struct reflection_problem *problem = s->problem;
    struct pyramid_options options = {.most_pixels = most_pixels};
    esra_status status = ESRA_OK;
    for (int n = 0; n < problem->count; n++) {
        TRY(esra_pyramid_create(&s->photos[n], s->context, &problem->photos[n], &options));
        TRY(esra_pyramid_create(&s->masks[n], s->context, &problem->masks[n], &options));
        s->photo_images[n] = s->photos[n].level[0];
        s->mask_images[n] = s->masks[n].level[0];
        harden(&s->mask_images[n]);
    }
    s->scale = s->photos[0].scale;
    if (problem->count >= 3)
        TRY(esra_remainder_by_median(s->context, s->photo_images, s->mask_images, problem->mixing, problem->count,
                                     s->remainders));
done:
    return status;
}

/* Searches or finishes all pairs, at most_pixels at the most. */
static esra_status work_on_all(struct searching *s, double most_pixels)
{
    size_t count = (size_t)s->problem->count;
    esra_status status = ESRA_OK;
    s->photos = esra_allocate(count, sizeof *s->photos);
    s->masks = esra_allocate(count, sizeof *s->masks);
    s->photo_images = esra_allocate(count, sizeof *s->photo_images);
    s->mask_images = esra_allocate(count, sizeof *s->mask_images);
    if (count >= 3)
        s->remainders = esra_allocate(count, sizeof *s->remainders);
    if (!s->photos || !s->masks || !s->photo_images || !s->mask_images || (count >= 3 && !s->remainders))
        TRY(esra_fail_memory(s->context->message));
    TRY(make_small(s, most_pixels));
    if (!esra_context_stopping(s->context))
        TRY(esra_context_side_by_side(s->context, work_on_photo, s, s->problem->count - 1));
done:
    searching_free(s);
    return status;
}

esra_status esra_reflection_find(struct context *context, const struct reflection_problem *problem,
                                 struct reflection_candidates *candidates)
{
    struct searching s = {.problem = problem, .candidates = candidates, .context = context};
    memset(candidates, 0, (size_t)problem->count * sizeof *candidates);
    return work_on_all(&s, REFLECTION_PIXELS);
}

esra_status esra_reflection_finish(struct context *context, const struct reflection_problem *problem, const bool *rough,
                                   struct transform *motions)
{
    struct searching s = {.problem = problem, .rough = rough, .motions = motions, .context = context};
    return work_on_all(&s, REFLECTION_PIXELS_EXACT);
}
