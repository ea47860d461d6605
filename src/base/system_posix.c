/* base/system_posix.c - Linux, macOS, and what else has pthreads. */
#define _GNU_SOURCE
#define _DARWIN_C_SOURCE
#include "base/system.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"

#define NS_PER_S  1000000000L
#define NS_PER_MS 1000000L

static void *begin_thread(void *argument)
{
    struct thread *thread = argument;
    thread->run(thread->argument);
    return NULL;
}

bool esra_thread_start(struct thread *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&thread->handle, NULL, begin_thread, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

void esra_thread_join(struct thread *thread)
{
    pthread_join(thread->handle, NULL);
}

void esra_lock_init(struct lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
}

void esra_lock_free(struct lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

void esra_lock_take(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void esra_lock_leave(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void esra_condition_free(struct condition *condition)
{
    pthread_cond_destroy(&condition->condition);
}

void esra_condition_wait(struct condition *condition, struct lock *lock)
{
    pthread_cond_wait(&condition->condition, &lock->mutex);
}

void esra_condition_wake_one(struct condition *condition)
{
    pthread_cond_signal(&condition->condition);
}

void esra_condition_wake_all(struct condition *condition)
{
    pthread_cond_broadcast(&condition->condition);
}

/* macOS cannot be told which clock a moment is of, but how long to wait. */
#ifdef __APPLE__
void esra_condition_init(struct condition *condition)
{
    pthread_cond_init(&condition->condition, NULL);
}

bool esra_condition_wait_ms(struct condition *condition, struct lock *lock, unsigned ms)
{
    struct timespec duration = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};
    return pthread_cond_timedwait_relative_np(&condition->condition, &lock->mutex, &duration) == 0;
}
#else
void esra_condition_init(struct condition *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&condition->condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool esra_condition_wait_ms(struct condition *condition, struct lock *lock, unsigned ms)
{
    struct timespec when;
    clock_gettime(CLOCK_MONOTONIC, &when);
    when.tv_sec += ms / 1000;
    when.tv_nsec += ms % 1000 * NS_PER_MS;
    if (when.tv_nsec >= NS_PER_S) {
        when.tv_sec++;
        when.tv_nsec -= NS_PER_S;
    }
    return pthread_cond_timedwait(&condition->condition, &lock->mutex, &when) == 0;
}
#endif

long esra_process_id(void)
{
    return getpid();
}

int esra_cpu_count(void)
{
#if defined(CPU_COUNT) && !defined(__wasm__) /* which declares it, and has it not */
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return CPU_COUNT(&allowed);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

double esra_timer_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void *esra_system_allocate(size_t bytes)
{
    return aligned_alloc(MEMORY_ALIGNMENT, bytes);
}

void esra_system_wish_huge_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(block, bytes, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}
