/* pipeline/rounds.c - the joint solve, and rounds of making its motions exact: with the layers known, the transmitted
 * layer can be registered without the reflection in the way, and the other way round. */
#include <math.h>
#include <string.h>

#include "align/refine.h"
#include "base/memory.h"
#include "gradients/mixing.h"
#include "ops/blur.h"
#include "ops/resample.h"
#include "pipeline/pipeline.h"

/* Three rounds were best: motions settle, and gains of the reflection begin to drift after. */
#define ROUNDS 3

/* Gradients are taken after this blur: little of the sharp layer, more of what is left of a subtraction. */
#define BLUR_TRANSMITTED_PX .7
#define BLUR_REFLECTED_PX 1.5
#define BLUR_GAIN_PX 1.5

/* A step of a round that moves a corner further is not believed. */
#define STEP_TRANSMITTED_PX 2
#define STEP_REFLECTED_PX 3
#define STEP_FIRST_PX 10

/* b_i / a_i may not leave this range: both layers are seen through one lens at one exposure. */
#define GAIN_LEAST .8
#define GAIN_MOST 1.25

/* Share of the gradients looked at that must follow it. */
#define GAIN_SUPPORT .1

#define LEVELS 4

struct round {
    int number;          /* from 0 */
    struct image t, r;   /* T; R in the reference's frame */
    struct image seen;   /* what photo i reflects */
    struct image rest;   /* photo i without one of the layers */
    struct image base;   /* what T leaves in the reference photo, smoothed */
    struct image warped; /* what it leaves in photo i, smoothed, in R's frame */
    struct image mask;   /* where the latter is known */
};

static void round_free(struct round *round)
{
    esra_image_free(&round->t);
    esra_image_free(&round->r);
    esra_image_free(&round->seen);
    esra_image_free(&round->rest);
    esra_image_free(&round->base);
    esra_image_free(&round->warped);
    esra_image_free(&round->mask);
}

/* R from its canvas into the frame. */
static esra_status take_reflection(struct pipeline *p, struct round *round)
{
    struct image canvas = {0};
    int left = 0, top = 0;
    esra_status status;
    TRY(esra_joint_reflected(p->joint, &canvas, &left, &top));
    if (!round->r.data)
        TRY(esra_image_create(&round->r, p->width, p->height, p->channels, p->context->message));
    for (int c = 0; c < p->channels; c++)
        for (int y = 0; y < p->height; y++) {
            int row = y - top < 0 ? 0 : y - top >= canvas.height ? canvas.height - 1 : y - top;
            const float *from = plane_row(image_plane(&canvas, c), row);
            float *to = plane_row(image_plane(&round->r, c), y);
            for (int x = 0; x < p->width; x++) {
                int column = x - left < 0 ? 0 : x - left >= canvas.width ? canvas.width - 1 : x - left;
                to[x] = from[column];
            }
        }
done:
    esra_image_free(&canvas);
    return status;
}

static esra_status begin_round(struct pipeline *p, struct round *round)
{
    esra_status status;
    esra_joint_trim(p->joint); /* registration needs about as much, and not at the same time */
    esra_image_free(&round->t);
    TRY(esra_joint_transmitted(p->joint, &round->t));
    TRY(take_reflection(p, round));
    if (round->rest.data)
        return ESRA_OK;
    TRY(esra_image_create(&round->rest, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&round->seen, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&round->base, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&round->warped, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&round->mask, p->width, p->height, 1, p->context->message));
done:
    return status;
}

/* rest = (photo - factor layer)/divisor */
static void subtract(struct image *rest, const struct image *photo, const struct image *layer, double factor,
                     double divisor)
{
    size_t samples = (size_t)rest->width * (size_t)rest->height * (size_t)rest->channels;
    for (size_t n = 0; n < samples; n++)
        rest->data[n] = (float)((photo->data[n] - factor * layer->data[n]) / divisor);
}

