/* pipeline/search.c - models of small photos: homographies, depth, two surfaces, as far as the evidence asks for them.
 */
#include "evidence/leave_out.h"
#include "pipeline/deep.h"
#include "pipeline/flat.h"
#include "pipeline/steps.h"

/* At half the size first, where that is less: where homographies predict well it says enough. */
esra_status esra_steps_judge_flat(struct pipeline *p, struct way_evidence *evidence, const struct model *model)
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
    TRY(esra_steps_judge_flat(p, &p->evidence.flat, &p->flat));
done:
    return status;
}

/* `start` is empty afterwards. */
static esra_status make_surface(struct pipeline *p, struct model *model, struct model *start)
{
    struct run *run = p->run;
    esra_status status;
    TRY(esra_deep_align(model, p->small, start, run));
    esra_model_free(start);
    STEP(run, STAGE_ALIGN, esra_deep_find_reflection(model, p->small, false, run));
    STEP(run, STAGE_SEPARATE, esra_deep_prepare(model, true, run));
done:
    return status;
}

static esra_status weigh_surface(struct pipeline *p, struct way_evidence *evidence, struct model *model)
{
    esra_status status = ESRA_OK;
    STEP(p->run, STAGE_SEPARATE, esra_deep_solve(model, p->run));
    STEP(p->run, STAGE_SEPARATE, esra_evidence_energy(evidence, model, p->run->context));
done:
    return status;
}

/* Another motion of R for the same camera and depths, which are `next`'s now: taken if photos left out are predicted
 * better by it. `next` is empty afterwards. */
static esra_status compare_motions(struct pipeline *p, struct model *next)
{
    struct run *run = p->run;
    struct way_evidence evidence = p->evidence.depth;
    esra_status status;
    STEP(run, STAGE_SEPARATE, esra_deep_prepare(next, true, run));
    STEP(run, STAGE_SEPARATE, esra_evidence_layers(&evidence, next, false, NULL, run));
    if (!run->stopped && evidence.prediction_error < p->evidence.depth.prediction_error) {
        p->evidence.depth = evidence;
        esra_model_free(&p->depth);
        p->depth = *next;
        *next = (struct model){0};
    } else {
        esra_deep_take_scene(&p->depth.depth, &next->depth);
    }
done:
    esra_model_free(next);
    return status;
}

/* R may move in a way that was found in some of the photos only. */
static esra_status follow(struct pipeline *p)
{
    struct run *run = p->run;
    struct model next = {0};
    esra_status status;
    TRY(esra_deep_align(&next, p->small, &p->depth, run));
    next.depth.mirror_kind = MIRROR_OPEN;
    STEP(run, STAGE_ALIGN, esra_deep_find_reflection(&next, p->small, true, run));
    TRY(compare_motions(p, &next));
done:
    esra_model_free(&next);
    return status;
}

/* Once layers are solved for, their T leaves less of the scene in the photos than the voted one did, and R's motion can
 * be found better there. */
static esra_status look_again(struct pipeline *p)
{
    struct run *run = p->run;
    struct model next = {0};
    esra_status status;
    TRY(esra_deep_solve(&p->depth, run));
    STEP(run, STAGE_ALIGN, esra_deep_look_again(&next, p->small, &p->depth, run));
    TRY(compare_motions(p, &next));
done:
    esra_model_free(&next);
    return status;
}

esra_status esra_steps_trust(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    if (esra_verdict_asks_trust(&p->evidence.depth, &pipeline_thresholds))
        STEP(p->run, STAGE_SEPARATE, esra_deep_solve(&p->depth, p->run));
    esra_evidence_trust(&p->evidence.depth, &p->depth);
done:
    return status;
}

/* The model by one surface gives way; its kind of motion and its gains stay. In the photos themselves two surfaces may
 * not hold. */
static esra_status keep_as_start(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    if (p->small != p->target)
        TRY(esra_steps_trust(p));
    esra_steps_keep_start(p);
done:
    return status;
}

/* The depths of a surface, and nothing else, as a start for the other. */
static void hand_on(struct model *start, struct model *surface)
{
    *start = (struct model){.width = surface->width, .height = surface->height};
    start->depth.mirror_kind = surface->depth.mirror_kind;
    start->depth.surface = surface->depth.surface;
    esra_deep_take_scene(&start->depth, &surface->depth);
    esra_deep_exchange_surfaces(start);
}

/* The farther surface as the scene, then the nearer, which has the depths afterwards. Photos warped by the farther one
 * stay for take_farther() only beside large photos, where they are little. */
