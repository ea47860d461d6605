/* solve/solve.c - checks a problem, and lets an engine work on it under a monitor's eyes. */
#include "solve/solve.h"

#include "solve/engine.h"

void esra_solve_memory_free(struct solve_memory *memory)
{
    esra_arena_free(&memory->monitor);
    esra_arena_free(&memory->engine);
}

esra_status esra_solve(struct context *context, const struct solve_task *task, struct solve_memory *memory,
                       esra_info *info)
{
    esra_settings settings = *task->settings;
    struct problem problem;
    esra_status status;
    TRY(esra_problem_check(&problem, task->problem, &task->expected, task->result, settings.lambda, context->message));
    if (settings.max_iterations == 0)
        settings.max_iterations = esra_engine_iterations(settings.engine);
    struct monitor monitor = {
        .problem = &problem,
        .settings = &settings,
        .result = task->result,
        .context = context,
        .progress = task->progress,
        .user = task->user,
    };
    TRY(esra_monitor_begin(&monitor, &memory->monitor));
    TRY(esra_engine_find(settings.engine)(&monitor, &memory->engine));
    esra_monitor_end(&monitor);
    *info = monitor.info;
done:
    return status;
}
