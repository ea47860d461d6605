/* base/cpu.c - the processor's instruction sets. */
#include "base/cpu.h"

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
#elif defined(__wasm_simd128__)
    features |= CPU_SIMD128;
#endif
    return features;
}
