/* bench/schedule.c - bench/threads, every task of it timed on one thread and scheduled on more: what the division of
 * the work allows, on whatever machine.
 *
 *     schedule -t 1 [OPTION...] BEHIND REFLECTED
 *
 * Options are those of bench/threads. Prints processor seconds of one thread, those outside of tasks, and what 2, 4, 8
 * and 16 workers would take, the making of the photos included. Tasks go in order to whoever is free first; what a job
 * divides is shared by workers that find no job (base/pool.h). Waking threads and the memory's bandwidth are not
 * counted. The linker puts the two functions below in the place of the pool's (--wrap). */
#define _POSIX_C_SOURCE 200809L
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/pool.h"

void __wrap_esra_pool_run(struct pool *pool, pool_task *run, void *work, int tasks, pool_watch *watch);
void __wrap_esra_pool_run_within(struct pool *pool, int worker, pool_task *run, void *work, int tasks);

enum { COUNTS = 4, WORKERS_MOST = 16 };
static const int counts[COUNTS] = {2, 4, 8, WORKERS_MOST};

/* A stretch of a task, and the tasks within that follow it; none after the last. */
struct stretch {
    double seconds;
    int tasks, first; /* of durations */
};

/* The run at hand. */
static struct stretch *stretches;
static double *durations;
static int *begins; /* the first stretch of each task */
static int stretch_count, stretch_room, duration_count, duration_room, begin_room;

static double serial_s, parallel_s, scheduled_s[COUNTS], last_s;
static long runs, runs_within;
static int depth; /* 1 inside a task, 2 inside a task within */

static double now_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *grow(void *block, int *room, int wanted, size_t size)
{
    if (wanted <= *room)
        return block;
    *room = 2 * wanted;
    block = realloc(block, (size_t)*room * size);
    if (!block)
        abort();
    return block;
}

static void note_stretch(double seconds, int tasks)
{
    stretches = grow(stretches, &stretch_room, stretch_count + 1, sizeof *stretches);
    stretches[stretch_count++] = (struct stretch){seconds, tasks, duration_count};
}

/* ---- Scheduling ---- */

struct job {
    int at, next, left; /* its stretch; the next task within, and those that have not ended */
    int owner;
    bool open;
};

enum state { IDLE, ALONE, WITHIN, WAITING };

struct worker {
    enum state state;
    int job;
    double end_s;
};

static void take_within(struct worker *worker, struct job *jobs, int job, double time_s)
{
    struct job *j = &jobs[job];
    *worker = (struct worker){WITHIN, job, time_s + durations[stretches[j->at].first + j->next++]};
}

static void find_work(struct worker *workers, int number, struct job *jobs, int count, int *begun, double time_s)
{
    if (*begun < count) {
        int job = (*begun)++;
        jobs[job] = (struct job){.at = begins[job], .owner = number};
        workers[number] = (struct worker){ALONE, job, time_s + stretches[begins[job]].seconds};
        return;
    }
    for (int job = 0; job < count; job++)
        if (jobs[job].open && jobs[job].next < stretches[jobs[job].at].tasks) {
            take_within(&workers[number], jobs, job, time_s);
            return;
        }
}

/* The worker has come to the end of a stretch, or of a task within. */
static void go_on(struct worker *workers, int number, struct job *jobs)
{
    struct worker *worker = &workers[number];
    struct job *j = &jobs[worker->job];
    double time_s = worker->end_s;
    int tasks = stretches[j->at].tasks, job = worker->job;
    if (worker->state == ALONE) {
        worker->state = IDLE;
        j->open = tasks > 0;
        j->next = 0;
        j->left = tasks;
        if (tasks > 0)
            take_within(worker, jobs, job, time_s);
        return;
    }
    worker->state = number == j->owner ? WAITING : IDLE;
    if (--j->left == 0) {
        j->open = false;
        workers[j->owner] = (struct worker){ALONE, job, time_s + stretches[++j->at].seconds};
    } else if (j->next < tasks) {
        take_within(worker, jobs, job, time_s);
    }
}

/* Seconds until `count` tasks have ended. */
static double schedule(int worker_count, int count)
{
    struct worker workers[WORKERS_MOST] = {{IDLE, 0, 0}};
    struct job *jobs = calloc((size_t)count + 1, sizeof *jobs);
    double time_s = 0;
    int begun = 0, first = 0;
    if (!jobs)
        abort();
    while (first >= 0) {
        first = -1;
        for (int n = 0; n < worker_count; n++) {
            if (workers[n].state == IDLE)
                find_work(workers, n, jobs, count, &begun, time_s);
            if ((workers[n].state == ALONE || workers[n].state == WITHIN) &&
                (first < 0 || workers[n].end_s < workers[first].end_s))
                first = n;
        }
        if (first >= 0) {
            time_s = workers[first].end_s;
            go_on(workers, first, jobs);
        }
    }
    free(jobs);
    return time_s;
}

/* ---- In the place of the pool ---- */

static void report(void)
{
    serial_s += now_s() - last_s;
    printf("one thread %.2f s, outside of tasks %.2f s; %ld runs, and %ld within tasks\n", serial_s + parallel_s,
           serial_s, runs, runs_within);
    for (int n = 0; n < COUNTS; n++)
        printf("%2d workers %.2f s, speed-up %.1f\n", counts[n], serial_s + scheduled_s[n],
               (serial_s + parallel_s) / (serial_s + scheduled_s[n]));
}

void __wrap_esra_pool_run_within(struct pool *pool, int worker, pool_task *run, void *work, int tasks)
{
    bool noted = depth == 1 && tasks > 1;
    double start_s = now_s();
    (void)pool;
    if (noted) {
        depth = 2;
        runs_within++;
        note_stretch(start_s - last_s, tasks);
    }
    for (int task = 0; task < tasks; task++) {
        run(work, task, worker);
        if (noted) {
            double end_s = now_s();
            durations = grow(durations, &duration_room, duration_count + 1, sizeof *durations);
            durations[duration_count++] = end_s - start_s;
            start_s = end_s;
        }
    }
    if (noted) {
        depth = 1;
        last_s = now_s();
    }
}

void __wrap_esra_pool_run(struct pool *pool, pool_task *run, void *work, int tasks, pool_watch *watch)
{
    double start_s = now_s(), begin_s = start_s;
    (void)pool, (void)watch;
    if (runs++ == 0)
        atexit(report);
    else
        serial_s += start_s - last_s;
    begins = grow(begins, &begin_room, tasks, sizeof *begins);
    stretch_count = duration_count = 0;
    depth = 1;
    for (int task = 0; task < tasks; task++) {
        begins[task] = stretch_count;
        last_s = start_s;
        run(work, task, 0);
        start_s = now_s();
        note_stretch(start_s - last_s, 0);
    }
    depth = 0;
    parallel_s += start_s - begin_s;
    for (int n = 0; n < COUNTS; n++)
        scheduled_s[n] += schedule(counts[n], tasks);
    last_s = now_s();
}
