/* base/pool.c - a small thread pool on pthreads. Between runs workers look out for the next for a moment, then sleep on a
 * condition; during a run each takes the next task by an atomic counter. */
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

/* How often a thread looks for what it waits for before it sleeps: some 20 us, about what it takes to wake one up. Loops
 * over small images make thousands of runs a second, each of some 50 us. */
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
    int looks;   /* LOOKS, or none where threads outnumber the processors: who looks would keep another from working */
    unsigned features;
    pid_t owner; /* threads do not survive fork() */

    pool_question *enough;
    void *user;
    double asked_s; /* when, on the timer */
    bool stopping;

    bool quit;           /* guarded by lock */
    atomic_int asleep;   /* workers that wait for `begin` */
    atomic_bool waiting; /* the caller waits for `end` */

    /* The run in progress: written by the caller while no worker is busy. */
    atomic_ulong generation;
    atomic_int busy; /* workers that have not yet finished this generation */
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

/* A hint that this is a loop that waits. */
static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Both sides of a run say what they did before they ask whether the other sleeps, and that they will sleep before they ask
 * whether it is done: one of the two always sees the other, and nobody is left asleep. */

/* False where the pool ends. */
static bool await_run(struct pool *pool, unsigned long seen)
{
    for (int n = 0; n < pool->looks; n++) {
        if (atomic_load(&pool->generation) != seen)
            return true;
        pause_a_little();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!pool->quit && atomic_load(&pool->generation) == seen)
        pthread_cond_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    bool quit = pool->quit;
    pthread_mutex_unlock(&pool->lock);
    return !quit;
}

static void report_end(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) > 1 || !atomic_load(&pool->waiting))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->end);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    struct worker *self = argument;
    for (unsigned long seen = 0; await_run(self->pool, seen); seen++) {
        take_tasks(self->pool, self->number);
        report_end(self->pool);
    }
    return NULL;
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
    pool->features = esra_cpu_features();
    pool->owner = getpid();
    pool->looks = threads <= esra_cpu_count() ? LOOKS : 0;
    start_workers(pool, threads);
    *out = pool;
    return ESRA_OK;
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
        pthread_mutex_lock(&pool->lock);
        pool->quit = true;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
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

unsigned esra_pool_features(const struct pool *pool)
{
    return pool->features;
}

void esra_pool_limit(struct pool *pool, unsigned mask)
{
    pool->features = esra_cpu_features() & mask;
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
    for (int n = 0; n < pool->looks; n++) {
        if (atomic_load(&pool->busy) == 0)
            return;
        pause_a_little();
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, true);
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
    atomic_store(&pool->waiting, false);
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
        pool_question *enough = pool->enough;
        pool->asked_s = now_s;
        pool->enough = NULL; /* whoever is asked may ask back */
        pool->stopping = enough(pool->user);
        pool->enough = enough;
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
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->asleep) > 0) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }
    take_tasks(pool, 0);
    wait_for_workers(pool, watch, work);
}
