/* tools/esra/progress.h - tells how a run goes, and stops it when the user wants. */
#ifndef ESRA_TOOL_PROGRESS_H
#define ESRA_TOOL_PROGRESS_H

#include <stdbool.h>

#include <esra/esra.h>

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

#endif
