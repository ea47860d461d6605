/* pipeline/pipeline.c - from photos to layers: the steps in order, nothing else. */
#include "pipeline/pipeline.h"

#include <math.h>

#include "evidence/leave_out.h"
#include "pipeline/deep.h"
#include "pipeline/flat.h"
#include "pipeline/give_back.h"

/* What the steps hand on to one another. */
struct pipeline {
    struct run *run;
    struct wishes wishes;
    struct series photos, halved;
    const struct series *small;  /* the photos, or halved ones: models are searched for on these */
    const struct series *target; /* the photos, or for a draft the small ones: layers are delivered of these */
    struct model flat, depth;    /* of the small photos */
    struct model model;          /* that is delivered, of the photos */
    struct evidence evidence;
    struct image doubt; /* part of the reflection that the photos leave open: it stays in T */
    struct layers layers;
};

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

/* At half the size first, where that is less: where homographies predict well it says enough. */
static esra_status judge_flat(struct pipeline *p, struct way_evidence *evidence, const struct model *model)
{
    struct run *run = p->run;
    bool roughly =
        model->photos > 2 && model_halvings(model, LEAVE_OUT_SIDE / 2) > model_halvings(model, LEAVE_OUT_SIDE);
    esra_status status = ESRA_OK;
    if (roughly)
        STEP(run, STAGE_SEPARATE, esra_evidence_layers(evidence, model, true, &p->doubt, run));
    if (!roughly || !esra_verdict_flat_predicts(evidence, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, esra_evidence_layers(evidence, model, false, &p->doubt, run));
done:
    return status;
}

/* Alignment found one layer first; the evidence says whether that is the scene. */
static esra_status name_layers(struct pipeline *p)
{
    struct run *run = p->run;
    esra_status status = ESRA_OK;
    if (!p->flat.two_motions)
        return ESRA_OK;
    TRY(esra_evidence_energy(&p->evidence.flat, &p->flat, run->context));
    if (esra_verdict_exchanges(&p->evidence.flat, &p->wishes))
        TRY(esra_flat_exchange(&p->flat, p->small, run));
done:
    return status;
}

/* Whether depth may be the way, before motions by homographies are exact and their layers are solved for: at a quarter
 * of the size first. */
static esra_status judge_motions(struct pipeline *p)
{
    struct run *run = p->run;
    struct way_evidence *evidence = &p->evidence.flat;
    esra_status status = ESRA_OK;
    if (!esra_verdict_tries_depth(&p->evidence, &p->wishes, &pipeline_thresholds))
        return ESRA_OK;
    STEP(run, STAGE_ALIGN, esra_evidence_motions(evidence, &p->flat, 2, run));
    if (!esra_verdict_flat_predicts(evidence, &pipeline_thresholds))
        STEP(run, STAGE_ALIGN, esra_evidence_motions(evidence, &p->flat, 0, run));
done:
    return status;
}

static esra_status find_flat(struct pipeline *p)
{
    struct run *run = p->run;
    struct way_evidence *evidence = &p->evidence.flat;
    esra_status status;
    esra_run_enter(run, PART_ALIGN);
    TRY(esra_flat_align(&p->flat, p->small, run));
    if (!p->wishes.transforms)
        esra_evidence_residuals(&p->evidence, &p->flat);
    STEP(run, STAGE_ALIGN, esra_evidence_alignment(evidence, &p->flat, run));
    if (esra_verdict_noise_alone(evidence, &pipeline_thresholds))
        return ESRA_OK;
    esra_run_enter(run, PART_REFLECTION);
    STEP(run, STAGE_ALIGN, esra_flat_find_reflection(&p->flat, run));
    TRY(judge_motions(p));
done:
    return status;
}

static esra_status solve_flat(struct pipeline *p)
{
    struct run *run = p->run;
    esra_status status = ESRA_OK;
    esra_run_enter(run, PART_JOINT);
    if (!p->flat.aligned[0].data)
        STEP(run, STAGE_SEPARATE, esra_flat_unpark(&p->flat, p->small, run));
    STEP(run, STAGE_SEPARATE, esra_flat_solve(&p->flat, p->small, NULL, run));
    STEP(run, STAGE_SEPARATE, name_layers(p));
    esra_run_enter(run, PART_JUDGE);
    TRY(judge_flat(p, &p->evidence.flat, &p->flat));
done:
    return status;
}

static esra_status solve_surface(struct pipeline *p, struct model *model, struct model *start)
{
    struct run *run = p->run;
    esra_status status;
    TRY(esra_deep_align(model, p->small, start, run));
    esra_model_free(start);
    STEP(run, STAGE_ALIGN, esra_deep_find_reflection(model, p->small, run));
    STEP(run, STAGE_SEPARATE, esra_deep_solve(model, true, run));
done:
    return status;
}

static esra_status judge_surface(struct pipeline *p, struct way_evidence *evidence, const struct model *model)
{
    esra_status status = ESRA_OK;
    STEP(p->run, STAGE_SEPARATE, esra_evidence_layers(evidence, model, false, NULL, p->run));
    STEP(p->run, STAGE_SEPARATE, esra_evidence_energy(evidence, model, p->run->context));
done:
    return status;
}

/* Two surfaces seen through each other, either as the scene in turn. */
static esra_status try_pair(struct pipeline *p)
{
    struct run *run = p->run;
    struct model farther = {0}, nearer = {0}, start = {0};
    esra_status status;
    TRY(esra_deep_find_pair(&start, p->small, &p->depth, run));
    TRY(solve_surface(p, &farther, &start));
    TRY(judge_surface(p, &p->evidence.farther, &farther));
    esra_deep_exchange_surfaces(&farther);
    TRY(solve_surface(p, &nearer, &farther));
    TRY(judge_surface(p, &p->evidence.nearer, &nearer));
    enum surface surface = esra_verdict_surface(&p->evidence, &pipeline_thresholds);
    if (surface == SURFACE_ONE || run->stopped)
        goto done;
    esra_model_free(&p->depth);
    if (surface == SURFACE_FARTHER) {
        esra_deep_exchange_surfaces(&nearer);
        TRY(solve_surface(p, &p->depth, &nearer));
    } else {
        p->depth = nearer;
        nearer = (struct model){0};
    }
done:
    esra_model_free(&farther);
    esra_model_free(&nearer);
    esra_model_free(&start);
    return status;
}

/* While depth is tried, the flat model's photos, which can be warped again, make room. */
static esra_status try_depth(struct pipeline *p)
{
    struct run *run = p->run;
    struct way_evidence *evidence = &p->evidence.depth;
    esra_status status;
    esra_run_enter(run, PART_TRIAL);
    esra_model_park(&p->flat);
    TRY(esra_deep_align(&p->depth, p->small, NULL, run));
    STEP(run, STAGE_ALIGN, esra_evidence_alignment(evidence, &p->depth, run));
    if (esra_verdict_noise_alone(evidence, &pipeline_thresholds))
        return ESRA_OK;
    STEP(run, STAGE_ALIGN, esra_deep_find_reflection(&p->depth, p->small, run));
    STEP(run, STAGE_SEPARATE, esra_deep_solve(&p->depth, true, run));
    STEP(run, STAGE_SEPARATE, esra_evidence_layers(evidence, &p->depth, false, NULL, run));
    if (esra_verdict_tries_pair(&p->evidence, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, try_pair(p));
done:
    return status;
}

/* The models worth trying, on small photos. Motions by homographies predict almost as well before they are exact: where
 * they do not predict well, depth is tried first, and mostly leaves nothing to decide. */
static esra_status search(struct pipeline *p)
{
    const struct pipeline_thresholds *t = &pipeline_thresholds;
    esra_status status = ESRA_OK;
    bool flat = esra_verdict_tries_flat(&p->wishes);
    if (flat)
        TRY(find_flat(p));
    bool first = !esra_verdict_flat_predicts(&p->evidence.flat, t);
    if (first && esra_verdict_tries_depth(&p->evidence, &p->wishes, t))
        STEP(p->run, STAGE_SEPARATE, try_depth(p));
    if (flat && !esra_verdict_depth_settles(&p->evidence, t))
        STEP(p->run, STAGE_SEPARATE, solve_flat(p));
    if (!first && esra_verdict_tries_depth(&p->evidence, &p->wishes, t))
        STEP(p->run, STAGE_SEPARATE, try_depth(p));
done:
    return status;
}

static void move(struct model *to, struct model *from)
{
    *to = *from;
    *from = (struct model){0};
}

/* A model that is not the one tried is judged itself, so that what is told of the layers is true of those delivered. */
static esra_status deliver_flat(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    esra_model_free(&p->depth);
    p->evidence.delivered = p->evidence.flat;
    if (p->small == p->target) {
        move(&p->model, &p->flat);
        if (!p->model.aligned[0].data)
            STEP(p->run, STAGE_SEPARATE, esra_flat_unpark(&p->model, p->target, p->run));
    } else {
        TRY(esra_flat_enlarge(&p->model, p->target, &p->flat, p->run));
        esra_model_free(&p->flat);
        if (!p->run->motions_only)
            TRY(judge_flat(p, &p->evidence.delivered, &p->model));
    }
done:
    return status;
}

/* A model of the photos in their light, from what the trial knows ... */
static esra_status make_depth(struct pipeline *p, const struct series *photos)
{
    struct run *run = p->run;
    struct way_evidence *evidence = &p->evidence.delivered;
    struct model *start = p->depth.photos ? &p->depth : NULL;
    esra_status status;
    TRY(esra_deep_align(&p->model, photos, start, run));
    esra_model_free(&p->depth);
    if (p->small == p->target)
        STEP(run, STAGE_ALIGN, esra_evidence_alignment(evidence, &p->model, run));
    if (!esra_verdict_noise_alone(evidence, &pipeline_thresholds))
        STEP(run, STAGE_ALIGN, esra_deep_find_reflection(&p->model, photos, run));
done:
    return status;
}

/* ... solved and measured. */
static esra_status solve_depth(struct pipeline *p, const struct way *way)
{
    struct series roots = {0};
    esra_status status = ESRA_OK;
    if (way->light == LIGHT_ROOT)
        TRY(esra_series_root(&roots, p->target, p->run));
    TRY(make_depth(p, way->light == LIGHT_ROOT ? &roots : p->target));
    esra_series_free(&roots); /* makes room for the joint solve */
    if (!p->run->motions_only && !way->hopeless) {
        STEP(p->run, STAGE_SEPARATE, esra_deep_solve(&p->model, way->determined, p->run));
        STEP(p->run, STAGE_SEPARATE, esra_evidence_layers(&p->evidence.delivered, &p->model, false, NULL, p->run));
    }
done:
    esra_series_free(&roots);
    return status;
}

/* Two surfaces have to tell R in the photos as in the small ones; else there is one. */
static esra_status check_pair(struct pipeline *p, struct way *way)
{
    esra_status status = ESRA_OK;
    if (p->model.depth.surface == SURFACE_ONE || p->small == p->target || p->run->stopped)
        return ESRA_OK;
    esra_evidence_pair(&p->evidence);
    if (esra_verdict_surface(&p->evidence, &pipeline_thresholds) != SURFACE_ONE)
        return ESRA_OK;
    *way = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    p->evidence.delivered = p->evidence.depth;
    esra_model_free(&p->model);
    TRY(solve_depth(p, way));
done:
    return status;
}

/* In the root of light first, where the trial leaves it open; in linear light then, if the photos do not tell R in the
 * root. */
static esra_status deliver_depth(struct pipeline *p, struct way *way)
{
    struct way_evidence *delivered = &p->evidence.delivered;
    enum mirror_kind kind = p->depth.depth.mirror_kind;
    enum surface surface = p->depth.depth.surface;
    esra_status status = ESRA_OK;
    esra_model_free(&p->flat);
    esra_image_free(&p->doubt); /* of the flat model's reflection */
    *delivered = *esra_verdict_depth(&p->evidence, &pipeline_thresholds);
    bool is_answer = way->hopeless || (p->depth.light == way->light && way->determined);
    if (p->small == p->target && p->depth.photos && is_answer) {
        move(&p->model, &p->depth);
        return ESRA_OK;
    }
    TRY(solve_depth(p, way));
    STEP(p->run, STAGE_SEPARATE, check_pair(p, way));
    if (way->light != LIGHT_ROOT || p->run->stopped)
        return ESRA_OK;
    esra_evidence_root(&p->evidence);
    struct way again = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    if (again.light != way->light) { /* the same camera and depth; R moves as the trial found */
        esra_model_park(&p->model);
        move(&p->depth, &p->model);
        if (p->depth.depth.surface == surface)
            p->depth.depth.mirror_kind = kind;
        TRY(solve_depth(p, &again));
    }
done:
    return status;
}

/* The model that predicts best, of the photos themselves. */
static esra_status deliver(struct pipeline *p)
{
    struct way way = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    esra_run_enter(p->run, PART_DELIVER);
    if (p->target == &p->photos)
        esra_series_free(&p->halved); /* their models are enough */
    return way.kind == MODEL_FLAT ? deliver_flat(p) : deliver_depth(p, &way);
}

/* A run that was stopped has nothing to show but the photo. */
static esra_status give_up(struct pipeline *p)
{
    esra_separation *out = p->run->output;
    out->method = ESRA_METHOD_NONE;
    out->warnings = 0;
    out->exchange_probability = 0;
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
    TRY(search(&p));
    STEP(run, STAGE_SEPARATE, deliver(&p));
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
