/* pipeline/parallax_layers.c - both layers by depth: the scene by voting, then the reflection's depth from what the
 * scene leaves of the photos, then both together. */
#include "pipeline/parallax.h"

#include "base/memory.h"
#include "gradients/bound.h"
#include "gradients/integrate.h"
#include "ops/extreme.h"
#include "ops/map.h"

/* A step of depth: labels that differ by more than so many within so many pixels of the labels' size. */
#define STEP_LABELS 3
#define STEP_PX     4
/* Nor is what lies this near to a step believed. */
#define STEP_BESIDE_PX 4

#define LEVELS 4

/* The joint solve beside a prior, as measured on two scenes with parallax. E is known well where photos agree, and
 * smoothness would only blur; the reference photo is seen without a map's errors, and counts most. 25 iterations
 * instead of 40 cost T .3 and 1.3 dB: low frequencies are not found yet. */
static const struct joint_settings beside_prior = {
    .lambda_transmitted = 0,
    .lambda_reflected = 3e-4,
    .lambda_expected = .05,
    .robust_scale = .02,
    .edge_scale = .004,
    .negative = 1,
    .reweighings = 3,
    .coarse_effort = 3,
    .iterations = 40,
    .tolerance = 1e-4,
    .black_point = true,
};
#define REFERENCE_CONFIDENCE 10

/* steps = 1 near steps of depth. */
static esra_status find_steps(struct pipeline *p, struct image *steps)
{
    const struct image *labels = &p->parallax->scene.labels;
    struct image high = {0}, low = {0}, scratch = {0};
    esra_status status;
    TRY(esra_image_create(&high, labels->width, labels->height, 1, p->context->message));
    TRY(esra_image_create(&low, labels->width, labels->height, 1, p->context->message));
    TRY(esra_image_create(&scratch, p->width, p->height, 1, p->context->message));
    struct plane room = {scratch.data, labels->width, labels->height, labels->width};
    esra_largest(p->context, image_plane(labels, 0), image_plane(&high, 0), STEP_PX, room);
    esra_smallest(p->context, image_plane(labels, 0), image_plane(&low, 0), STEP_PX, room);
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) {
            size_t n = (size_t)((long long)y * labels->height / p->height) * labels->width +
                       (size_t)((long long)x * labels->width / p->width);
            steps->data[(size_t)y * p->width + x] = high.data[n] - low.data[n] > STEP_LABELS;
        }
    esra_largest(p->context, image_plane(steps, 0), image_plane(steps, 0), STEP_BESIDE_PX, image_plane(&scratch, 0));
done:
    esra_image_free(&high);
    esra_image_free(&low);
    esra_image_free(&scratch);
    return status;
}

esra_status esra_parallax_vote(struct pipeline *p)
{
    struct parallax *x = p->parallax;
    struct image steps = {0}, upper = {0};
    esra_status status = ESRA_OK;
    if (!x->scene.inverse.data || p->alike)
        return ESRA_OK;
    TRY(esra_agreement_find(&x->agreement,
                            &(struct agreement_problem){p->photos, p->reference, p->aligned, p->masks, p->mixing,
                                                        x->scene.guard.data ? &x->scene.guard : NULL},
                            p->context));
    TRY(esra_image_create(&steps, p->width, p->height, 1, p->context->message));
    TRY(esra_image_create(&upper, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&x->voted, p->width, p->height, p->channels, p->context->message));
    TRY(find_steps(p, &steps));
    TRY(esra_bound_find(&(struct bound_problem){p->photos, p->reference, p->aligned, p->masks, p->mixing,
                                                x->agreement.gradients, &steps},
                        &upper, p->context));
    if (!esra_context_stopping(p->context))
        TRY(esra_integrate(x->agreement.gradients, &p->aligned[p->reference], &upper, &x->voted, p->context));
done:
    esra_image_free(&steps);
    esra_image_free(&upper);
    return status;
}

