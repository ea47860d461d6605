/* pipeline/steps.h - what the steps of a separation hand on to one another, and the two long ones: the search for
 * models on small photos (search.c), and the model delivered, of the photos themselves (deliver.c). */
#ifndef ESRA_PIPELINE_STEPS_H
#define ESRA_PIPELINE_STEPS_H

#include "pipeline/layers.h"
#include "pipeline/verdict.h"

struct pipeline {
    struct run *run;
    struct wishes wishes;
    struct series photos, halved;
    const struct series *small;  /* the photos, or halved ones: models are searched for on these */
    const struct series *target; /* the photos, or for a draft the small ones: layers are delivered of these */
    struct model flat, depth;    /* of the small photos */
    struct model one;            /* that by one surface, should what gave it the way not hold: a start */
    struct model told;           /* that by depth in linear light, while the photos' roots are tried */
    struct model model;          /* that is delivered, of the photos */
    struct evidence evidence;
    struct way_evidence in_roots; /* of `depth`, where it is one of the photos' roots */
    struct image doubt;           /* part of the reflection that the photos leave open: it stays in T */
    struct layers layers;
};

/* The models worth trying, with their evidence. */
esra_status esra_steps_search(struct pipeline *p);

/* The model that predicts best, with the evidence of the layers delivered. */
esra_status esra_steps_deliver(struct pipeline *p);

/* How far layers by depth explain the photos, where that is asked. */
esra_status esra_steps_trust(struct pipeline *p);

/* The trial's model by one surface makes way, and its memory free: which motion R has, gains and camera stay. */
void esra_steps_keep_start(struct pipeline *p);

/* Leave-one-out error and doubt of layers by homographies. */
esra_status esra_steps_judge_flat(struct pipeline *p, struct way_evidence *evidence, const struct model *model);

#endif
