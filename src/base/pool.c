/* base/pool.c - a small thread pool. Between runs workers spin for a moment, then sleep on a condition variable;
 * during a run each takes the next task by an atomic counter. A run has ended when its tasks have: a worker that comes
 * late, or not at all, keeps nobody waiting. */
#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

    /* The run in progress: the number of the run in the upper half, tasks that nobody has taken in the lower. */
    atomic_uint_least64_t ticket;
    atomic_int unfinished; /* tasks of it that have not ended */
    _Atomic(pool_task *) run;
    _Atomic(void *) work;
    atomic_int tasks;
};

static bool has_tasks(const struct pool *pool)
{
    return (uint32_t)atomic_load(&pool->ticket) > 0;
}

/* The last of all wakes the caller if it sleeps. */
static void report_end(struct pool *pool)
{
    if (atomic_fetch_sub(&pool->unfinished, 1) > 1 || !atomic_load(&pool->waiting))
        return;
    esra_lock_take(&pool->lock);
    esra_condition_wake_one(&pool->end);
    esra_lock_leave(&pool->lock);
}

/* What the run is, is read before a task of it is taken, and may be written anew meanwhile by the caller who begins the
 * next. He does so only when all tasks are taken and ended: if the ticket is unchanged and has tasks, so is the run. */
static void take_tasks(struct pool *pool, int worker)
{
    uint_least64_t ticket = atomic_load(&pool->ticket);
    while ((uint32_t)ticket > 0) {
        pool_task *run = atomic_load(&pool->run);
        void *work = atomic_load(&pool->work);
        int task = atomic_load(&pool->tasks) - (int)(uint32_t)ticket;
        if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1))
            continue;
        run(work, task, worker);
        report_end(pool);
        ticket = atomic_load(&pool->ticket);
    }
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
static bool await_run(struct pool *pool)
{
    for (int n = 0; n < pool->looks; n++) {
        if (has_tasks(pool))
            return true;
        pause_a_little();
    }
    esra_lock_take(&pool->lock);
    atomic_fetch_add(&pool->asleep, 1);
    while (!pool->quit && !has_tasks(pool))
        esra_condition_wait(&pool->begin, &pool->lock);
    atomic_fetch_sub(&pool->asleep, 1);
    bool quit = pool->quit;
    esra_lock_leave(&pool->lock);
    return !quit;
}

static void worker_main(void *argument)
{
    struct worker *self = argument;
    while (await_run(self->pool))
        take_tasks(self->pool, self->number);
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

/* As many sleepers as there are tasks for. */
static void wake_workers(struct pool *pool, int tasks)
{
    int asleep = atomic_load(&pool->asleep);
    if (asleep == 0)
        return;
    esra_lock_take(&pool->lock);
    if (tasks > asleep)
        esra_condition_wake_all(&pool->begin);
    for (int n = 1; n < tasks && tasks <= asleep; n++)
        esra_condition_wake_one(&pool->begin);
    esra_lock_leave(&pool->lock);
}

static void wait_for_workers(struct pool *pool, pool_watch *watch, void *work)
{
    for (int n = 0; n < pool->looks; n++) {
        if (atomic_load(&pool->unfinished) == 0)
            return;
        pause_a_little();
    }
    esra_lock_take(&pool->lock);
    atomic_store(&pool->waiting, true);
    while (atomic_load(&pool->unfinished) > 0) {
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
    atomic_store(&pool->run, run);
    atomic_store(&pool->work, work);
    atomic_store(&pool->tasks, tasks);
    atomic_store(&pool->unfinished, tasks);
    uint_least64_t number = (atomic_load(&pool->ticket) >> 32) + 1;
    atomic_store(&pool->ticket, number << 32 | (uint32_t)tasks);
    wake_workers(pool, tasks);
    take_tasks(pool, 0);
    wait_for_workers(pool, watch, work);
}
