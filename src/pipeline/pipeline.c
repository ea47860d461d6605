/* pipeline/pipeline.c - from photos to layers: the steps in order, nothing else. */
#include "pipeline/pipeline.h"

#include "base/memory.h"
#include "base/timer.h"
#include "pipeline/parallax.h"

typedef esra_status step(struct pipeline *p);

/* Runs the steps one after the other, until one fails or the caller has had enough. */
static esra_status run_steps(struct pipeline *p, const char *stage, step *const *steps, int count)
{
    esra_status status = ESRA_OK;
    p->stage = stage;
    for (int n = 0; n < count && status == ESRA_OK && !esra_pipeline_stopping(p, stage); n++)
        status = steps[n](p);
    return status;
}

static step *const first_steps[] = {esra_pipeline_approach, esra_pipeline_align};
static step *const depth_first_steps[] = {esra_pipeline_approach, esra_pipeline_choose};
static step *const motion_steps[] = {esra_pipeline_warp, esra_pipeline_measure, esra_pipeline_compare,
                                     esra_pipeline_find_reflection};
static step *const joint_steps[] = {esra_pipeline_solve_jointly, esra_pipeline_exchange, esra_pipeline_judge};
static step *const choose_steps[] = {esra_pipeline_choose};
static step *const depth_motion_steps[] = {esra_parallax_find_camera,    esra_pipeline_measure, esra_parallax_level,
                                           esra_pipeline_compare_scales, esra_pipeline_compare, esra_parallax_vote,
                                           esra_parallax_find_reflection};
static step *const depth_joint_steps[] = {esra_parallax_solve_jointly};
static step *const judge_steps[] = {esra_pipeline_judge};
static step *const layer_steps[] = {esra_pipeline_extract, esra_pipeline_solve};

#define RUN_STEPS(p, stage, steps) run_steps(p, stage, steps, (int)(sizeof steps / sizeof steps[0]))

/* A yes that the context got, for whichever pipeline, is a yes for its siblings too: their photos may be half-way
 * through a step. */
bool esra_pipeline_stopping(struct pipeline *p, const char *stage)
{
    esra_info info = ESRA_INFO_INIT;
    info.stage = stage;
    info.threads = esra_context_threads(p->context);
    info.seconds = esra_timer_now_s() - p->started_s;
    p->stopped = p->stopped || esra_context_stopping(p->context);
    if (!p->stopped && p->progress)
        p->stopped = p->progress(p->user, &info) != 0;
    return p->stopped;
}

/* What the context asks, so that steps can stop in their midst too. */
static bool enough(void *user)
{
    struct pipeline *p = user;
    return esra_pipeline_stopping(p, p->stage);
}

/* What the caller wants filled stays; of an earlier call's answers, which a run that is stopped would leave, nothing does. */
static void forget_answers(esra_separation *out)
{
    esra_separation blank = ESRA_SEPARATION_INIT;
    blank.struct_size = out->struct_size;
    blank.transmitted = out->transmitted;
    blank.reflected = out->reflected;
    blank.confidence = out->confidence;
    blank.transmitted_motion = out->transmitted_motion;
    blank.reflected_motion = out->reflected_motion;
    blank.mixing = out->mixing;
    blank.reflection_gain = out->reflection_gain;
    blank.facts = out->facts;
    *out = blank;
}

static void begin(struct pipeline *p)
{
    forget_answers(p->output);
    p->stage = "align";
    p->started_s = esra_timer_now_s();
    esra_context_ask(p->context, enough, p);
}

static void end(struct pipeline *p)
{
    esra_context_ask(p->context, NULL, NULL);
}

/* A run that was stopped has nothing to show but the photo. */
static void give_up(struct pipeline *p)
{
    p->output->method = ESRA_METHOD_NONE;
    p->output->info = (esra_info)ESRA_INFO_INIT;
    p->output->info.outcome = ESRA_STOPPED;
}

/* By homographies first, unless it was said or found on small photos that depth is the way. Transforms that were given leave
 * no depth to find. */
static esra_status find_motions(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    p->by_depth = p->input->motion == ESRA_MOTION_DEPTH && !p->input->transmitted;
    if (p->by_depth && p->input->swap)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT,
                         "layers cannot be swapped when they are told apart by depth");
    TRY(p->by_depth ? RUN_STEPS(p, "align", depth_first_steps) : RUN_STEPS(p, "align", first_steps));
    TRY(p->by_depth ? RUN_STEPS(p, "align", depth_motion_steps) : RUN_STEPS(p, "align", motion_steps));
