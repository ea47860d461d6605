/* tools/esra/signals.h - SIGINT and SIGTERM: whoever sends one does not wait, and nothing is left half-way. */
#ifndef ESRA_TOOL_SIGNALS_H
#define ESRA_TOOL_SIGNALS_H

#include <stdbool.h>

#include "exit.h"
#include "io/output.h"

/* From a program's or a child's start a signal ends it at once, with its exit code and a word in the name of `command`. */
void signals_prepare(const char *command);

/* From here on a signal asks the run to stop, and is heard by who calls signals_seen(). One that comes half a second and
 * more after the first kills as usual; sooner, it may be the same one sent twice, as timeout(1) does. */
void signals_begin(void);

/* Work that may last, and of which nobody wants the half: until the next signals_begin() a signal, or one that has come
 * already, ends the program at once. Outputs that were begun are taken away, and the folder that was made for them (or
 * NULL); all must stay as they are till then. */
void signals_end_at_once(const struct output *outputs, int count, const char *folder);

/* Whether a line of the terminal is drawn upon, and to be cleared before a last word. */
void signals_clear_line(bool drawn);

/* True once a signal has come: for an output's `enough`. */
bool signals_seen(void);

/* EXIT_DONE, or EXIT_INTERRUPTED or EXIT_TERMINATED after a signal. */
enum exit_code signals_exit(void);

/* Ends a run that a signal has cut short: says so, and which files are new. `reason`: why, after `placed` of them, the
 * next was not put in place. */
enum exit_code signals_complain(const char *command, int placed, const char *reason);

#endif
