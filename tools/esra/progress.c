/* tools/esra/progress.c - tells how a run goes, and stops it when the user wants. */
#include "progress.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BAR_WIDTH 24

/* Signal handlers can reach nothing else. */
static volatile sig_atomic_t signal_seen;

static const int signals[] = {SIGINT, SIGTERM};
static struct sigaction before[sizeof signals / sizeof signals[0]];
static bool watching;

static void on_signal(int number)
{
    signal_seen = number;
}

void signals_begin(void)
{
    /* SA_RESETHAND: whoever asks twice means it. */
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    signal_seen = 0;
    watching = true;
    for (size_t n = 0; n < sizeof signals / sizeof signals[0]; n++) {
        sigaction(signals[n], NULL, &before[n]);
        /* Whoever started us with the signal ignored (nohup, a shell's background) wants it to stay so. */
        if (before[n].sa_handler != SIG_IGN)
            sigaction(signals[n], &action, NULL);
    }
}

void signals_end(void)
{
    for (size_t n = 0; watching && n < sizeof signals / sizeof signals[0]; n++)
        sigaction(signals[n], &before[n], NULL);
    watching = false;
}

bool signals_seen(void)
{
    return signal_seen != 0;
}

enum exit_code signals_exit(void)
{
    return signal_seen == SIGINT ? EXIT_INTERRUPTED : signal_seen == SIGTERM ? EXIT_TERMINATED : EXIT_DONE;
}

enum exit_code signals_complain(const char *command, int placed, const char *reason)
{
    if (placed == 0)
        return complain(signals_exit(), command, "interrupted; nothing was written");
    return complain(signals_exit(), command, "interrupted, and %s; some files are new, the others as they were", reason);
}

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

static void draw_bar(struct progress *progress, const esra_info *info)
{
    char full[BAR_WIDTH + 1];
    int filled = (int)(share_done(progress, info) * BAR_WIDTH);
    memset(full, '#', sizeof full);
    const char *on = progress->colour ? "\033[32m" : "", *off = progress->colour ? "\033[0m" : "";
    progress->drawn = true;
    if (strcmp(info->stage, "solve") != 0) {
        fprintf(stderr, "\r%s ... %.1f s \033[K", info->stage, info->seconds);
        return;
    }
    fprintf(stderr, "\rsolving [%s%.*s%s%*s] iteration %d  gap %.1e  %.1f s \033[K", on, filled, full, off,
            BAR_WIDTH - filled, "", info->iterations, info->gap, info->seconds);
    fflush(stderr);
}

static void print_line(const esra_info *info)
{
    json_t *line = json_pack("{s:s, s:s, s:i, s:I, s:f, s:f, s:f, s:f}", "event", "progress", "stage", info->stage,
                             "iterations", info->iterations, "inner_iterations", (json_int_t)info->inner_iterations,
                             "objective", info->objective, "bound", info->bound, "gap", info->gap, "seconds",
                             info->seconds);
    if (line && json_dumpf(line, stderr, JSON_COMPACT) == 0)
        fputc('\n', stderr);
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
    return signal_seen != 0;
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
