/* solve/engine.c - the table of methods. */
#include "solve/engine.h"

engine_run *esra_engine_find(int engine)
{
    static engine_run *const engines[] = {
        [ESRA_ENGINE_PAPER] = esra_paper_run,
    };
    return engines[engine];
}