/* What photo i holds beside the scene, in its own frame; nothing where the photo is not aligned. */
static esra_status find_rest(struct pipeline *p, int i, struct image *rest)
{
    size_t pixels = (size_t)p->width * (size_t)p->height;
    struct image mask = {0};
    esra_status status;
    TRY(esra_image_create(rest, p->width, p->height, p->channels, p->context->message));
    if (!p->motions[i].aligned || esra_context_stopping(p->context))
        return ESRA_OK;
    TRY(esra_image_create(&mask, p->width, p->height, 1, p->context->message));
    TRY(esra_parallax_return(p, i, &p->parallax->voted, rest, &mask));
    for (size_t n = 0; n < pixels * (size_t)p->channels; n++)
        rest->data[n] =
            p->seen[i].data[n] + (float)(p->mixing[i] * (p->parallax->offset[i][n / pixels] - (double)rest->data[n]));
done:
    esra_image_free(&mask);
    return status;
}

/* g_i: where the reflection's frame has what photo i reflects at a pixel of the scene. Where the maps do not meet the
 * photo is not asked. */
static esra_status meet(struct pipeline *p, int i)
{
    struct parallax *x = p->parallax;
    struct image map = {0}, met = {0};
    esra_status status;
    TRY(esra_image_create(&map, p->width, p->height, 2, p->context->message));
    TRY(esra_image_create(&met, p->width, p->height, 1, p->context->message));
    TRY(esra_image_create(&x->mirror[i], p->width, p->height, 2, p->context->message));
    esra_camera_map(p->context, &x->camera, i, &x->mirrored.inverse, (struct canvas_offset){0, 0}, &map);
    esra_map_meet(p->context, &x->still[i], &(struct placed_map){&map, 0, 0}, &x->mirror[i], image_plane(&met, 0));
    for (size_t n = 0; i != p->reference && n < (size_t)p->width * (size_t)p->height; n++)
        p->masks[i].data[n] *= met.data[n];
    TRY(esra_parallax_shift(p, &x->mirror[i], &p->mirror[i]));
done:
    esra_image_free(&map);
    esra_image_free(&met);
    return status;
}

esra_status esra_parallax_find_reflection(struct pipeline *p)
{
    struct parallax *x = p->parallax;
    struct image *rests = esra_allocate((size_t)p->photos, sizeof *rests);
    esra_status status = ESRA_OK;
    if (!rests)
        TRY(esra_fail_memory(p->context->message));
    for (int i = 0; x->voted.data && i < p->photos; i++)
        TRY(find_rest(p, i, &rests[i]));
    if (x->voted.data) {
        TRY(esra_depth_reflected(&x->mirrored, p->context, &x->camera, rests, &(struct depth_options){0}));
        for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++)
            TRY(meet(p, i));
        p->reflection_found = !esra_context_stopping(p->context);
    }
done:
    esra_images_free(&rests, p->photos);
    return status;
}

/* With the photos aligned and the reflection's maps known, how they were found is not asked again. */
static void forget_ways(struct pipeline *p)
{
    struct parallax *x = p->parallax;
    for (int i = 0; i < p->photos; i++)
        esra_image_free(&x->still[i]);
    esra_image_free(&x->voted);
    esra_image_free(&x->scene.guard);
    esra_image_free(&x->scene.confidence);
    esra_depth_free(&x->mirrored);
    esra_parallax_forget_roots(p);
}

esra_status esra_parallax_solve_jointly(struct pipeline *p)
{
    struct parallax *x = p->parallax;
    double *confidence = esra_allocate((size_t)p->photos, sizeof *confidence);
    esra_status status = ESRA_OK;
    forget_ways(p);
    if (!confidence)
        TRY(esra_fail_memory(p->context->message));
    for (int i = 0; i < p->photos; i++)
        confidence[i] = i == p->reference ? REFERENCE_CONFIDENCE : 1;
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    struct joint_model model = {.mixing = p->mixing,
                                .reflection_gain = p->reflection_gain,
                                .maps = x->mirror,
                                .confidence = confidence,
                                .expected = x->agreement.gradients};
    if (p->reflection_found && !p->input->gradients) {
        TRY(esra_joint_create(&p->joint, &photos, LEVELS, p->context));
        TRY(esra_joint_solve(p->joint, &model, &beside_prior, 0, &p->joint_info));
        esra_joint_trim(p->joint);
    }
done:
    esra_release(&confidence);
    return status;
}