/* T against photo i without its reflection: a small step d on top of the motion known, still <- still o d. */
static esra_status refine_transmitted(struct pipeline *p, struct round *round, int i, struct transform *step)
{
    struct refine_options options = {.motion = esra_pipeline_motion(p), .coarsest = 0, .finest = 0, .iterations = 8};
    struct refined refined;
    struct plane weights = image_plane(&p->masks[i], 0);
    struct transform identity = TRANSFORM_IDENTITY;
    esra_status status;
    *step = identity;
    esra_image_free(&round->seen);
    TRY(esra_joint_seen(p->joint, i, &round->seen));
    subtract(&round->rest, &p->aligned[i], &round->seen, 1, p->mixing[i]);
    TRY(esra_refine_images(p->context, &round->t, &round->rest, &weights, BLUR_TRANSMITTED_PX, &options, step,
                           &refined));
    if (!(esra_transform_distance(step, &identity, p->width, p->height) <= STEP_TRANSMITTED_PX))
        *step = identity;
done:
    return status;
}

/* R against photo i without its transmitted layer. */
static esra_status refine_reflected(struct pipeline *p, struct round *round, int i)
{
    /* What was chosen among candidates may be some pixels off: the first round starts from a coarser level. */
    struct refine_options options = {.motion = esra_pipeline_motion(p), .coarsest = round->number == 0 ? 2 : 0, .finest = 0, .iterations = 10};
    double most_px = round->number == 0 ? STEP_FIRST_PX : STEP_REFLECTED_PX;
    struct refined refined;
    struct transform before, after;
    esra_status status = ESRA_OK;
    if (!esra_transform_invert(&p->mirror[i], &before))
        return ESRA_OK;
    after = before;
    subtract(&round->rest, &p->aligned[i], &round->t, p->mixing[i], 1);
    TRY(esra_refine_images(p->context, &round->r, &round->rest, NULL, BLUR_REFLECTED_PX, &options, &after, &refined));
    if (!(esra_transform_distance(&after, &before, p->width, p->height) <= most_px))
        after = before;
    esra_transform_invert(&after, &p->mirror[i]);
done:
    return status;
}

/* out = rest smoothed. */
static void smooth(struct pipeline *p, const struct image *rest, struct image *out)
{
    for (int c = 0; c < p->channels; c++)
        esra_blur(p->context, image_plane(rest, c), image_plane(out, c), BLUR_GAIN_PX);
}

/* b_i by the mode of gradient ratios, as a_i is found, between what T leaves in the reference photo and in photo i, the
 * latter seen from R's frame. Regression on R itself, in the loop with it, drifts. */
static esra_status refine_gain(struct pipeline *p, struct round *round, int i)
{
    struct transform there;
    struct mixing mixing[2];
    struct image pair[2] = {round->base, round->warped}, masks[2] = {p->masks[p->reference], round->mask};
    esra_status status = ESRA_OK;
    if (!esra_transform_invert(&p->mirror[i], &there))
        return ESRA_OK;
    subtract(&round->rest, &p->aligned[i], &round->t, p->mixing[i], 1);
    smooth(p, &round->rest, &round->seen);
    esra_resample(p->context, &round->seen, &there, &round->warped, image_plane(&round->mask, 0));
    TRY(esra_mixing_estimate(p->context, pair, masks, 2, 0, mixing));
    if (mixing[1].support >= GAIN_SUPPORT)
        p->reflection_gain[i] =
            fmin(fmax(mixing[1].coefficient, GAIN_LEAST * p->mixing[i]), GAIN_MOST * p->mixing[i]);
done:
    return status;
}

/* Two photos do not tell the layers apart well enough for it: b_i/a_i came out 2 to 6 % too low, and one exposure makes it
 * 1. */
static esra_status refine_gains(struct pipeline *p, struct round *round)
{
    esra_status status = ESRA_OK;
    if (p->photos == 2)
        return ESRA_OK;
    subtract(&round->rest, &p->aligned[p->reference], &round->t, 1, 1);
    smooth(p, &round->rest, &round->base);
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++)
        if (i != p->reference && p->motions[i].aligned)
            TRY(refine_gain(p, round, i));
done:
    return status;
}

/* What was given stays as it is; it may have been given of what is now the other layer. */
static bool is_given(const struct pipeline *p, bool transmitted)
{
    return (transmitted != p->exchanged ? p->input->transmitted : p->input->reflected) != NULL;
}