done:
    return status;
}

/* From nothing again, as the way by depth needs it; the judgement stays. */
static esra_status start_over(struct pipeline *p)
{
    struct pipeline fresh = esra_pipeline_sibling(p, p->input);
    fresh.by_depth = true;
    fresh.adds_up = p->adds_up;
    fresh.judgement = p->judgement;
    p->judgement = (struct judgement){0};
    esra_pipeline_free(p);
    *p = fresh;
    return esra_pipeline_load(p);
}

/* The last step by homographies may find that depth is the way. */
static esra_status solve_both(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    if (!p->by_depth) {
        TRY(RUN_STEPS(p, "separate", joint_steps));
        TRY(RUN_STEPS(p, "separate", choose_steps));
        if (!p->by_depth)
            return ESRA_OK;
        TRY(start_over(p));
        TRY(RUN_STEPS(p, "align", depth_motion_steps));
    }
    TRY(RUN_STEPS(p, "separate", depth_joint_steps));
done:
    return status;
}

esra_status esra_pipeline_try_flat(struct pipeline *p)
{
    esra_status status;
    TRY(RUN_STEPS(p, "align", motion_steps));
    TRY(RUN_STEPS(p, "separate", joint_steps));
done:
    return status;
}

esra_status esra_pipeline_try_depth(struct pipeline *p)
{
    esra_status status;
    p->by_depth = true;
    TRY(RUN_STEPS(p, "align", depth_motion_steps));
    TRY(RUN_STEPS(p, "separate", depth_joint_steps));
    TRY(RUN_STEPS(p, "separate", judge_steps));
done:
    return status;
}

static double lap(struct pipeline *p, double *total_s)
{
    double now_s = esra_timer_now_s() - p->started_s, lap_s = now_s - *total_s;
    *total_s = now_s;
    return lap_s;
}

/* Motions are as good as those of a separation: the rounds of the joint solve refine both layers'. Transforms are what is
 * asked for, so that homographies are the way unless depth was named. */
esra_status esra_pipeline_align_only(struct pipeline *p)
{
    esra_photos input = *p->input;
    const esra_photos *callers = p->input;
    esra_status status;
    if (input.motion == ESRA_MOTION_AUTO)
        input.motion = ESRA_MOTION_HOMOGRAPHY;
    p->input = &input;
    p->wants_layers = input.motion != ESRA_MOTION_DEPTH;
    begin(p);
    TRY(esra_pipeline_load(p));
    TRY(find_motions(p));
    if (!p->by_depth)
        TRY(RUN_STEPS(p, "align", joint_steps));
    p->output->align_s = lap(p, &p->output->total_s);
    if (p->stopped) {
        give_up(p);
    } else {
        TRY(esra_pipeline_inspect(p));
        esra_pipeline_decide(p);
    }
    esra_pipeline_tell(p);
done:
    p->input = callers;
    end(p);
    return status;
}

esra_status esra_pipeline_run(struct pipeline *p)
{
    esra_status status;
    esra_separation *out = p->output;
    begin(p);
    p->wants_layers = true;
    TRY(esra_pipeline_load(p));
    TRY(find_motions(p));
    out->align_s = lap(p, &out->total_s);
    TRY(solve_both(p));
    if (!p->stopped)
        TRY(esra_pipeline_inspect(p));
    if (p->stopped)
        give_up(p);
    else
        esra_pipeline_decide(p);
    out->joint_s = lap(p, &out->total_s);
    if (out->method != ESRA_METHOD_NONE)
        TRY(RUN_STEPS(p, "solve", layer_steps));
    if (p->stopped && !p->solved)
        give_up(p);
    out->solve_s = lap(p, &out->total_s);
    TRY(esra_pipeline_return(p));
    lap(p, &out->total_s);
done:
    end(p);
    return status;
}

void esra_pipeline_free(struct pipeline *p)
{
    esra_images_free(&p->aligned, p->photos);
    esra_images_free(&p->masks, p->photos);
    esra_guide_free(&p->guide);
    esra_judgement_free(&p->judgement);
    esra_joint_free(&p->joint);
    esra_images_free(&p->copies, p->photos);
    esra_parallax_free(&p->parallax, p->photos);
    esra_release(&p->seen);
    esra_release(&p->looks);
    esra_release(&p->motions);
    esra_release(&p->still);
    esra_release(&p->mirror);
    esra_release(&p->mixing);
    esra_release(&p->reflection_gain);
}
