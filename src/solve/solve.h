/* solve/solve.h - a run of the paper's problem: checked, watched, solved by the engine that the settings name. */
#ifndef ESRA_SOLVE_SOLVE_H
#define ESRA_SOLVE_SOLVE_H

#include "base/context.h"
#include "base/memory.h"
#include "solve/problem.h"

/* What a run takes and the next one of the same size uses again. */
struct solve_memory {
    struct arena monitor, engine;
};

void esra_solve_memory_free(struct solve_memory *memory);

struct solve_task {
    const esra_problem *problem;
    const esra_result *result;
    const esra_settings *settings; /* complete and in range */
    esra_progress *progress;       /* may be NULL */
    void *user;
    struct expectation expected; /* where the problem has no gradients; freed by the channel as it is solved */
};

/* Fills the result's images and *info, whose struct_size it leaves alone. */
esra_status esra_solve(struct context *context, const struct solve_task *task, struct solve_memory *memory,
                       esra_info *info);

#endif
