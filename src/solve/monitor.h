/* solve/monitor.h - watches a run: certifies iterates, keeps the best of them in the caller's arrays, tells the caller
 * how it goes, and says when to stop. Engines iterate; everything else about a run is here. */
#ifndef ESRA_SOLVE_MONITOR_H
#define ESRA_SOLVE_MONITOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/memory.h"
#include "solve/certificate.h"

#define ALL_CHANNELS (-1)

struct monitor {
    const struct problem *problem;
    const esra_settings *settings;
    const esra_result *result;
    struct context *context;
    esra_progress *progress; /* may be NULL */
    void *user;

    esra_info info;
    double start_s, next_poll_s;
    atomic_bool stop;
    bool cut_short;      /* a channel's share of the time limit was over before it was solved */
    int most_iterations; /* of any channel */
    int channel;         /* the one being iterated, or ALL_CHANNELS */
    int milestone;       /* the last iteration at which its progress was judged, and the gap there */
    double milestone_gap;

    /* In the arena. */
    struct certificate *best;   /* [channels]: least F, greatest D so far */
    bool *kept;                 /* [channels]: the layers of the least F are in the caller's arrays */
    struct certificate *shares; /* [row blocks of one channel] */
    double *scratch;            /* [threads] x esra_certificate_scratch() */
};

/* Lays out and begins. The arena outlives the monitor. */
esra_status esra_monitor_begin(struct monitor *monitor, struct arena *arena);

/* Bytes that this takes for a problem, of which only the sizes are looked at. */
size_t esra_monitor_room(const struct problem *problem, int threads);

/* For engines that solve one channel after the other: `channel` is solved next. Others need not call it. */
void esra_monitor_turn(struct monitor *monitor, int channel);

/* Certifies one channel's iterate; copies it to the caller where it is the best so far. All channels of an iteration
 * are shown before esra_monitor_decide(). */
void esra_monitor_show(struct monitor *monitor, int channel, const struct candidate *candidate);

/* For layers that anybody can make again: takes their F and leaves the caller's arrays alone, which take no memory
 * before they are written to. Where nothing better is shown, esra_monitor_keep() is due for the same layers. */
void esra_monitor_weigh(struct monitor *monitor, int channel, const struct candidate *candidate);
void esra_monitor_keep(struct monitor *monitor, int channel, const struct candidate *candidate);

/* The largest F that is within the gap asked for of the greatest D so far, or the least F so far where that is larger.
 */
double esra_monitor_leeway(const struct monitor *monitor, int channel);

/* What a sample of the rows adds to F, at a fraction of the cost. */
double esra_monitor_sample(struct monitor *monitor, int channel, const struct candidate *candidate);

/* Keeps layers that are worth more than their F tells, if that is within the leeway; false: it is not, and nothing
 * changes. Their field, if any, is not looked at. */
bool esra_monitor_prefer(struct monitor *monitor, int channel, const struct candidate *candidate);

/* For a run that the caller has stopped: keeps the zero dual field with the bound 0, which holds for every problem, and
 * computes nothing. */
void esra_monitor_settle(struct monitor *monitor, int channel, const struct candidate *any);

/* About what esra_monitor_show() would find the channel's relative gap to be, and how much of it is slack, from a
 * sample of the rows at a fraction of the cost. Proves nothing. */
struct estimate {
    double gap, slack; /* the latter as a share of the former */
};
struct estimate esra_monitor_estimate(struct monitor *monitor, int channel, const struct candidate *candidate);

/* The channel's relative gap as certified so far, and whether it is the one asked for: once all have that, the whole
 * has it. */
double esra_monitor_gap(const struct monitor *monitor, int channel);
bool esra_monitor_proven(const struct monitor *monitor, int channel);

/* After the certificates of `iterations` iterations: true when the run is over. */
bool esra_monitor_decide(struct monitor *monitor, int iterations);

/* For loops that last: lets the caller speak and looks at the clock, at most ten times a second. Only in the thread
 * that runs the solver. */
void esra_monitor_poll(struct monitor *monitor);

/* Any thread: leave your loop, the iterate will not be used. */
bool esra_monitor_stopping(struct monitor *monitor);

/* Closes the books: outcome and seconds. */
void esra_monitor_end(struct monitor *monitor);

#endif
