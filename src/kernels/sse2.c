/* kernels/sse2.c - the vector kernels for SSE2, four pixels at a time. */
#include "kernels/instances.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

#define LANES            4
#define TARGET           __attribute__((target("sse2")))
#define NAME(kernel)     kernel##_sse2
#define vector_min(a, b) _mm_min_ps(a, b)
#define vector_max(a, b) _mm_max_ps(a, b)
#define EVEN_LANES       0, 2, 4, 6
#define ODD_LANES        1, 3, 5, 7
#define LOW_PAIRS        0, 4, 1, 5
#define HIGH_PAIRS       2, 6, 3, 7
#include "kernels/vector.h"

void esra_kernels_sse2(struct kernels *kernels)
{
#define KERNEL(name, arguments) kernels->name = name##_sse2;
    ESRA_KERNELS(KERNEL)
#undef KERNEL
}
#endif
