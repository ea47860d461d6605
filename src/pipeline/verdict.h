/* pipeline/verdict.h - what follows from the evidence: pure functions of it, of the caller's wishes and of the
 * thresholds. */
#ifndef ESRA_PIPELINE_VERDICT_H
#define ESRA_PIPELINE_VERDICT_H

#include "pipeline/evidence.h"
#include "pipeline/thresholds.h"

/* What the caller asked for, as far as it bears on a decision. */
struct wishes {
    esra_motion motion;
    esra_light light;
    bool swap;         /* the layers are named the other way round */
    bool transforms;   /* motions are given */
    bool gradients;    /* gradients are given */
    bool motions_only; /* layers are not asked for */
    bool best;         /* depth is tried however well homographies predict */
};

struct way {
    enum model_kind kind;
    enum light light;
    bool determined; /* by depth: the photos tell R; else it is held towards zero */
    double retained; /* by depth: share of R that stays in T, as they do not tell it; 0 where they do */
};

struct verdict {
    struct way way;
    esra_method method;
    unsigned warnings; /* a set of esra_warning */
    bool exchanges;    /* by depth the layers change their names when they are given back */
    double exchanged;  /* how likely they are then named the wrong way round; NaN where that was not measured */
};

struct wishes esra_wishes_of(const esra_photos *input, bool motions_only);

/* Whether homographies are tried at all. */
bool esra_verdict_tries_flat(const struct wishes *wishes);

/* Layers by homographies predict left-out photos so well that depth would not do better. */
bool esra_verdict_flat_predicts(const struct way_evidence *flat, const struct pipeline_thresholds *t);

/* Whether a model by depth is tried in linear light on small photos: to learn whether it predicts better than the flat
 * one and in what light its layers add up. */
bool esra_verdict_tries_depth(const struct evidence *evidence, const struct wishes *wishes,
                              const struct pipeline_thresholds *t);

/* Depth predicts so much better than motions by homographies do before they are exact that these need not be. */
bool esra_verdict_depth_settles(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* Whether, by depth, two surfaces seen through each other are looked for, too: one surface is the way, but R is not
 * told well by it. */
bool esra_verdict_tries_pair(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* Whether it matters how far layers by depth explain the photos: only where these do not tell R. */
bool esra_verdict_asks_trust(const struct way_evidence *depth, const struct pipeline_thresholds *t);

/* Which of two surfaces is the scene, if one is, from the energies of evidence.farther and evidence.nearer: the one
 * whose motions are then judged. */
enum surface esra_verdict_named(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* Which surface the scene is by depth, from evidence.depth, evidence.farther and evidence.nearer. */
enum surface esra_verdict_surface(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* The evidence of the model by depth in which that surface is the scene. */
const struct way_evidence *esra_verdict_depth(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* Aligned photos differ by noise alone: both layers move together, or there is only one. */
bool esra_verdict_noise_alone(const struct way_evidence *way, const struct pipeline_thresholds *t);

/* Whether layers change their names: what was found to be the reflection is the scene. */
bool esra_verdict_exchanges(const struct way_evidence *layers, const struct wishes *wishes);

/* Homographies or depth, and in what light, from evidence.flat and evidence.depth. */
struct way esra_verdict_way(const struct evidence *evidence, const struct wishes *wishes,
                            const struct pipeline_thresholds *t);

/* Whether the photos' roots are tried, too, once the motions are found: where layers by depth may well add up in linear
 * light. */
bool esra_verdict_tries_roots(const struct evidence *evidence, const struct wishes *wishes,
                              const struct pipeline_thresholds *t);

/* Whether motions of R that were found in a part of the photos are followed: where the one that was found in all does
 * not tell it well. */
bool esra_verdict_follows(const struct evidence *evidence, const struct pipeline_thresholds *t);

/* Whether R's motion is looked for again once layers by one surface are solved for: where these are the way, the photos
 * tell R and layers add up, but R could be told better; or where they do not tell R yet, but predict better with it
 * than without, and its motion was followed in the photos rather than searched for before T's camera. */
bool esra_verdict_looks_again(const struct evidence *evidence, const struct wishes *wishes, bool followed,
                              const struct pipeline_thresholds *t);

/* By depth, whether the camera found of large photos is at least about as good as that of the small ones, from
 * evidence.depth and evidence.delivered. */
bool esra_verdict_camera_holds(const struct evidence *evidence, const struct way *way,
                               const struct pipeline_thresholds *t);

/* Everything, once evidence.delivered and the photos' is there, too. */
struct verdict esra_verdict(const struct evidence *evidence, const struct wishes *wishes,
                            const struct pipeline_thresholds *t);

#endif
