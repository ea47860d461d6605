/* pipeline/deliver.c - the model that the search chose, of the photos themselves and in their light. */
#include <math.h>

#include "pipeline/deep.h"
#include "pipeline/flat.h"
#include "pipeline/steps.h"

static void move(struct model *to, struct model *from)
{
    *to = *from;
    *from = (struct model){0};
}

/* Layers and exact motions of one size are the start of the next, which is twice as large, up to half of the photos'
 * own. */
static esra_status grow_flat(struct pipeline *p)
{
    struct run *run = p->run;
    struct series larger = {0};
    struct model next = {0};
    esra_status status = ESRA_OK;
    int halvings = scale_halvings(p->target->scale, p->flat.scale);
    while (--halvings > 0 && !esra_run_stopping(run, STAGE_SEPARATE)) {
        TRY(esra_series_halve(&larger, p->target, halvings, run));
        TRY(esra_flat_enlarge(&next, &larger, &p->flat, run));
        esra_series_free(&larger);
        esra_model_free(&p->flat);
        esra_model_park(&next);
        move(&p->flat, &next);
    }
done:
    esra_series_free(&larger);
    esra_model_free(&next);
    return status;
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
        TRY(grow_flat(p));
        TRY(esra_flat_enlarge(&p->model, p->target, &p->flat, p->run));
        esra_model_free(&p->flat);
        if (!p->run->motions_only)
            TRY(esra_steps_judge_flat(p, &p->evidence.delivered, &p->model));
    }
done:
    return status;
}

void esra_steps_keep_start(struct pipeline *p)
{
    esra_model_park(&p->depth);
    esra_model_trim(&p->depth);
    esra_joint_free(&p->depth.joint);
    esra_model_free(&p->one);
    move(&p->one, &p->depth);
}

/* What the trial leaves once a model has begun with its camera and depths: a start for later, or, where it is one of
 * the photos themselves, told in linear light, and only its root is tried, the model that may still be the answer. */
static void put_trial_away(struct pipeline *p, const struct way *way)
{
    bool same = p->small == p->target;
    if (!same && p->model.depth.surface == SURFACE_ONE)
        esra_steps_keep_start(p);
    if (same && way->determined && p->depth.light == LIGHT_LINEAR && p->model.light == LIGHT_ROOT)
        move(&p->told, &p->depth);
    esra_model_free(&p->depth);
}

/* A model of the photos in their light, from what the trial knows ... */
static esra_status make_depth(struct pipeline *p, const struct series *photos, const struct way *way)
{
    struct run *run = p->run;
    struct way_evidence *evidence = &p->evidence.delivered;
    struct model *start = p->depth.photos ? &p->depth : NULL;
    esra_status status;
    TRY(esra_deep_align(&p->model, photos, start, run));
    put_trial_away(p, way);
    if (p->small == p->target)
        STEP(run, STAGE_ALIGN, esra_evidence_alignment(evidence, &p->model, run));
    if (!esra_verdict_noise_alone(evidence, &pipeline_thresholds))
        STEP(run, STAGE_ALIGN, esra_deep_find_reflection(&p->model, photos, true, run));
done:
    return status;
}

/* ... and in the light of the way, ... */
static esra_status make_in_light(struct pipeline *p, const struct way *way)
{
    struct series roots = {0};
    esra_status status = ESRA_OK;
    if (way->light == LIGHT_ROOT)
        TRY(esra_series_root(&roots, p->target, p->run));
    TRY(make_depth(p, way->light == LIGHT_ROOT ? &roots : p->target, way));
done:
    esra_series_free(&roots); /* makes room for the joint solve */
    return status;
}

/* ... of two surfaces, if they tell R in the photos as in the small ones, which their motions show before anything is
 * solved for; else of one, ... */
static esra_status check_pair(struct pipeline *p, struct way *way)
{
    struct run *run = p->run;
    esra_status status = ESRA_OK;
    if (p->model.depth.surface == SURFACE_ONE || p->small == p->target || !isnan(p->evidence.prediction_pair))
        return ESRA_OK;
    STEP(run, STAGE_SEPARATE, esra_evidence_pair(&p->evidence, &p->model, run));
    if (run->stopped || esra_verdict_surface(&p->evidence, &pipeline_thresholds) != SURFACE_ONE)
        return ESRA_OK;
    p->evidence.prediction_root = NAN; /* it was theirs */
    *way = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    p->evidence.delivered = p->evidence.depth;
    move(&p->depth, &p->one);
    esra_deep_take_camera(&p->depth.depth, &p->model.depth);
    esra_model_free(&p->model);
    TRY(make_in_light(p, way));
done:
    return status;
}

