/* tools/esra/signals.h - SIGINT and SIGTERM: whoever sends one does not wait, and nothing is left half-way. */
#ifndef ESRA_TOOL_SIGNALS_H
#define ESRA_TOOL_SIGNALS_H

#include <stdbool.h>

#include "exit.h"
#include "io/output.h"

/* To be called at the start of a program or child: a signal then ends it at once, with its exit code and a message. */
void signals_prepare(const char *command);

/* From here on the first signal is only recorded, for signals_seen(). Another one at least half a second later kills as
 * usual; one that comes sooner may be the same sent twice, as timeout(1) does. */
void signals_begin(void);

/* For long work whose partial result is useless: until the next signals_begin() a signal, also one already recorded,
 * ends the program inside the handler, which removes the temporaries of `outputs` and `folder` (or NULL). All of them
 * must stay unchanged until then. */
void signals_end_at_once(const struct output *outputs, int count, const char *folder);

/* Whether a progress bar is on the terminal, to be cleared before the last message. */
void signals_clear_line(bool drawn);

/* True once a signal has come; serves as an output's `enough`. */
bool signals_seen(void);

/* EXIT_DONE, or EXIT_INTERRUPTED or EXIT_TERMINATED after a signal. */
enum exit_code signals_exit(void);

/* Ends a run that a signal has cut short: says so, and which files are new. `reason`: why, after `placed` of them, the
 * next was not put in place. */
enum exit_code signals_complain(const char *command, int placed, const char *reason);

#endif