static esra_status make_surfaces(struct pipeline *p, struct model *farther, struct model *nearer)
{
    struct model start = {0};
    esra_status status;
    TRY(esra_deep_find_pair(&start, p->small, &p->depth, p->run));
    TRY(make_surface(p, farther, &start));
    TRY(weigh_surface(p, &p->evidence.farther, farther));
    esra_joint_free(&farther->joint);
    hand_on(&start, farther);
    if (p->small == p->target)
        esra_model_free(farther);
    TRY(make_surface(p, nearer, &start));
    TRY(weigh_surface(p, &p->evidence.nearer, nearer));
done:
    esra_model_free(&start);
    return status;
}

static esra_status take_farther(struct pipeline *p, struct model *farther, struct model *nearer)
{
    struct model start;
    esra_status status = ESRA_OK;
    hand_on(&start, nearer);
    esra_model_free(nearer);
    if (farther->photos)
        esra_deep_take_scene(&farther->depth, &start.depth);
    else
        TRY(make_surface(p, farther, &start));
done:
    esra_model_free(&start);
    return status;
}

/* Two surfaces seen through each other, either as the scene in turn; the one that is by its name is judged. */
static esra_status try_pair(struct pipeline *p)
{
    struct run *run = p->run;
    struct model farther = {0}, nearer = {0};
    esra_status status;
    TRY(make_surfaces(p, &farther, &nearer));
    enum surface named = esra_verdict_named(&p->evidence, &pipeline_thresholds);
    if (named == SURFACE_ONE || run->stopped)
        goto done;
    if (named == SURFACE_FARTHER)
        TRY(take_farther(p, &farther, &nearer));
    struct model *model = named == SURFACE_FARTHER ? &farther : &nearer;
    struct way_evidence *evidence = named == SURFACE_FARTHER ? &p->evidence.farther : &p->evidence.nearer;
    STEP(run, STAGE_SEPARATE, esra_evidence_layers(evidence, model, false, NULL, run));
    if (esra_verdict_surface(&p->evidence, &pipeline_thresholds) == SURFACE_ONE || run->stopped)
        goto done;
    TRY(keep_as_start(p));
    p->depth = *model;
    *model = (struct model){0};
done:
    esra_model_free(&farther);
    esra_model_free(&nearer);
    return status;
}

/* Cameras bend light by curves of their own: in its root layers may add up better, which they do if the photos tell R
 * better there, with the same motions. */
static esra_status try_roots(struct pipeline *p)
{
    struct run *run = p->run;
    struct series roots = {0};
    struct model next = {0};
    esra_status status;
    p->in_roots = *esra_verdict_depth(&p->evidence, &pipeline_thresholds);
    TRY(esra_series_root(&roots, p->small, run));
    TRY(esra_deep_in_roots(&next, &roots, &p->depth, run));
    esra_series_free(&roots);
    STEP(run, STAGE_SEPARATE, esra_deep_prepare(&next, true, run));
    STEP(run, STAGE_SEPARATE, esra_evidence_layers(&p->in_roots, &next, false, NULL, run));
    if (run->stopped)
        goto done;
    p->evidence.prediction_root = p->in_roots.prediction_error / p->in_roots.prediction_alone;
    if (esra_verdict_way(&p->evidence, &p->wishes, &pipeline_thresholds).light == LIGHT_ROOT) {
        esra_model_free(&p->depth);
        p->depth = next;
        next = (struct model){0};
    } else {
        esra_deep_take_scene(&p->depth.depth, &next.depth);
        esra_deep_take_maps(&p->depth, &next);
    }
done:
    esra_series_free(&roots);
    esra_model_free(&next);
    return status;
}

/* The layers are judged by those that are left when a photo is left out: whole ones are solved for where they are the
 * answer. While depth is tried, the flat model's photos, which can be warped again, make room. */
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
    STEP(run, STAGE_ALIGN, esra_deep_find_reflection(&p->depth, p->small, false, run));
    STEP(run, STAGE_SEPARATE, esra_deep_prepare(&p->depth, true, run));
    STEP(run, STAGE_SEPARATE, esra_evidence_layers(evidence, &p->depth, false, NULL, run));
    if (p->depth.depth.in_part && esra_verdict_follows(&p->evidence, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, follow(p));
    bool followed = p->depth.depth.mirror_kind != MIRROR_SHARED;
    if (esra_verdict_looks_again(&p->evidence, &p->wishes, followed, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, look_again(p));
    if (esra_verdict_tries_pair(&p->evidence, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, try_pair(p));
    if (esra_verdict_tries_roots(&p->evidence, &p->wishes, &pipeline_thresholds))
        STEP(run, STAGE_SEPARATE, try_roots(p));
done:
    return status;
}

/* The models worth trying, on small photos. Motions by homographies predict almost as well before they are exact: where
 * they do not predict well, depth is tried first, and mostly leaves nothing to decide. */
esra_status esra_steps_search(struct pipeline *p)
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
