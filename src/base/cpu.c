/* base/cpu.c - the processors and their instruction sets. */
#define _GNU_SOURCE
#include "base/cpu.h"

#include <sched.h>
#include <unistd.h>

unsigned esra_cpu_features(void)
{
    unsigned features = 0;
#if defined(__x86_64__) || defined(__i386__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("sse2"))
        features |= CPU_SSE2;
    if (__builtin_cpu_supports("avx2"))
        features |= CPU_AVX2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        features |= CPU_AVX512;
#elif defined(__aarch64__)
    features |= CPU_NEON;
#endif
    return features;
}

int esra_cpu_count(void)
{
#ifdef CPU_COUNT
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0)
        return CPU_COUNT(&allowed);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
