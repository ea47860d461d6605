/* pipeline/pipeline.c - from photos to layers: the steps in order, nothing else. */
#include "pipeline/pipeline.h"

#include <math.h>

#include "pipeline/give_back.h"
#include "pipeline/steps.h"

static esra_status load(struct pipeline *p)
{
    struct run *run = p->run;
    bool draft = run->input->effort == ESRA_EFFORT_DRAFT && !run->motions_only && !run->input->gradients;
    esra_status status;
    TRY(esra_series_load(&p->photos, run));
    struct shape shape = {.photos = p->photos.photos,
                          .width = p->photos.width,
                          .height = p->photos.height,
                          .channels = p->photos.channels};
    esra_run_plan(run, &shape, draft);
    TRY(esra_evidence_create(&p->evidence, p->photos.photos, p->photos.reference, run->context->message));
    TRY(esra_evidence_photos(&p->evidence, &p->photos, run));
    p->wishes = esra_wishes_of(run->input, run->motions_only);
    p->small = &p->photos;
    if (!series_is_small(&p->photos)) {
        TRY(esra_series_shrink(&p->halved, &p->photos, run));
        p->small = &p->halved;
    }
    p->target = draft ? p->small : &p->photos;
done:
    return status;
}

/* A run that was stopped has nothing to show but the photo. */
static esra_status give_up(struct pipeline *p)
{
    esra_separation *out = p->run->output;
    out->method = ESRA_METHOD_NONE;
    out->warnings = 0;
    out->exchange_probability = 0;
    if (p->model.kind == MODEL_DEPTH)
        p->model.exchanged = false; /* no layers change their names */
    *out->info = (esra_info)ESRA_INFO_INIT;
    out->info->outcome = ESRA_STOPPED;
    return p->model.photos ? ESRA_OK : esra_model_create(&p->model, MODEL_FLAT, &p->photos, p->run->context->message);
}

static esra_status decide(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    STEP(p->run, STAGE_SEPARATE, esra_evidence_delivered(&p->evidence, &p->model, p->run));
    if (p->run->stopped)
        return give_up(p);
    struct verdict verdict = esra_verdict(&p->evidence, &p->wishes, &pipeline_thresholds);
    p->run->output->method = verdict.method;
    p->run->output->warnings = verdict.warnings;
    p->run->output->exchange_probability = isnan(verdict.exchanged) ? 0 : verdict.exchanged;
    p->model.exchanged = p->model.exchanged || verdict.exchanges;
done:
    return status;
}

static esra_status solve(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    esra_method method = p->run->output->method;
    if (method == ESRA_METHOD_NONE)
        return ESRA_OK;
    esra_run_enter(p->run, PART_SOLVE);
    esra_model_move_in(&p->model, &p->photos, p->run);
    TRY(esra_layers_solve(&p->layers, &p->model, method, &p->doubt, p->run));
    if (!p->layers.solved)
        TRY(give_up(p));
done:
    return status;
}

static void clean_up(struct pipeline *p)
{
    esra_layers_free(&p->layers);
    esra_model_free(&p->flat);
    esra_model_free(&p->depth);
    esra_model_free(&p->one);
    esra_model_free(&p->told);
    esra_model_free(&p->model);
    esra_evidence_free(&p->evidence);
    esra_image_free(&p->doubt);
    esra_series_free(&p->halved);
    esra_series_free(&p->photos);
}

esra_status esra_pipeline_run(struct run *run)
{
    struct pipeline p = {.run = run};
    esra_status status;
    esra_run_begin(run);
    TRY(load(&p));
    TRY(esra_steps_search(&p));
    STEP(run, STAGE_SEPARATE, esra_steps_deliver(&p));
    TRY(decide(&p));
    if (!run->motions_only) {
        TRY(solve(&p));
        esra_run_enter(run, PART_RETURN);
        TRY(esra_give_back_layers(&p.layers, &p.model, p.target, run));
    }
    esra_give_back_facts(&p.model, &p.evidence, run);
done:
    esra_run_end(run);
    clean_up(&p);
    return status;
}
