/* base/pool.c - a small thread pool. Between runs workers spin for a moment, then sleep on a condition variable;
 * during a run each takes the next task by an atomic counter. A run has ended when its tasks have: a worker that comes
 * late, or not at all, keeps nobody waiting. A task may divide its own work by a run within the run: whoever finds no
 * task of the caller's left takes tasks of those. */
#include "base/pool.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/system.h"

/* How often the waiting caller calls `watch`: a tenth of the second within which esra promises to react. */
#define WATCH_MS 100

/* How often a waiting thread looks for work before it sleeps, and the spins of the processor between two looks, few at
 * first: some milliseconds in all. Loops over small images make thousands of runs a second, each of some 50 us, with
 * stretches of one thread or of few tasks between; where a wake-up goes through a hypervisor it takes longer than many
 * a run. A thread that looks all the time would slow the one it shares a core with. */
#define LOOKS       3000
#define EAGER_LOOKS 1000
#define LATER_SPINS 50

struct worker {
    struct pool *pool;
    struct thread thread;
    int number;
};

/* A run in progress. */
struct run {
    /* The number of the run in the upper half, tasks that nobody has taken in the lower. */
    _Alignas(MEMORY_ALIGNMENT) atomic_uint_least64_t ticket;
    atomic_int unfinished; /* tasks of it that have not ended */
    _Atomic(pool_task *) task;
    _Atomic(void *) work;
    atomic_int tasks;
    atomic_bool waiting; /* whoever began it waits for `end` */
    struct condition end;
};

struct pool {
    struct lock lock;
    struct condition begin;
    struct worker *workers; /* [threads - 1]; the caller is worker 0 */
    struct run *runs;       /* [wanted + 1]: the caller's, and that within a task of each worker's */
    int threads, wanted;
    int looks;  /* LOOKS, or 0 where threads outnumber the processors: a thread that spins would keep another from
                   working */
    long owner; /* threads do not survive fork() */

    bool quit;         /* guarded by lock */
    atomic_int asleep; /* workers that wait for `begin` */
};

static bool has_tasks(const struct pool *pool)
{
    for (int n = 0; n <= pool->wanted; n++)
        if ((uint32_t)atomic_load(&pool->runs[n].ticket) > 0)
            return true;
    return false;
}

/* The last of all wakes whoever began the run if it sleeps. */
static void report_end(struct pool *pool, struct run *run)
{
    if (atomic_fetch_sub(&run->unfinished, 1) > 1 || !atomic_load(&run->waiting))
        return;
    esra_lock_take(&pool->lock);
    esra_condition_wake_one(&run->end);
    esra_lock_leave(&pool->lock);
}

/* What the run is, is read before a task of it is taken, and may be written anew meanwhile by whoever begins the
 * next. He does so only when all tasks are taken and ended: if the ticket is unchanged and has tasks, so is the run.
 * False where there was none to take. */
static bool take_from(struct pool *pool, struct run *run, int worker)
{
    uint_least64_t ticket = atomic_load(&run->ticket);
    bool taken = false;
    while ((uint32_t)ticket > 0) {
        pool_task *call = atomic_load(&run->task);
        void *work = atomic_load(&run->work);
        int task = atomic_load(&run->tasks) - (int)(uint32_t)ticket;
        if (!atomic_compare_exchange_weak(&run->ticket, &ticket, ticket - 1))
            continue;
        call(work, task, worker);
        report_end(pool, run);
        taken = true;
        ticket = atomic_load(&run->ticket);
    }
    return taken;
}

/* The caller's tasks come first. */
static bool take_tasks(struct pool *pool, int worker)
{
    bool taken = take_from(pool, &pool->runs[0], worker);
    for (int n = 0; n < pool->wanted && !taken; n++)
        taken = take_from(pool, &pool->runs[1 + (worker + n) % pool->wanted], worker);
    return taken;
}

