/* base/pool.c - a small thread pool on pthreads. During a run each worker takes the next task by an atomic counter. Who
 * waits, for a run to begin or to end, first looks for a while and then sleeps on a condition. */
#define _GNU_SOURCE
#include "base/pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"

/* How often the waiting caller looks up: a tenth of the second within which esra promises to react. */
#define WATCH_NS 100000000L

/* Looks before sleeping: 20 to 50 us in all. Iterations on small images are a few hundred, with several runs in each, and
 * to wake a sleeping thread takes as long as such a run. */
#define LOOKS 1000

struct worker {
    struct pool *pool;
    pthread_t thread;
    int number;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    struct worker *workers; /* [threads - 1]; the caller is worker 0 */
    int threads;
    pid_t owner; /* threads do not survive fork() */

    pool_question *enough;
    void *user;
    double asked_s; /* when, on the timer */
    bool stopping;

    /* The run in progress. What is not atomic is written before generation changes and read by workers between that and
     * their leaving busy. Sleepers look at generation and busy under the lock. */
    atomic_ulong generation;
    atomic_int busy; /* workers that have not yet finished this generation */
    bool quit;
    pool_task *run;
    void *work;
    int tasks;
    atomic_int next;
};

static void take_tasks(struct pool *pool, int worker)
{
    int task;
    while ((task = atomic_fetch_add(&pool->next, 1)) < pool->tasks)
        pool->run(pool->work, task, worker);
}

static bool begun(const struct pool *pool, unsigned long seen)
{
    return atomic_load(&pool->generation) != seen;
}

static void wait_for_run(struct pool *pool, unsigned long seen)
{
    for (int n = 0; n < LOOKS && !begun(pool, seen); n++)
        cpu_relax();
    if (begun(pool, seen))
        return;
    pthread_mutex_lock(&pool->lock);
    while (!begun(pool, seen))
        pthread_cond_wait(&pool->begin, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* The last to leave wakes the caller, who may be asleep. */
static void leave(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) > 1)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->end);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    struct pool *pool = self->pool;
    for (unsigned long seen = 0;; seen++) {
        wait_for_run(pool, seen);
        if (pool->quit)
            return NULL;
        take_tasks(pool, self->number);
        leave(pool);
    }
}

/* Signals are the caller's affair: workers start with all of them blocked. */
static void start_workers(struct pool *pool, int wanted)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pool->threads = 1;
    for (int n = 1; n < wanted; n++) {
        struct worker *worker = &pool->workers[n - 1];
        *worker = (struct worker){.pool = pool, .number = n};
        if (pthread_create(&worker->thread, NULL, worker_main, worker))
            break;
        pool->threads = n + 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

esra_status esra_pool_create(struct pool **out, int threads, struct message *message)
{
    struct pool *pool = esra_allocate(1, sizeof *pool);
    struct worker *workers = esra_allocate((size_t)threads, sizeof *workers);
    *out = NULL;
    if (!pool || !workers) {
        esra_release(&pool);
        esra_release(&workers);
        return esra_fail_memory(message);
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pool->workers = workers;
    pool->owner = getpid();
    start_workers(pool, threads);
    *out = pool;
    return ESRA_OK;
}

static void begin(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->generation, 1);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
}

static bool forked(const struct pool *pool)
{
    return pool->owner != getpid();
}

void esra_pool_free(struct pool **pool_pointer)
{
    struct pool *pool = *pool_pointer;
    if (!pool)
        return;
    if (!forked(pool)) {
        pool->quit = true;
        begin(pool);
        for (int n = 1; n < pool->threads; n++)
            pthread_join(pool->workers[n - 1].thread, NULL);
        pthread_cond_destroy(&pool->begin);
        pthread_cond_destroy(&pool->end);
        pthread_mutex_destroy(&pool->lock);
    }
    esra_release(&pool->workers);
    esra_release(pool_pointer);
}

int esra_pool_threads(const struct pool *pool)
{
    return forked(pool) ? 1 : pool->threads;
}

static struct timespec next_watch(void)
{
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    when.tv_nsec += WATCH_NS;
    if (when.tv_nsec >= 1000000000L) {
        when.tv_sec++;
        when.tv_nsec -= 1000000000L;
    }
    return when;
}

static void wait_for_workers(struct pool *pool, pool_watch *watch, void *work)
{
    for (int n = 0; n < LOOKS && atomic_load(&pool->busy) > 0; n++)
        cpu_relax();
    if (atomic_load(&pool->busy) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->busy) > 0) {
        if (!watch) {
            pthread_cond_wait(&pool->end, &pool->lock);
            continue;
        }
        struct timespec when = next_watch();
        if (pthread_cond_timedwait(&pool->end, &pool->lock, &when) == ETIMEDOUT) {
            pthread_mutex_unlock(&pool->lock);
            watch(work);
            pthread_mutex_lock(&pool->lock);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

void esra_pool_ask(struct pool *pool, pool_question *enough, void *user)
{
    pool->enough = enough;
    pool->user = user;
    pool->asked_s = 0;
    pool->stopping = false;
}

bool esra_pool_stopping(struct pool *pool)
{
    double now_s = pool->enough ? esra_timer_now_s() : 0;
    if (pool->enough && !pool->stopping && now_s - pool->asked_s >= 1e-9 * WATCH_NS) {
        pool->asked_s = now_s;
        pool->stopping = pool->enough(pool->user);
    }
    return pool->stopping;
}

void esra_pool_run(struct pool *pool, pool_task *run, void *work, int tasks, pool_watch *watch)
{
    if (forked(pool) || pool->threads == 1 || tasks <= 1) {
        for (int task = 0; task < tasks; task++)
            run(work, task, 0);
        return;
    }
    pool->run = run;
    pool->work = work;
    pool->tasks = tasks;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->threads - 1);
    begin(pool);
    take_tasks(pool, 0);
    wait_for_workers(pool, watch, work);
}
