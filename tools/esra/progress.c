/* tools/esra/progress.c - tells how a run goes, and stops it when the user wants. */
#include "progress.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "signals.h"

#define BAR_WIDTH 24

bool progress_begin(struct progress *progress, const char *mode, bool quiet, const esra_settings *settings)
{
    const char *terminal = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    bool smart = isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
    *progress = (struct progress){
        .style = PROGRESS_NONE,
        .colour = !(no_colour && *no_colour),
        .target_gap = settings->gap,
        .max_iterations = settings->max_iterations,
    };
    if (!mode || strcmp(mode, "auto") == 0)
        progress->style = smart && !quiet ? PROGRESS_BAR : PROGRESS_NONE;
    else if (strcmp(mode, "json") == 0)
        progress->style = PROGRESS_JSON;
    else
        return strcmp(mode, "none") == 0;
    return true;
}

/* How much is done: of the iterations, or of the way of the gap on a logarithmic scale, whichever is further. */
static double share_done(const struct progress *progress, const esra_info *info)
{
    double share = progress->max_iterations > 0 ? (double)info->iterations / progress->max_iterations : 0;
    if (progress->target_gap > 0 && info->gap > 0 && progress->first_gap > progress->target_gap)
        share = fmax(share, log(progress->first_gap / info->gap) / log(progress->first_gap / progress->target_gap));
    return fmin(fmax(share, 0), 1);
}

/* ", about 20 s to go", or nothing where that is not known; fives above ten and minutes above two say how rough it is.
 */
static void tell_remaining(const esra_info *info, char *text, size_t size)
{
    double s = info->remaining_seconds;
    *text = '\0';
    if (s >= 120)
        snprintf(text, size, ", about %.0f min to go", s / 60);
    else if (s > 0)
        snprintf(text, size, ", about %.0f s to go", s > 10 ? 5 * ceil(s / 5) : ceil(s));
}

static void draw_bar(struct progress *progress, const esra_info *info)
{
    char full[BAR_WIDTH + 1], remaining[48];
    int filled = (int)(share_done(progress, info) * BAR_WIDTH);
    memset(full, '#', sizeof full);
    const char *on = progress->colour ? "\033[32m" : "", *off = progress->colour ? "\033[0m" : "";
    progress->drawn = true;
    tell_remaining(info, remaining, sizeof remaining);
    signals_clear_line(true);
    if (strcmp(info->stage, "solve") != 0) {
        fprintf(stderr, "\r%s ... %.1f s%s \033[K", info->stage, info->seconds, remaining);
        return;
    }
    fprintf(stderr, "\rsolving [%s%.*s%s%*s] iteration %d  gap %.1e  %.1f s%s \033[K", on, filled, full, off,
            BAR_WIDTH - filled, "", info->iterations, info->gap, info->seconds, remaining);
    fflush(stderr);
}

static void print_line(const esra_info *info)
{
    json_t *line = json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:f, s:f, s:f}", "event", "progress", "stage", info->stage,
                             "iterations", info->iterations, "inner_iterations", (json_int_t)info->inner_iterations,
                             "objective", info->objective, "bound", info->bound, "gap", info->gap, "seconds",
                             info->seconds, "remaining_seconds", info->remaining_seconds);
    char *text = line ? json_text(line, JSON_COMPACT) : NULL;
    if (text)
        fputs(text, stderr); /* in one piece: a signal may end the program between two */
    free(text);
    json_decref(line);
}

int progress_tell(void *user, const esra_info *so_far)
{
    struct progress *progress = user;
    if (progress->first_gap == 0 && strcmp(so_far->stage, "solve") == 0)
        progress->first_gap = so_far->gap;
    if (progress->style == PROGRESS_BAR)
        draw_bar(progress, so_far);
    else if (progress->style == PROGRESS_JSON)
        print_line(so_far);
    return signals_seen();
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
    signals_clear_line(false);
}
