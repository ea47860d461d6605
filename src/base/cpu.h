/* base/cpu.h - the processors and their instruction sets. */
#ifndef ESRA_BASE_CPU_H
#define ESRA_BASE_CPU_H

enum cpu_feature {
    CPU_SSE2 = 1 << 0,
    CPU_AVX2 = 1 << 1,   /* with FMA3 absent from the kernels: see doc/NUMERICS.md */
    CPU_AVX512 = 1 << 2, /* F, BW, DQ and VL together */
    CPU_NEON = 1 << 3,
    CPU_SIMD128 = 1 << 4, /* WebAssembly: a module has it as a whole, or is built without */
};

/* The features this processor and system support, as a set of enum cpu_feature. */
unsigned esra_cpu_features(void);

/* Processors this process may run on, at least 1 (base/system_*.c). */
int esra_cpu_count(void);

#endif
