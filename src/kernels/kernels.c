/* kernels/kernels.c - the table is filled with C, then with what the processor has, the widest last. */
#include "kernels/kernels.h"

#include "base/cpu.h"
#include "kernels/instances.h"

void esra_kernels_fill(struct kernels *kernels, unsigned features)
{
#define KERNEL(name, arguments) kernels->name = esra_##name##_c;
    ESRA_KERNELS(KERNEL)
#undef KERNEL
#if defined(__x86_64__) || defined(__i386__)
    if (features & CPU_SSE2)
        esra_kernels_sse2(kernels);
    if (features & CPU_AVX2)
        esra_kernels_avx2(kernels);
    if (features & CPU_AVX512)
        esra_kernels_avx512(kernels);
#elif defined(__aarch64__)
    if (features & CPU_NEON)
        esra_kernels_neon(kernels);
#elif defined(__wasm_simd128__)
    if (features & CPU_SIMD128)
        esra_kernels_simd128(kernels);
#else
    (void)features;
#endif
}
