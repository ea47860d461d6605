/* align/align.c - the stage: for every photo the two motions that together explain most of the reference's gradients;
 * which of them is the transmitted layer's is decided for all photos together. */
#include "align/align.h"

#include <math.h>
#include <string.h>

#include "align/hypotheses.h"
#include "align/refine.h"
#include "align/thresholds.h"
#include "base/memory.h"

#define ITERATIONS 10

/* Kept for every photo until all are aligned: where in the reference its two motions explain gradient energy
 * (explain.h), at the work level. */
struct pair {
    struct image maps; /* [0] transmitted, [1] reflected */
};

struct aligning {
    struct context *context;
    const struct image *photos;
    int count, reference;
    struct align_options options;
    struct photo_motion *motions;
    struct pair *pairs;
    int begun;                  /* photos of earlier groups, the reference not counted */
    struct view view;           /* of the reference */
    struct explainer explainer; /* of a photo's own copy of this struct */
};

static double sum_of_larger(struct plane a, struct plane b)
{
    double total = 0;
    for (int y = 0; y < a.height; y++) {
        const float *p = plane_row(a, y), *q = plane_row(b, y);
        double sum = 0;
        for (int x = 0; x < a.width; x++)
            sum += p[x] > q[x] ? p[x] : q[x];
        total += sum;
    }
    return total;
}

/* The two hypotheses that explain most together, the better one first; second is -1 where there is only one. */
static double best_two(const struct hypotheses *h, int *first, int *second)
{
    double most = -1;
    *first = 0;
    *second = -1;
    for (int a = 0; a < h->count; a++)
        for (int b = a; b < h->count; b++) {
            double sum = sum_of_larger(image_plane(&h->maps, a), image_plane(&h->maps, b));
            if (sum > most) {
                bool swap = h->each[b].explained.share > h->each[a].explained.share;
                most = sum;
                *first = swap ? b : a;
                *second = a == b ? -1 : swap ? a : b;
            }
        }
    return most;
}

/* Refines h from the work level to the finest, on the pixels that `map` has as explained by it. */
static esra_status finish(struct aligning *a, const struct view *view, struct plane map, struct hypothesis *h)
{
    const struct image *base = &a->view.pyramid.level[0];
    int level = a->view.work_level;
    struct refine_options options = {
        .motion = a->options.motion, .coarsest = level > 0 ? level - 1 : 0, .iterations = ITERATIONS};
    struct image weights;
    struct refined refined;
    struct transform t = h->transform;
    esra_status status;
    TRY(esra_image_create(&weights, base->width, base->height, 1, a->context->message));
    struct plane plane = image_plane(&weights, 0);
    esra_explain_weights(&a->explainer, map, level, plane);
    options.weights = &plane;
    TRY(esra_refine(a->context, &a->view.fields, &view->fields, &options, &t, &refined));
    /* A refinement that went farther than near_px has converged to another motion, and is dropped. */
    if (esra_transform_distance(&t, &h->transform, base->width, base->height) <
        ldexp(align_thresholds.near_px, level)) {
        h->transform = t;
        h->gain = refined.gain;
    }
done:
    esra_image_free(&weights);
    return status;
}

static void copy_map(const struct image *from, int which, const struct image *to, int where)
{
    struct plane source = image_plane(from, which), target = image_plane(to, where);
    memcpy(target.data, source.data, plane_pixels(source) * sizeof *source.data);
}

static struct transform at_photo_scale(const struct aligning *a, const struct hypothesis *h)
{
    return esra_transform_rescale(&h->transform, 1 / a->view.pyramid.scale);
}

/* The photo's two motions among its hypotheses: the better one is called transmitted until associate() has seen all. */
static esra_status choose(struct aligning *a, int photo, const struct view *view, struct hypotheses *h)
{
    struct photo_motion *m = &a->motions[photo];
    struct image *maps = &a->pairs[photo].maps;
    int first, second;
    double both = best_two(h, &first, &second) / (a->explainer.energy + 1e-30);
    esra_status status;
    TRY(esra_image_create(maps, h->maps.width, h->maps.height, 2, a->context->message));
    if (h->count == 0)
        return ESRA_OK;
    struct hypothesis *t = &h->each[first];
    TRY(finish(a, view, image_plane(&h->maps, first), t));
    copy_map(&h->maps, first, maps, 0);
    m->explained = t->explained.share;
    m->residual = t->explained.residual;
    m->overlap = t->explained.overlap;
    m->transmitted = at_photo_scale(a, t);
    if (second < 0 || both - m->explained < align_thresholds.explained_least * (1 - m->explained))
        return ESRA_OK;
    struct hypothesis *r = &h->each[second];
    TRY(finish(a, view, image_plane(&h->maps, second), r));
    copy_map(&h->maps, second, maps, 1);
    m->second = true;
    m->explained_second = r->explained.share;
    m->reflected = at_photo_scale(a, r);
    return ESRA_OK;
done:
    return status;
}

/* A job of esra_context_side_by_side(): much of it is serial, or divides into few tasks. */
static esra_status align_photo(void *work, int number, struct context *context)
{
    struct aligning a = *(const struct aligning *)work;
    int photo = a.begun + number;
    struct view view = {.work_level = 0};
    struct hypotheses hypotheses = {.count = 0};
    esra_status status;
    if (esra_context_stopping(context))
        return ESRA_OK;
    photo += photo >= a.reference;
    a.context = context;
    TRY(esra_explainer_create(&a.explainer, context, &a.view.fields.level[a.view.work_level]));
    TRY(esra_view_create(&view, context, &a.photos[photo], !a.options.stored));
    TRY(esra_hypotheses_find(&hypotheses, context, &a.view, &view, &a.explainer, a.options.motion));
    TRY(choose(&a, photo, &view, &hypotheses));
done:
    esra_hypotheses_free(&hypotheses);
    esra_view_free(&view);
    esra_explainer_free(&a.explainer);
    return status;
}

