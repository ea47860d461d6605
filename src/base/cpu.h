/* base/cpu.h - what the processor offers. */
#ifndef ESRA_BASE_CPU_H
#define ESRA_BASE_CPU_H

enum cpu_feature {
    CPU_SSE2 = 1 << 0,
    CPU_AVX2 = 1 << 1,   /* with FMA3 absent from the kernels: see doc/NUMERICS.md */
    CPU_AVX512 = 1 << 2, /* F, BW, DQ and VL together */
    CPU_NEON = 1 << 3,
};

/* The features this processor and system support, as a set of enum cpu_feature. */
unsigned esra_cpu_features(void);

/* Processors this process may run on, at least 1. */
int esra_cpu_count(void);

/* In a loop that waits for another thread: leaves the core's units to its twin. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
