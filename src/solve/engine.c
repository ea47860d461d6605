/* solve/engine.c - the table of methods. */
#include "solve/engine.h"

static const struct {
    engine_run *run;
    int iterations;
} engines[] = {
    /* As published. */
    [ESRA_ENGINE_PAPER] = {esra_paper_run, 100},
    /* Ten times what a gap of 1e-3 takes on photographs. */
    [ESRA_ENGINE_FAST] = {esra_fast_run, 2000},
};

engine_run *esra_engine_find(int engine)
{
    return engines[engine].run;
}

int esra_engine_iterations(int engine)
{
    return engines[engine].iterations;
}