/* <U_t - U_r, sum>, U the maps of explained energy: positive if the photo's two layers are in the same order as those
 * of the photos summed. */
static double correlate_maps(const struct image *maps, const struct image *sum)
{
    size_t pixels = image_pixels(maps);
    double total = 0;
    for (size_t n = 0; n < pixels; n++)
        total += (double)(maps->data[n] - maps->data[n + pixels]) * sum->data[n];
    return total;
}

static void add_maps(const struct image *maps, struct image *sum)
{
    size_t pixels = image_pixels(maps);
    for (size_t n = 0; n < pixels; n++)
        sum->data[n] += maps->data[n] - maps->data[n + pixels];
}

static void swap_layers(struct photo_motion *m, struct image *maps)
{
    size_t pixels = image_pixels(maps);
    struct transform t = m->transmitted;
    double explained = m->explained;
    m->transmitted = m->reflected;
    m->reflected = t;
    m->explained = m->explained_second;
    m->explained_second = explained;
    for (size_t n = 0; n < pixels; n++) {
        float keep = maps->data[n];
        maps->data[n] = maps->data[n + pixels];
        maps->data[n + pixels] = keep;
    }
}

/* Which of a photo's two motions is which layer's. A pixel of the reference belongs to the same layer whatever photo it
 * is compared with: each photo's motions are swapped where its map U_t - U_r correlates negatively with the sum of
 * those before, beginning with the photo that is explained best. The transmitted layer is the one that explains more in
 * all photos together. Where a photo has one motion alone, that may turn out to be the reflected layer's. */
static esra_status associate(struct aligning *a)
{
    struct image sum = {0};
    int best = -1;
    double balance = 0;
    for (int n = 0; n < a->count; n++)
        if (a->motions[n].second && (best < 0 || a->motions[n].explained > a->motions[best].explained))
            best = n;
    if (best < 0)
        return ESRA_OK;
    esra_status status =
        esra_image_create(&sum, a->pairs[best].maps.width, a->pairs[best].maps.height, 1, a->context->message);
    if (status != ESRA_OK)
        return status;
    add_maps(&a->pairs[best].maps, &sum);
    for (int n = 0; n < a->count; n++) {
        struct photo_motion *m = &a->motions[n];
        if (n != best && m->second) {
            if (correlate_maps(&a->pairs[n].maps, &sum) < 0)
                swap_layers(m, &a->pairs[n].maps);
            add_maps(&a->pairs[n].maps, &sum);
        }
        balance += m->second ? m->explained - m->explained_second : 0;
    }
    for (int n = 0; n < a->count; n++) {
        struct photo_motion *m = &a->motions[n];
        bool lone = !m->second && m->explained > 0;
        /* The sum keeps the sign from before this swap of all photos: hence times balance. */
        if (m->second ? balance < 0 : lone && correlate_maps(&a->pairs[n].maps, &sum) * balance < 0) {
            swap_layers(m, &a->pairs[n].maps);
            m->second = true;
        }
    }
    esra_image_free(&sum);
    return ESRA_OK;
}

static esra_status align_all(struct aligning *a)
{
    esra_status status;
    TRY(esra_view_create(&a->view, a->context, &a->photos[a->reference], !a->options.stored));
    for (; a->begun < a->count - 1; a->begun += ALIGN_BESIDE) {
        int left = a->count - 1 - a->begun;
        TRY(esra_context_side_by_side(a->context, align_photo, a, left < ALIGN_BESIDE ? left : ALIGN_BESIDE));
    }
    TRY(associate(a));
done:
    return status;
}

static const struct photo_motion unmoved = {.transmitted = {{1, 0, 0, 0, 1, 0, 0, 0, 1}},
                                            .reflected = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};

/* Whether the photo is aligned; the identity in place of a transform that is not. */
static void set_aligned(const struct aligning *a, struct photo_motion *m)
{
    const struct image *photo = &a->photos[a->reference];
    m->aligned = m->explained > align_thresholds.explained_least;
    if (!m->aligned)
        m->transmitted = TRANSFORM_IDENTITY;
    if (m->aligned && m->second)
        m->apart_px = esra_transform_distance(&m->transmitted, &m->reflected, photo->width, photo->height);
}

esra_status esra_align(struct context *context, const struct image *photos, int count, int reference,
                       const struct align_options *options, struct photo_motion *motions)
{
    struct aligning a = {.context = context,
                         .photos = photos,
                         .count = count,
                         .reference = reference,
                         .options = *options,
                         .motions = motions};
    esra_status status = ESRA_OK;
    for (int n = 0; n < count; n++)
        motions[n] = unmoved;
    a.pairs = esra_allocate((size_t)count, sizeof *a.pairs);
    if (!a.pairs)
        return esra_fail_memory(context->message);
    status = align_all(&a);
    for (int n = 0; n < count; n++) {
        set_aligned(&a, &motions[n]);
        esra_image_free(&a.pairs[n].maps);
    }
    motions[reference].aligned = true;
    motions[reference].explained = motions[reference].overlap = 1;
    esra_release(&a.pairs);
    esra_view_free(&a.view);
    return status;
}
