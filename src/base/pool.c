/* base/pool.c - a small thread pool. Between runs workers spin for a moment, then sleep on a condition variable;
 * during a run each takes the next task by an atomic counter. */
#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/system.h"

/* How often the waiting caller calls `watch`: a tenth of the second within which esra promises to react. */
#define WATCH_MS 100

/* How often a waiting thread spins before it sleeps: some 20 us, about the time a wake-up takes. Loops over small
 * images make thousands of runs a second, each of some 50 us. */
#define LOOKS 1000

struct worker {
    struct pool *pool;
    struct thread thread;
    int number;
};

struct pool {
    struct lock lock;
    struct condition begin, end;
    struct worker *workers; /* [threads - 1]; the caller is worker 0 */
    int threads;
    int looks;  /* LOOKS, or 0 where threads outnumber the processors: a thread that spins would keep another from
                   working */
    long owner; /* threads do not survive fork() */

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

/* Tells the processor that this is a spin-wait loop. */
static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* No lost wake-ups: the caller publishes the run, then looks for sleepers; a worker marks itself asleep, then looks
 * once more for a run. All four are sequentially consistent, so one of the two sees the other's write. The end of a
 * run, where the caller sleeps and the last worker wakes it, is the same with the parts exchanged. */

/* False when the pool ends. */
static bool await_run(struct pool *pool, unsigned long seen)
{
    for (int n = 0; n < pool->looks; n++) {
        if (atomic_load(&pool->generation) != seen)
            return true;
        pause_a_little();
    }
    esra_lock_take(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!pool->quit && atomic_load(&pool->generation) == seen)
        esra_condition_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    bool quit = pool->quit;
    esra_lock_leave(&pool->lock);
    return !quit;
}

static void report_end(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) > 1 || !atomic_load(&pool->waiting))
        return;
    esra_lock_take(&pool->lock);
    esra_condition_wake_one(&pool->end);
    esra_lock_leave(&pool->lock);
}

static void worker_main(void *argument)
{
    struct worker *self = argument;
    for (unsigned long seen = 0; await_run(self->pool, seen); seen++) {
        take_tasks(self->pool, self->number);
        report_end(self->pool);
    }
}

static void start_workers(struct pool *pool, int wanted)
{
    pool->threads = 1;
    for (int n = 1; n < wanted; n++) {
        struct worker *worker = &pool->workers[n - 1];
        *worker = (struct worker){.pool = pool, .thread = {.run = worker_main, .argument = worker}, .number = n};
        if (!esra_thread_start(&worker->thread))
            break;
        pool->threads = n + 1;
    }
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
    esra_lock_init(&pool->lock);
    esra_condition_init(&pool->begin);
    esra_condition_init(&pool->end);
    pool->workers = workers;
    pool->owner = esra_process_id();
    pool->looks = threads <= esra_cpu_count() ? LOOKS : 0;
    start_workers(pool, threads);
    *out = pool;
    return ESRA_OK;
}

static bool forked(const struct pool *pool)
{
    return pool->owner != esra_process_id();
}

void esra_pool_free(struct pool **pool_pointer)
{
    struct pool *pool = *pool_pointer;
    if (!pool)
        return;
    if (!forked(pool)) {
        esra_lock_take(&pool->lock);
        pool->quit = true;
        esra_condition_wake_all(&pool->begin);
        esra_lock_leave(&pool->lock);
        for (int n = 1; n < pool->threads; n++)
            esra_thread_join(&pool->workers[n - 1].thread);
        esra_condition_free(&pool->begin);
        esra_condition_free(&pool->end);
        esra_lock_free(&pool->lock);
    }
    esra_release(&pool->workers);
    esra_release(pool_pointer);
}

int esra_pool_threads(const struct pool *pool)
{
    return forked(pool) ? 1 : pool->threads;
}

static void wait_for_workers(struct pool *pool, pool_watch *watch, void *work)
{
    for (int n = 0; n < pool->looks; n++) {
        if (atomic_load(&pool->busy) == 0)
            return;
        pause_a_little();
    }
    esra_lock_take(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->busy) > 0) {
        if (!watch) {
            esra_condition_wait(&pool->end, &pool->lock);
            continue;
        }
        if (!esra_condition_wait_ms(&pool->end, &pool->lock, WATCH_MS)) {
            esra_lock_leave(&pool->lock);
            watch(work);
            esra_lock_take(&pool->lock);
        }
    }
    atomic_store(&pool->waiting, false);
    esra_lock_leave(&pool->lock);
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
        esra_lock_take(&pool->lock);
        esra_condition_wake_all(&pool->begin);
        esra_lock_leave(&pool->lock);
    }
    take_tasks(pool, 0);
    wait_for_workers(pool, watch, work);
}
