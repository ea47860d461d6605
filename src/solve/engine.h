/* solve/engine.h - the methods that solve a problem, behind one signature. */
#ifndef ESRA_SOLVE_ENGINE_H
#define ESRA_SOLVE_ENGINE_H

#include "solve/monitor.h"

/* Iterates until the monitor says stop. All memory is taken from the arena before the first iteration. */
typedef esra_status engine_run(struct monitor *monitor, struct arena *arena, struct message *message);

/* The method of an esra_engine that passed esra_settings_check(). */
engine_run *esra_engine_find(int engine);

/* How many iterations it is given where the caller does not say. */
int esra_engine_iterations(int engine);

engine_run esra_paper_run;
engine_run esra_fast_run;

#endif