/* ... solved and measured. */
static esra_status solve_depth(struct pipeline *p, struct way *way)
{
    esra_status status;
    TRY(make_in_light(p, way));
    STEP(p->run, STAGE_SEPARATE, check_pair(p, way));
    p->model.retained = way->retained;
    if (!p->run->motions_only) {
        STEP(p->run, STAGE_SEPARATE, esra_deep_prepare(&p->model, way->determined, p->run));
        STEP(p->run, STAGE_SEPARATE, esra_deep_solve(&p->model, p->run));
        STEP(p->run, STAGE_SEPARATE, esra_evidence_layers(&p->evidence.delivered, &p->model, false, NULL, p->run));
    }
done:
    return status;
}

/* The small photos' camera in place of the large ones', if these are predicted worse than the small ones were. */
static esra_status check_camera(struct pipeline *p, struct way *way)
{
    if (!p->one.photos || p->model.depth.surface != SURFACE_ONE ||
        esra_verdict_camera_holds(&p->evidence, way, &pipeline_thresholds))
        return ESRA_OK;
    move(&p->depth, &p->one);
    esra_camera_resize(&p->depth.depth.camera, p->target->width, p->target->height);
    esra_model_free(&p->model);
    p->evidence.delivered = p->evidence.depth;
    return solve_depth(p, way);
}

/* The trial's model as it was: its camera and depths come back from the one in the root of light. */
static esra_status take_up_trial(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    esra_deep_take_scene(&p->told.depth, &p->model.depth);
    esra_model_free(&p->model);
    move(&p->model, &p->told);
    p->evidence.delivered = *esra_verdict_depth(&p->evidence, &pipeline_thresholds);
    STEP(p->run, STAGE_SEPARATE, esra_deep_solve(&p->model, p->run));
done:
    return status;
}

/* In the root of light first, where the trial leaves it open; in linear light then, if the photos tell R no better in
 * the root. */
static esra_status deliver_depth(struct pipeline *p, struct way *way)
{
    struct way_evidence *delivered = &p->evidence.delivered;
    enum mirror_kind kind = p->depth.depth.mirror_kind;
    enum surface surface = p->depth.depth.surface;
    esra_status status = ESRA_OK;
    *delivered = p->depth.light == LIGHT_ROOT ? p->in_roots : *esra_verdict_depth(&p->evidence, &pipeline_thresholds);
    bool is_answer = p->depth.light == way->light && way->determined;
    if (p->small == p->target && p->depth.photos && is_answer) {
        move(&p->model, &p->depth);
        STEP(p->run, STAGE_SEPARATE, esra_deep_solve(&p->model, p->run));
        return ESRA_OK;
    }
    TRY(solve_depth(p, way));
    STEP(p->run, STAGE_SEPARATE, check_camera(p, way));
    if (way->light != LIGHT_ROOT || p->run->stopped)
        return ESRA_OK;
    esra_evidence_root(&p->evidence);
    struct way again = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    if (again.light != way->light && p->told.photos)
        return take_up_trial(p);
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

static void leave_flat(struct pipeline *p)
{
    esra_model_free(&p->flat);
    esra_image_free(&p->doubt); /* of its reflection */
}

/* The model that predicts best, of the photos themselves. */
esra_status esra_steps_deliver(struct pipeline *p)
{
    struct way way = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    esra_status status = ESRA_OK;
    esra_run_enter(p->run, PART_DELIVER);
    if (way.kind == MODEL_DEPTH)
        leave_flat(p);
    if (way.kind == MODEL_DEPTH && !way.determined) {
        TRY(esra_steps_trust(p));
        way = esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds);
    }
    if (p->target == &p->photos)
        esra_series_free(&p->halved); /* their models are enough */
    TRY(way.kind == MODEL_FLAT ? deliver_flat(p) : deliver_depth(p, &way));
done:
    return status;
}
