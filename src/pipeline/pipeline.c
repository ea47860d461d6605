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
    for (int n = 0; n < count && status == ESRA_OK && !esra_pipeline_stopping(p, stage); n++)
        status = steps[n](p);
    return status;
}

static step *const motion_steps[] = {esra_pipeline_align, esra_pipeline_approach, esra_pipeline_warp,
                                     esra_pipeline_measure, esra_pipeline_find_reflection};
static step *const joint_steps[] = {esra_pipeline_solve_jointly};
static step *const depth_motion_steps[] = {esra_parallax_find_camera, esra_pipeline_measure, esra_parallax_level,
                                           esra_parallax_vote, esra_parallax_find_reflection};
static step *const depth_joint_steps[] = {esra_parallax_solve_jointly};
static step *const layer_steps[] = {esra_pipeline_extract, esra_pipeline_solve};

#define RUN_STEPS(p, stage, steps) run_steps(p, stage, steps, (int)(sizeof steps / sizeof steps[0]))

bool esra_pipeline_stopping(struct pipeline *p, const char *stage)
{
    esra_info info = ESRA_INFO_INIT;
    info.stage = stage;
    info.threads = esra_pool_threads(p->pool);
    info.seconds = esra_timer_now_s() - p->started_s;
    if (!p->stopped && p->progress)
        p->stopped = p->progress(p->user, &info) != 0;
    return p->stopped;
}

/* A run that was stopped has nothing to show but the photo. */
static void give_up(struct pipeline *p)
{
    p->output->method = ESRA_METHOD_NONE;
    p->output->info = (esra_info)ESRA_INFO_INIT;
    p->output->info.outcome = ESRA_STOPPED;
}

/* Transforms that were given leave no depth to find. */
static bool by_depth(const struct pipeline *p)
{
    return p->input->motion == ESRA_MOTION_DEPTH && !p->input->transmitted;
}

static esra_status find_motions(struct pipeline *p)
{
    if (by_depth(p) && p->input->swap)
        return esra_fail(p->message, ESRA_BAD_ARGUMENT, "layers cannot be swapped when they are told apart by depth");
    return by_depth(p) ? RUN_STEPS(p, "align", depth_motion_steps) : RUN_STEPS(p, "align", motion_steps);
}

static esra_status solve_both(struct pipeline *p)
{
    return by_depth(p) ? RUN_STEPS(p, "separate", depth_joint_steps) : RUN_STEPS(p, "separate", joint_steps);
}

static double lap(struct pipeline *p, double *total_s)
{
    double now_s = esra_timer_now_s() - p->started_s, lap_s = now_s - *total_s;
    *total_s = now_s;
    return lap_s;
}

esra_status esra_pipeline_align_only(struct pipeline *p)
{
    esra_status status;
    p->started_s = esra_timer_now_s();
    TRY(esra_pipeline_load(p));
    TRY(find_motions(p));
    p->output->total_s = 0;
    p->output->align_s = lap(p, &p->output->total_s);
    if (p->stopped) {
        give_up(p);
        return ESRA_OK;
    }
    esra_pipeline_decide(p);
    esra_pipeline_tell(p);
fail:
    return status;
}

esra_status esra_pipeline_run(struct pipeline *p)
{
    esra_status status;
    esra_separation *out = p->output;
    p->started_s = esra_timer_now_s();
    out->total_s = 0;
    TRY(esra_pipeline_load(p));
    TRY(find_motions(p));
    out->align_s = lap(p, &out->total_s);
    TRY(solve_both(p));
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
fail:
    return status;
}

void esra_pipeline_free(struct pipeline *p)
{
    esra_images_free(&p->aligned, p->photos);
    esra_images_free(&p->masks, p->photos);
    esra_guide_free(&p->guide);
    esra_joint_free(&p->joint);
    esra_parallax_free(&p->parallax, p->photos);
    esra_images_free(&p->copies, p->photos);
    esra_release(&p->seen);
    esra_release(&p->motions);
    esra_release(&p->still);
    esra_release(&p->mirror);
    esra_release(&p->mixing);
    esra_release(&p->reflection_gain);
}
