/* pipeline/choose.c - homographies or depth: both ways are tried on the same photos, and each has to predict photos that
 * it has not seen. */
#include "base/memory.h"
#include "pipeline/parallax.h"

/* Errors of prediction, by depth over by homographies: below the first depth is the way, above the second it is not.
 * Between them both motions are about right, and what counts is how much of the photos each explains: depth, whose T is
 * held to the gradients that the photos agree on, may explain a little less. Scenes with depth lay at .2 to 1.5, scenes of
 * flat layers at 1.8 to 6, but for those whose reflection hardly shows and noisy ones of three photos, at .9 to 1. */
#define CLEARLY_BETTER .85
#define CLEARLY_WORSE  1.65
#define TRUST_SLACK    .05

/* Tracks that homographies leave farther off than this many times what the camera leaves show parallax. Where none is seen
 * depth has less to gain, and less is believed: photographs then lay at -.01 and better, flat scenes for which depth was
 * 2 and 3 dB worse at -.05 and -.06. */
#define PARALLAX_SEEN     2
#define TRUST_SLACK_FLAT .03

/* Below this error of prediction, over that of the photo most alike, layers add up in linear light: scenes that were made so
 * lay at .36 and .50, photographs whose layers were better in the root of light at .70 and 1.09. */
#define ADDS_UP .6

/* There are photos enough for a judgement, and nobody has said which way; or depth was asked for, and the light is in
 * question. */
static bool open_question(const struct pipeline *p)
{
    const esra_photos *input = p->input;
    return p->wants_layers && !p->approached && p->photos > 2 && p->photos <= AGREEMENT_PHOTOS_MOST && !p->alike &&
           !input->transmitted && !input->gradients &&
           (p->by_depth || (input->motion == ESRA_MOTION_AUTO && !input->swap));
}

struct pipeline esra_pipeline_sibling(const struct pipeline *p, const esra_photos *input)
{
    return (struct pipeline){.input = input,
                             .settings = p->settings,
                             .output = p->output,
                             .context = p->context,
                             .solver = p->solver,
                             .progress = p->progress,
                             .user = p->user,
                             .unwanted = p->unwanted,
                             .stage = p->stage,
                             .started_s = p->started_s,
                             .wants_layers = p->wants_layers};
}

/* Photos that are not aligned see nothing, and are not asked. */
esra_status esra_pipeline_judge(struct pipeline *p)
{
    struct joint_photos photos = {p->photos, p->aligned, p->masks};
    esra_status status = ESRA_OK;
    if (!p->joint || p->approached)
        return ESRA_OK;
    size_t m = (size_t)p->photos;
    double *motion = esra_allocate(9 * m, sizeof *motion), *confidence = esra_allocate(m, sizeof *confidence);
    if (!motion || !confidence)
        TRY(esra_fail_memory(p->context->message));
    for (int n = 0; n < 9 * p->photos; n++)
        motion[n] = p->mirror[n / 9].h[n % 9];
    for (int i = 0; i < p->photos; i++)
        confidence[i] = p->motions[i].aligned;
    struct joint_model model = {.mixing = p->mixing,
                                .reflection_gain = p->reflection_gain,
                                .motion = p->parallax ? NULL : motion,
                                .maps = p->parallax ? p->parallax->mirror : NULL,
                                .confidence = confidence};
    TRY(esra_judge(&p->judgement, &photos, &model, p->reference, p->context));
done:
    esra_release(&motion);
    esra_release(&confidence);
    return status;
}

static double trust_slack(const struct camera *camera)
{
    return camera->parallax_px > PARALLAX_SEEN * camera->error_px ? TRUST_SLACK : TRUST_SLACK_FLAT;
}

static bool depth_wins(const struct pipeline *depth, const struct pipeline *flat)
{
    if (!depth->judgement.judged)
        return false;
    if (!flat->judgement.judged)
        return true;
    double ratio = depth->judgement.error / flat->judgement.error;
    double slack = trust_slack(&depth->parallax->camera);
    return ratio < CLEARLY_BETTER ||
           (ratio < CLEARLY_WORSE && depth->joint_info.trusted > flat->joint_info.trusted - slack);
}

void esra_pipeline_take_gains(struct pipeline *to, const struct pipeline *from)
{
    for (int i = 0; i < to->photos; i++) {
        to->mixing[i] = from->mixing[i];
        to->reflection_gain[i] = from->reflection_gain[i];
    }
    to->measured = from->measured;
}

/* What is kept of a trial: how well it predicts. */
static void take_numbers(struct judgement *to, const struct judgement *from)
{
    esra_judgement_free(to);
    *to = *from;
    to->doubt = (struct image){0};
}

esra_status esra_pipeline_choose(struct pipeline *p)
{
    struct pipeline trial = esra_pipeline_sibling(p, p->input);
    esra_status status = ESRA_OK;
    if (!open_question(p))
        return ESRA_OK;
    trial.on_trial = true;
    esra_pipeline_park(p);
    TRY(esra_pipeline_load(&trial));
    TRY(esra_pipeline_try_depth(&trial));
    p->stopped = p->stopped || trial.stopped;
    p->oddities |= trial.oddities & ESRA_WARN_LENS;
    p->alike = trial.alike; /* what was left of flat motions is parallax, and there is no reflection */
    p->by_depth = p->by_depth || (!p->stopped && depth_wins(&trial, p));
    if (p->by_depth) {
        if (p->is_small)
            esra_pipeline_take_gains(p, &trial);
        take_numbers(&p->judgement, &trial.judgement);
        p->adds_up = p->judgement.error < ADDS_UP * p->judgement.baseline;
    }
    esra_pipeline_free(&trial);
    if (!p->by_depth && !p->is_small && !p->stopped)
        TRY(esra_pipeline_unpark(p));
done:
    esra_pipeline_free(&trial);
    return status;
}
