/* tools/esra/progress.h - tells how a run goes, and stops it when the user wants. */
#ifndef ESRA_TOOL_PROGRESS_H
#define ESRA_TOOL_PROGRESS_H

#include <stdbool.h>

#include <esra/esra.h>

#include "exit.h"

struct progress {
    enum { PROGRESS_NONE, PROGRESS_BAR, PROGRESS_JSON } style;
    bool colour;
    double target_gap, first_gap;
    int max_iterations;
    bool drawn;
};

/* mode: "auto" (a bar where stderr is a terminal), "json" or "none"; NULL is auto. False where it is none of these. */
bool progress_begin(struct progress *progress, const char *mode, bool quiet, const esra_settings *settings);

/* An esra_progress; user is a struct progress. Non-zero once a signal has come. */
int progress_tell(void *user, const esra_info *so_far);

/* Clears the bar. */
void progress_end(struct progress *progress);

/* From here to signals_end() SIGINT and SIGTERM ask the run to stop; a second one kills as usual. */
void signals_begin(void);

/* Harmless without a beginning. */
void signals_end(void);

/* True once a signal has come: for an output's `enough`. */
bool signals_seen(void);

/* EXIT_DONE, or EXIT_INTERRUPTED or EXIT_TERMINATED after a signal. */
enum exit_code signals_exit(void);

/* Ends a run that a signal has cut short: says so, and which files are new. `reason`: why, after `placed` of them, the
 * next was not put in place. */
enum exit_code signals_complain(const char *command, int placed, const char *reason);

#endif
