/* pipeline/plan.h - what a separation will take, before it takes anything. */
#ifndef ESRA_PIPELINE_PLAN_H
#define ESRA_PIPELINE_PLAN_H

#include <stdbool.h>

#include <esra/esra.h>

struct shape {
    int photos, width, height, channels;
    int threads, engine;
};

/* The work of a separation in the order it is done. A part may be left out: which way will be gone nobody knows. */
enum part {
    PART_LOAD,
    PART_ALIGN,
    PART_REFLECTION,
    PART_TRIAL,
    PART_JOINT,
    PART_JUDGE,
    PART_DELIVER,
    PART_SOLVE,
    PART_RETURN,
    PARTS
};

/* Seconds of one core for each part; draft: layers are made of small photos. */
void esra_plan_parts(const struct shape *shape, bool draft, double core_s[PARTS]);

/* Fills bytes, stage and core_seconds. */
void esra_pipeline_plan(const struct shape *shape, esra_plan *plan);

/* The same for the paper's problem by itself. */
void esra_solve_plan(const struct shape *shape, esra_plan *plan);

#endif
