/* base/system.h - what the library asks of the operating system beyond standard C: threads, locks, processes and pages.
 * These, esra_cpu_count() and esra_timer_now_s() are all that differs from system to system, and stand in one file for
 * each kind: system_posix.c (Linux, macOS), system_windows.c. */
#ifndef ESRA_BASE_SYSTEM_H
#define ESRA_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>

#ifdef _WIN32
struct lock {
    void *word; /* an SRWLOCK */
};
struct condition {
    void *word; /* a CONDITION_VARIABLE */
};
#else
#include <pthread.h>
struct lock {
    pthread_mutex_t mutex;
};
struct condition {
    pthread_cond_t condition;
};
#endif

typedef void thread_main(void *argument);

struct thread {
    thread_main *run;
    void *argument;
#ifdef _WIN32
    void *handle;
#else
    pthread_t handle;
#endif
};

/* Starts thread->run(thread->argument); false where the system refuses. *thread must stay where it is until
 * esra_thread_join(). Signals are the caller's affair: the thread has all of them blocked. */
bool esra_thread_start(struct thread *thread);
void esra_thread_join(struct thread *thread);

void esra_lock_init(struct lock *lock);
void esra_lock_free(struct lock *lock);
void esra_lock_take(struct lock *lock);
void esra_lock_leave(struct lock *lock);

/* Waiting leaves the lock, which the caller has, and takes it again; it may end without cause. */
void esra_condition_init(struct condition *condition);
void esra_condition_free(struct condition *condition);
void esra_condition_wait(struct condition *condition, struct lock *lock);

/* False where so much time has passed, by a clock that nobody sets. */
bool esra_condition_wait_ms(struct condition *condition, struct lock *lock, unsigned ms);
void esra_condition_wake_one(struct condition *condition);
void esra_condition_wake_all(struct condition *condition);

/* The number of this process: another one in a child made by fork(). */
long esra_process_id(void);

/* So many bytes, a multiple of MEMORY_ALIGNMENT, for free(); on that boundary where the system can do so, so that
 * whatever watches the program sees where they end. */
void *esra_system_allocate(size_t bytes);

/* A wish: one fault and one address translation for 512 pages. */
void esra_system_wish_huge_pages(void *block, size_t bytes);

#endif
