/* base/system_windows.c - Windows 7 and later, by its own calls: no pthreads are needed. */
#include "base/system.h"

#include <process.h>
#include <stdlib.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"

/* The header says void *, so that nobody who includes it gets all of windows.h. */
_Static_assert(sizeof(struct lock) == sizeof(SRWLOCK), "a lock is one pointer");
_Static_assert(sizeof(struct condition) == sizeof(CONDITION_VARIABLE), "a condition variable is one pointer");

static SRWLOCK *own_lock(struct lock *lock)
{
    return (SRWLOCK *)(void *)lock;
}

static CONDITION_VARIABLE *own_condition(struct condition *condition)
{
    return (CONDITION_VARIABLE *)(void *)condition;
}

static unsigned __stdcall begin_thread(void *argument)
{
    struct thread *thread = argument;
    thread->run(thread->argument);
    return 0;
}

bool esra_thread_start(struct thread *thread)
{
    thread->handle = (void *)_beginthreadex(NULL, 0, begin_thread, thread, 0, NULL);
    return thread->handle != NULL;
}

void esra_thread_join(struct thread *thread)
{
    WaitForSingleObject(thread->handle, INFINITE);
    CloseHandle(thread->handle);
}

void esra_lock_init(struct lock *lock)
{
    InitializeSRWLock(own_lock(lock));
}

/* Neither of the two holds anything. */
void esra_lock_free(struct lock *lock)
{
    (void)lock;
}

void esra_lock_take(struct lock *lock)
{
    AcquireSRWLockExclusive(own_lock(lock));
}

void esra_lock_leave(struct lock *lock)
{
    ReleaseSRWLockExclusive(own_lock(lock));
}

void esra_condition_init(struct condition *condition)
{
    InitializeConditionVariable(own_condition(condition));
}

void esra_condition_free(struct condition *condition)
{
    (void)condition;
}

void esra_condition_wait(struct condition *condition, struct lock *lock)
{
    SleepConditionVariableSRW(own_condition(condition), own_lock(lock), INFINITE, 0);
}

bool esra_condition_wait_ms(struct condition *condition, struct lock *lock, unsigned ms)
{
    return SleepConditionVariableSRW(own_condition(condition), own_lock(lock), ms, 0) != 0;
}

void esra_condition_wake_one(struct condition *condition)
{
    WakeConditionVariable(own_condition(condition));
}

void esra_condition_wake_all(struct condition *condition)
{
    WakeAllConditionVariable(own_condition(condition));
}

long esra_process_id(void)
{
    return (long)GetCurrentProcessId();
}

/* Of this thread's group of at most 64: more would have to be asked for by each thread. */
int esra_cpu_count(void)
{
    DWORD_PTR own, all;
    int count = 0;
    if (GetProcessAffinityMask(GetCurrentProcess(), &own, &all))
        for (; own; own &= own - 1)
            count++;
    return count > 0 ? count : 1;
}

double esra_timer_now_s(void)
{
    LARGE_INTEGER ticks, per_s;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&per_s);
    return (double)ticks.QuadPart / (double)per_s.QuadPart;
}

/* _aligned_malloc()'s blocks are not for free(), and base/memory.c aligns its own. */
void *esra_system_allocate(size_t bytes)
{
    return malloc(bytes);
}

void esra_system_wish_huge_pages(void *block, size_t bytes)
{
    (void)block, (void)bytes;
}
