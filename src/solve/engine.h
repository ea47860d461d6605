/* solve/engine.h - the methods that solve a problem, behind one signature. */
#ifndef ESRA_SOLVE_ENGINE_H
#define ESRA_SOLVE_ENGINE_H

#include "solve/monitor.h"

/* Iterates until the monitor says stop. All memory is taken from the arena before the first iteration. */
typedef esra_status engine_run(struct monitor *monitor, struct arena *arena);

/* The method of an esra_engine that passed esra_settings_check(). */
engine_run *esra_engine_find(int engine);

/* Bytes that it takes for a problem, of which only the sizes and whether there are weights are looked at. */
size_t esra_engine_room(int engine, const struct problem *problem, int threads);

/* Whether it has a copy of all it was given of a channel before it writes the channel's layers, which may then take the
 * place of the mixtures. */
bool esra_engine_holds(int engine);

/* How many iterations it is given where the caller does not say. */
int esra_engine_iterations(int engine);

engine_run esra_paper_run;
engine_run esra_fast_run;

typedef size_t engine_room(const struct problem *problem, int threads);
engine_room esra_paper_room;
engine_room esra_fast_room;

#endif
