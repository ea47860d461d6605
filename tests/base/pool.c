/* tests/base/pool.c - every task runs once, on whatever threads there are, and so does what tasks divide; a forked
 * child is not left hanging. */
#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define TASKS 1000

struct tally {
    atomic_int runs[TASKS];
    atomic_int foreign; /* tasks that claimed to be worker 0 outside the calling thread's count */
    int threads;
    int watched;
};

static void count(void *work, int task, int worker)
{
    struct tally *tally = work;
    atomic_fetch_add(&tally->runs[task], 1);
    if (worker < 0 || worker >= tally->threads)
        atomic_fetch_add(&tally->foreign, 1);
}

static bool all_ran_once(struct tally *tally)
{
    for (int n = 0; n < TASKS; n++)
        if (atomic_load(&tally->runs[n]) != 1)
            return false;
    return atomic_load(&tally->foreign) == 0;
}

static void each_task_runs_once(void)
{
    for (int threads = 1; threads <= 8; threads++) {
        struct message message;
        struct pool *pool;
        CHECK(esra_pool_create(&pool, threads, &message) == ESRA_OK);
        for (int repeat = 0; repeat < 20; repeat++) {
            struct tally tally = {.threads = esra_pool_threads(pool)};
            esra_pool_run(pool, count, &tally, TASKS, NULL);
            CHECK(all_ran_once(&tally));
        }
        esra_pool_free(&pool);
        CHECK(pool == NULL);
    }
}

static void mark(void *work, int task, int worker)
{
    (void)worker;
    ((int *)work)[task]++;
}

/* Short runs one after another, of few tasks and of many: a worker that comes late to one neither takes a task of the
 * next for its own nor touches what the caller has back. */
static void late_workers_take_nothing(void)
{
    struct message message;
    struct pool *pool;
    CHECK(esra_pool_create(&pool, 4, &message) == ESRA_OK);
    bool once = true;
    for (int run = 0; run < 20000; run++) {
        int marks[9] = {0}, tasks = 2 + run % 7;
        esra_pool_run(pool, mark, marks, tasks, NULL);
        for (int n = 0; n < 9; n++)
            once = once && marks[n] == (n < tasks);
    }
    CHECK(once);
    esra_pool_free(&pool);
}

static void no_task_is_no_work(void)
{
    struct message message;
    struct pool *pool;
    struct tally tally = {.threads = 3};
    CHECK(esra_pool_create(&pool, 3, &message) == ESRA_OK);
    esra_pool_run(pool, count, &tally, 0, NULL);
    CHECK(atomic_load(&tally.runs[0]) == 0);
    esra_pool_free(&pool);
}

/* Tasks that divide their work, in parts that divide theirs. */
struct dividing {
    struct pool *pool;
    int marks[5][6]; /* by task, and by part of it */
    bool alone;      /* worker 0 is the calling thread alone */
    pthread_t caller;
};

struct within {
    struct dividing *all;
    int outer;
};

static void mark_twice(void *work, int task, int worker)
{
    struct within *within = work;
    struct dividing *d = within->all;
    int inner[3] = {0};
    esra_pool_run_within(d->pool, worker, mark, inner, 3);
    d->marks[within->outer][task] += inner[0] + inner[1] + inner[2];
    if ((worker == 0) != (pthread_equal(pthread_self(), d->caller) != 0))
        d->alone = false;
}

static void divide(void *work, int task, int worker)
{
    struct within within = {work, task};
    for (int repeat = 0; repeat < 20; repeat++)
        esra_pool_run_within(within.all->pool, worker, mark_twice, &within, 6);
}

/* Fewer tasks than threads, and more. */
static void tasks_divide_their_work(void)
{
    for (int threads = 1; threads <= 8; threads++) {
        struct message message;
        struct dividing d = {.alone = true, .caller = pthread_self()};
        CHECK(esra_pool_create(&d.pool, threads, &message) == ESRA_OK);
        for (int run = 0; run < 100; run++)
            esra_pool_run(d.pool, divide, &d, 5, NULL);
        bool once = true;
        for (int n = 0; n < 30; n++)
            once = once && d.marks[n / 6][n % 6] == 100 * 20 * 3;
        CHECK(once && d.alone);
        esra_pool_free(&d.pool);
    }
}

static void slow(void *work, int task, int worker)
{
    struct timespec pause = {.tv_nsec = worker == 0 ? 1000000 : 350000000};
    (void)work, (void)task;
    nanosleep(&pause, NULL);
}

static void watch(void *work)
{
    ((struct tally *)work)->watched++;
}

/* The caller's own task is short; while it waits for the others it is asked to watch every tenth of a second. */
static void the_waiting_caller_watches(void)
{
    struct message message;
    struct pool *pool;
    struct tally tally = {.threads = 2};
    CHECK(esra_pool_create(&pool, 2, &message) == ESRA_OK);
    for (int n = 0; n < 5 && tally.watched == 0; n++)
        esra_pool_run(pool, slow, &tally, 2, watch);
    CHECK(tally.watched > 0);
    esra_pool_free(&pool);
}

static void a_forked_child_works_alone(void)
{
#ifdef __wasm__
    SKIP("WebAssembly has no processes");
#else
    struct message message;
    struct pool *pool;
    CHECK(esra_pool_create(&pool, 4, &message) == ESRA_OK);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct tally tally = {.threads = esra_pool_threads(pool)};
        alarm(20);
        esra_pool_run(pool, count, &tally, TASKS, NULL);
        bool good = tally.threads == 1 && all_ran_once(&tally);
        esra_pool_free(&pool);
        _exit(good ? 0 : 1);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    esra_pool_free(&pool);
#endif
}

int main(void)
{
    RUN(each_task_runs_once);
    RUN(late_workers_take_nothing);
    RUN(tasks_divide_their_work);
    RUN(no_task_is_no_work);
    RUN(the_waiting_caller_watches);
    RUN(a_forked_child_works_alone);
    return check_report();
}
