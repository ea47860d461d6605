/* pipeline/plan.h - what a separation will take, before it takes anything. */
#ifndef ESRA_PIPELINE_PLAN_H
#define ESRA_PIPELINE_PLAN_H

#include <esra/esra.h>

struct shape {
    int photos, width, height, channels;
    int threads, engine;
};

/* Fills bytes, stage and core_seconds. */
void esra_pipeline_plan(const struct shape *shape, esra_plan *plan);

/* The same for the paper's problem by itself. */
void esra_solve_plan(const struct shape *shape, esra_plan *plan);

#endif
