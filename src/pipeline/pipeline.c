/* pipeline/pipeline.c - from photos to layers: the steps in order, nothing else. */
#include "pipeline/pipeline.h"

#include "base/memory.h"
#include "base/timer.h"

/* Alignment of both layers, up to what the transforms say. */
static esra_status find_motion(struct pipeline *p)
{
    esra_status status;
    TRY(esra_pipeline_load(p));
    TRY(esra_pipeline_align(p));
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

esra_status esra_pipeline_align_only(struct pipeline *p)
{
    esra_status status;
    TRY(find_motion(p));
    esra_pipeline_decide(p);
    esra_pipeline_tell(p);
fail:
    return status;
}

esra_status esra_pipeline_run(struct pipeline *p)
{
    esra_status status;
    esra_separation *out = p->output;
    double start_s = esra_timer_now_s();
    TRY(find_motion(p));
    out->align_s = esra_timer_now_s() - start_s;
    TRY(esra_pipeline_solve_jointly(p));
    esra_pipeline_decide(p);
    out->joint_s = esra_timer_now_s() - start_s - out->align_s;
    if (out->method != ESRA_METHOD_NONE)
        TRY(find_layers(p));
    out->solve_s = esra_timer_now_s() - start_s - out->align_s - out->joint_s;
    TRY(esra_pipeline_return(p));
    out->total_s = esra_timer_now_s() - start_s;
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
