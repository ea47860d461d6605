/* pipeline/pipeline.c - from photos to layers: the steps in order, nothing else. */
#include "pipeline/pipeline.h"

#include "base/memory.h"
#include "base/timer.h"

bool esra_pipeline_stop(struct pipeline *p, const char *stage)
{
    esra_info info = ESRA_INFO_INIT;
    info.stage = stage;
    info.seconds = esra_timer_now_s() - p->start_s;
    p->stopped = p->stopped || (p->progress && p->progress(p->user, &info));
    return p->stopped;
}

/* Alignment of both layers, up to what the transforms say. */
static esra_status find_motion(struct pipeline *p)
{
    esra_status status;
    p->start_s = esra_timer_now_s();
    TRY(esra_pipeline_load(p));
    if (esra_pipeline_stop(p, "align"))
        return ESRA_OK;
    TRY(esra_pipeline_align(p));
    if (esra_pipeline_stop(p, "align"))
        return ESRA_OK;
    TRY(esra_pipeline_warp(p));
    TRY(esra_pipeline_measure(p));
    TRY(esra_pipeline_find_reflection(p));
fail:
    return status;
}

static esra_status find_layers(struct pipeline *p)
{
    esra_status status;
    TRY(esra_pipeline_extract(p));
    TRY(esra_pipeline_solve(p));
fail:
    return status;
}

/* Stopped before there are layers: the photo is the best so far. */
static void give_up(esra_separation *out)
{
    out->method = ESRA_METHOD_NONE;
    out->info.outcome = ESRA_STOPPED;
}

esra_status esra_pipeline_align_only(struct pipeline *p)
{
    esra_status status;
    TRY(find_motion(p));
    if (p->stopped)
        give_up(p->output);
    else
        esra_pipeline_decide(p);
    esra_pipeline_tell(p);
fail:
    return status;
}

esra_status esra_pipeline_run(struct pipeline *p)
{
    esra_status status;
    esra_separation *out = p->output;
    TRY(find_motion(p));
    out->align_s = esra_timer_now_s() - p->start_s;
    if (p->stopped) {
        give_up(out);
    } else {
        TRY(esra_pipeline_solve_jointly(p));
        esra_pipeline_decide(p);
    }
    out->joint_s = esra_timer_now_s() - p->start_s - out->align_s;
    if (out->method != ESRA_METHOD_NONE)
        TRY(find_layers(p));
    out->solve_s = esra_timer_now_s() - p->start_s - out->align_s - out->joint_s;
    TRY(esra_pipeline_return(p));
    out->total_s = esra_timer_now_s() - p->start_s;
fail:
    return status;
}

static void free_images(struct image **images, int count)
{
    for (int n = 0; *images && n < count; n++)
        esra_image_free(&(*images)[n]);
    esra_release(images);
}

void esra_pipeline_free(struct pipeline *p)
{
    free_images(&p->aligned, p->photos);
    free_images(&p->masks, p->photos);
    esra_guide_free(&p->guide);
    esra_joint_free(&p->joint);
    free_images(&p->copies, p->photos);
    esra_release(&p->seen);
    esra_release(&p->motions);
    esra_release(&p->still);
    esra_release(&p->mirror);
    esra_release(&p->mixing);
    esra_release(&p->reflection_gain);
}
