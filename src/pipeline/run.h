/* pipeline/run.h - one call of the library: what was asked for, where the answer goes, and whether it is still wanted.
 */
#ifndef ESRA_PIPELINE_RUN_H
#define ESRA_PIPELINE_RUN_H

#include <stdbool.h>

#include "base/context.h"
#include "pipeline/plan.h"
#include "solve/solve.h"

/* What is being done, as the callback is told. */
enum stage { STAGE_ALIGN, STAGE_SEPARATE, STAGE_SOLVE, STAGE_RETURN, STAGES };

struct run {
    const esra_photos *input;
    const esra_settings *settings; /* complete and in range */
    esra_separation *output;
    struct context *context;
    struct solve_memory *memory;
    esra_progress *progress; /* may be NULL */
    void *user;
    const bool *unwanted; /* the callback has said that it does not want the layers either */
    bool motions_only;    /* layers are not asked for: all is alignment */
    bool stopped;         /* the callback has had enough: no step begins any more */
    enum stage stage;
    double started_s, asked_s; /* on the timer: the beginning, and the last question */
    double spent_s[STAGES];

    enum part part;        /* at work, */
    double part_s;         /* begun then, on the timer */
    double planned[PARTS]; /* core seconds; none of a part that has ended or was left out */
    double planned_all, planned_done;
};

/* Tells the callback what is being done. True once it has had enough; it is not called again then. Steps that last ask
 * between their parts, and esra_context_stopping() asks through this. */
bool esra_run_stopping(struct run *run, enum stage stage);

/* Left out once the callback has had enough. */
#define STEP(run, stage, call)                                                                                         \
    do {                                                                                                               \
        if (!esra_run_stopping(run, stage))                                                                            \
            TRY(call);                                                                                                 \
    } while (0)

void esra_run_begin(struct run *run);

/* Where the photos' size is known: what they take. */
void esra_run_plan(struct run *run, const struct shape *shape, bool draft);

/* A part begins; those before it have ended or are left out. */
void esra_run_enter(struct run *run, enum part part);

/* Seconds to go; 0 where the size is not known yet. */
double esra_run_remaining(const struct run *run);

/* Tells the seconds of each stage. */
void esra_run_end(struct run *run);

#endif
