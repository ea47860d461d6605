/* base/context.h - an execution context: threads, the instructions that may be used, the question whether the work is
 * still wanted, and the message for failures. Every function that runs long takes one. */
#ifndef ESRA_BASE_CONTEXT_H
#define ESRA_BASE_CONTEXT_H

#include <stdatomic.h>

#include "base/pool.h"
#include "base/system.h"

/* Answers whether the caller has had enough. */
typedef bool context_question(void *user);

/* The weights of ops/resample.c, which it fills when it is first called: too many for a stack, and wanted where nothing
 * may fail. */
#define LANCZOS_PHASES 2048
#define LANCZOS_TAPS   6
struct lanczos {
    struct lock lock; /* jobs side by side share them */
    bool filled;
    float weights[LANCZOS_PHASES + 1][LANCZOS_TAPS];
};

struct context {
    struct message *message; /* the caller's; must outlive the context */
    struct pool *pool;       /* a job's own context borrows it */
    struct context *parent;  /* of a job's own context: that in which the jobs run */
    int worker;              /* ... and who runs the job */
    bool asks;               /* the job runs in the caller's thread, and may ask its question */
    unsigned features;       /* instructions that tasks may use, a set of enum cpu_feature */

    context_question *enough; /* NULL: nothing stops the work */
    void *user;
    double asked_s; /* when `enough` was last called, on the timer */
    atomic_bool stopping;
    struct lanczos *lanczos; /* a job's own context borrows them */
};

/* threads as esra_pool_create() has them; features: all that the processor has. */
esra_status esra_context_create(struct context **context, int threads, struct message *message);

/* Ends the threads, frees *context and sets it to NULL. */
void esra_context_free(struct context **context);

/* From here on tasks may use those of the processor's features that are in `mask`. */
void esra_context_limit(struct context *context, unsigned mask);

/* Threads that really run, at least 1. */
int esra_context_threads(const struct context *context);

/* From here on esra_context_stopping() calls `enough`, at most every tenth of a second. NULL: nothing
 * stops the work. */
void esra_context_ask(struct context *context, context_question *enough, void *user);

/* True from the first yes on. Long loops call it and end early. Only the thread that called esra_context_run() may call
 * it: inside a task, worker 0. */
bool esra_context_stopping(struct context *context);

/* As esra_pool_run(). */
void esra_context_run(struct context *context, pool_task *run, void *work, int tasks, pool_watch *watch);

/* Job number `number`, with a context of its own. What it works out must depend on its number alone. */
typedef esra_status context_job(void *work, int number, struct context *own);

/* Runs jobs 0..count-1 side by side: where there are several, that wakes fewer threads than each of them on all threads
 * would. What a job divides is shared by threads that have no job. Returns the status of the first, by number, that
 * failed, and its message. */
esra_status esra_context_side_by_side(struct context *context, context_job *job, void *work, int count);

#endif
