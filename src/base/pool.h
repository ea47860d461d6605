/* base/pool.h - a small thread pool. Work comes as tasks numbered 0..n-1 that do not depend on one another or on the
 * number of threads; a caller that sums lets each task write its own partial sum and adds them in order, so that
 * results have the same bits for any number of threads. */
#ifndef ESRA_BASE_POOL_H
#define ESRA_BASE_POOL_H

#include <stdbool.h>

#include "base/status.h"

struct pool;

/* task is the number of the task; worker, 0 <= worker < esra_pool_threads(), is no other running task's (but of that
 * which it divides), and 0 only in the thread that called esra_pool_run(). */
typedef void pool_task(void *work, int task, int worker);

/* Called now and then in the thread that waits in esra_pool_run(), so that a long run can be watched and stopped. */
typedef void pool_watch(void *work);

/* threads >= 1, the caller's own included. Where the system refuses a thread the pool works with those it has. */
esra_status esra_pool_create(struct pool **pool, int threads, struct message *message);

/* Ends the threads, frees *pool and sets it to NULL. */
void esra_pool_free(struct pool **pool);

/* Threads that really run, at least 1. */
int esra_pool_threads(const struct pool *pool);

/* Runs all tasks and returns when the last has ended. watch may be NULL. In a child made by fork() the calling thread
 * runs them all. */
void esra_pool_run(struct pool *pool, pool_task *run, void *work, int tasks, pool_watch *watch);

/* The same inside a task of such a run, with its worker's number: threads that find no task of esra_pool_run() take
 * those of this one. A worker divides one task at a time: inside a task of this run of its own it runs all of them. */
void esra_pool_run_within(struct pool *pool, int worker, pool_task *run, void *work, int tasks);

#endif
