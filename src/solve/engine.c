/* solve/engine.c - the table of methods. */
#include "solve/engine.h"

static const struct {
    engine_run *run;
    engine_room *room;
    int iterations;
    bool holds;
} engines[] = {
    /* As published. */
    [ESRA_ENGINE_PAPER] = {esra_paper_run, esra_paper_room, 100, false},
    /* Ten times what a gap of 1e-3 takes on photographs. */
    [ESRA_ENGINE_FAST] = {esra_fast_run, esra_fast_room, 2000, true},
};

engine_run *esra_engine_find(int engine)
{
    return engines[engine].run;
}

size_t esra_engine_room(int engine, const struct problem *problem, int threads)
{
    return engines[engine].room(problem, threads);
}

bool esra_engine_holds(int engine)
{
    return engines[engine].holds;
}

int esra_engine_iterations(int engine)
{
    return engines[engine].iterations;
}