static esra_status refine_all(struct pipeline *p, struct round *round)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++) {
        struct transform step;
        if (i == p->reference || !p->motions[i].aligned)
            continue;
        if (!is_given(p, true))
            TRY(refine_transmitted(p, round, i, &step));
        else
            step = TRANSFORM_IDENTITY;
        if (!is_given(p, false))
            TRY(refine_reflected(p, round, i));
        p->still[i] = esra_transform_compose(&p->still[i], &step);
        p->mirror[i] = esra_transform_compose(&p->mirror[i], &step);
    }
done:
    return status;
}

static esra_status solve(struct pipeline *p, bool first)
{
    struct joint_settings settings;
    double *motion = esra_allocate((size_t)p->photos * 9, sizeof *motion);
    if (!motion)
        return esra_fail_memory(p->context->message);
    for (int n = 0; n < 9 * p->photos; n++)
        motion[n] = p->mirror[n / 9].h[n % 9];
    struct joint_model joint_model = {.mixing = p->mixing, .reflection_gain = p->reflection_gain, .motion = motion};
    esra_joint_settings_default(&settings);
    esra_status status = first ? esra_joint_solve(p->joint, &joint_model, &settings, 0, &p->joint_info)
                               : esra_joint_resume(p->joint, &joint_model, &settings, &p->joint_info);
    esra_release(&motion);
    return status;
}

esra_status esra_pipeline_solve_jointly(struct pipeline *p)
{
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    struct round round = {0};
    int rounds = p->is_small ? ROUNDS - 1 : ROUNDS;
    esra_status status = ESRA_OK;
    if (!p->reflection_found || p->input->gradients)
        return ESRA_OK;
    TRY(esra_joint_create(&p->joint, &photos, LEVELS, p->context));
    TRY(solve(p, true));
    for (; p->rounds < rounds && !esra_pipeline_stopping(p, "separate"); p->rounds++) {
        round.number = p->rounds;
        TRY(begin_round(p, &round));
        TRY(refine_gains(p, &round));
        TRY(refine_all(p, &round));
        TRY(esra_pipeline_warp(p));
        TRY(esra_joint_load(p->joint, &photos));
        TRY(solve(p, false));
    }
    esra_joint_trim(p->joint);
done:
    round_free(&round);
    return status;
}

/* R at x of the reference stands at still_i(g_i^-1 x) of photo i. Taken for the scene, it stands still by
 *
 *     still_i <- still_i o g_i^-1,   and then   g_i <- g_i^-1.
 *
 * This comes after the rounds, but for large photos' own: they make both motions exact, and a scene must be aligned better than
 * a reflection. */
static void exchange_motions(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        struct transform back;
        double gain = p->mixing[i];
        if (!esra_transform_invert(&p->mirror[i], &back)) {
            p->motions[i].aligned = false; /* there is no such frame */
            continue;
        }
        p->still[i] = esra_transform_compose(&p->still[i], &back);
        p->mirror[i] = back;
        p->mixing[i] = p->input->mixing ? gain : p->reflection_gain[i];
        p->reflection_gain[i] = gain;
    }
}

esra_status esra_pipeline_exchange(struct pipeline *p)
{
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    esra_status status = ESRA_OK;
    if (!p->input->swap || p->exchanged || !p->reflection_found)
        return ESRA_OK;
    exchange_motions(p);
    p->exchanged = true;
    TRY(esra_pipeline_warp(p));
    if (p->joint && !esra_context_stopping(p->context)) {
        TRY(esra_joint_load(p->joint, &photos));
        TRY(solve(p, true));
        esra_joint_trim(p->joint);
    }
done:
    return status;
}

void esra_pipeline_park(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++) {
        esra_image_free(&p->aligned[i]);
        esra_image_free(&p->masks[i]);
    }
    if (p->is_small)
        esra_joint_free(&p->joint);
}

esra_status esra_pipeline_unpark(struct pipeline *p)
{
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    esra_status status;
    TRY(esra_pipeline_warp(p)); /* which may leave off, when there is enough */
    if (p->joint && !esra_context_stopping(p->context))
        TRY(esra_joint_load(p->joint, &photos));
done:
    return status;
}
