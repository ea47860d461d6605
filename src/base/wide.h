/* base/wide.h - tasks in plain C, compiled once more for a wider instruction set. Where a loop is the compiler's to
 * make vectors of, it makes them of eight floats instead of four, by the same operations in the same order and without
 * fused multiply-add: both give the same bits (doc/NUMERICS.md).
 *
 *     static void blur_rows(void *work, int task, int worker) {...}
 *     WIDE_TASK(blur_rows)
 *     ...
 *     esra_context_run(context, WIDE(context, blur_rows), &work, tasks, NULL);
 *
 * flatten: what the task calls is compiled with it, as far as the file has it. */
#ifndef ESRA_BASE_WIDE_H
#define ESRA_BASE_WIDE_H

#include "base/context.h"

#if defined(__x86_64__) || defined(__i386__)
#include "base/cpu.h"

#define WIDE_TASK(name)                                                                                                \
    __attribute__((target("avx2"), flatten)) static void name##_wide(void *work, int task, int worker)                 \
    {                                                                                                                  \
        name(work, task, worker);                                                                                      \
    }
#define WIDE(context, name) ((context)->features & CPU_AVX2 ? name##_wide : name)
#else
#define WIDE_TASK(name)
#define WIDE(context, name) name
#endif

#endif