/* Tells the processor that this is a spin-wait loop. */
static void spin(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

/* Between a thread's n'th look and the next. */
static void pause_a_little(int n)
{
    for (int spins = n < EAGER_LOOKS ? 1 : LATER_SPINS; spins > 0; spins--)
        spin();
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
        pause_a_little(n);
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

static void pool_release(struct pool **pool)
{
    esra_release(&(*pool)->workers);
    esra_release(&(*pool)->runs);
    esra_release(pool);
}

esra_status esra_pool_create(struct pool **out, int threads, struct message *message)
{
    struct pool *pool = *out = esra_allocate(1, sizeof *pool);
    if (!pool)
        return esra_fail_memory(message);
    pool->workers = esra_allocate((size_t)threads, sizeof *pool->workers);
    pool->runs = esra_allocate((size_t)threads + 1, sizeof *pool->runs);
    if (!pool->workers || !pool->runs) {
        pool_release(out);
        return esra_fail_memory(message);
    }
    esra_lock_init(&pool->lock);
    esra_condition_init(&pool->begin);
    pool->wanted = threads;
    for (int n = 0; n <= threads; n++)
        esra_condition_init(&pool->runs[n].end);
    pool->owner = esra_process_id();
    pool->looks = threads <= esra_cpu_count() ? LOOKS : 0;
    start_workers(pool, threads);
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
        for (int n = 0; n <= pool->wanted; n++)
            esra_condition_free(&pool->runs[n].end);
        esra_lock_free(&pool->lock);
    }
    pool_release(pool_pointer);
}

int esra_pool_threads(const struct pool *pool)
{
    return forked(pool) ? 1 : pool->threads;
}

/* As many sleepers as there are tasks for, and the caller where it waits for tasks that others divide. */
static void wake_workers(struct pool *pool, int tasks)
{
    int asleep = atomic_load(&pool->asleep);
    bool caller = atomic_load(&pool->runs[0].waiting);
    if (asleep == 0 && !caller)
        return;
    esra_lock_take(&pool->lock);
    if (tasks > asleep)
        esra_condition_wake_all(&pool->begin);
    for (int n = 1; n < tasks && tasks <= asleep; n++)
        esra_condition_wake_one(&pool->begin);
    if (caller && tasks > asleep + 1)
        esra_condition_wake_one(&pool->runs[0].end);
    esra_lock_leave(&pool->lock);
}

static void begin_run(struct pool *pool, struct run *run, pool_task *task, void *work, int tasks)
{
    atomic_store(&run->task, task);
    atomic_store(&run->work, work);
    atomic_store(&run->tasks, tasks);
    atomic_store(&run->unfinished, tasks);
    uint_least64_t number = (atomic_load(&run->ticket) >> 32) + 1;
    atomic_store(&run->ticket, number << 32 | (uint32_t)tasks);
    wake_workers(pool, tasks);
}

/* Sleeps until the run has ended, or the caller, who `helps`, finds tasks. */
static void sleep_meanwhile(struct pool *pool, struct run *run, bool helps, pool_watch *watch)
{
    esra_lock_take(&pool->lock);
    atomic_store(&run->waiting, true);
    while (atomic_load(&run->unfinished) > 0 && !(helps && has_tasks(pool))) {
        if (!watch) {
            esra_condition_wait(&run->end, &pool->lock);
            continue;
        }
        if (!esra_condition_wait_ms(&run->end, &pool->lock, WATCH_MS)) {
            esra_lock_leave(&pool->lock);
            watch(atomic_load(&run->work));
            esra_lock_take(&pool->lock);
        }
    }
    atomic_store(&run->waiting, false);
    esra_lock_leave(&pool->lock);
}

/* All tasks are taken. The caller takes those that others divide; a worker has a task to get on with. */
static void wait_for_workers(struct pool *pool, struct run *run, pool_watch *watch)
{
    bool helps = run == &pool->runs[0];
    while (true) {
        for (int n = 0; n < pool->looks; n++) {
            if (atomic_load(&run->unfinished) == 0)
                return;
            if (helps && take_tasks(pool, 0))
                n = 0;
            pause_a_little(n);
        }
        sleep_meanwhile(pool, run, helps, watch);
        if (atomic_load(&run->unfinished) == 0)
            return;
        take_tasks(pool, 0);
    }
}

static void run_alone(pool_task *run, void *work, int tasks, int worker)
{
    for (int task = 0; task < tasks; task++)
        run(work, task, worker);
}

void esra_pool_run(struct pool *pool, pool_task *run, void *work, int tasks, pool_watch *watch)
{
    if (forked(pool) || pool->threads == 1 || tasks <= 1) {
        run_alone(run, work, tasks, 0);
        return;
    }
    begin_run(pool, &pool->runs[0], run, work, tasks);
    take_from(pool, &pool->runs[0], 0);
    wait_for_workers(pool, &pool->runs[0], watch);
}

void esra_pool_run_within(struct pool *pool, int worker, pool_task *run, void *work, int tasks)
{
    struct run *own = &pool->runs[1 + worker];
    if (forked(pool) || pool->threads == 1 || tasks <= 1 || atomic_load(&own->unfinished) > 0) {
        run_alone(run, work, tasks, worker);
        return;
    }
    begin_run(pool, own, run, work, tasks);
    take_from(pool, own, worker);
    wait_for_workers(pool, own, NULL);
}
