/* kernels/avx2.c - the vector kernels for AVX2, eight pixels at a time. */
#include "kernels/instances.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

#define LANES               8
#define TARGET              __attribute__((target("avx2")))
#define NAME(kernel)        kernel##_avx2
#define vector_min(a, b)    _mm256_min_ps(a, b)
#define vector_max(a, b)    _mm256_max_ps(a, b)
#define EVEN_LANES          0, 2, 4, 6, 8, 10, 12, 14
#define ODD_LANES           1, 3, 5, 7, 9, 11, 13, 15
#define LOW_PAIRS           0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_PAIRS          4, 12, 5, 13, 6, 14, 7, 15
#define spread_pixels(from) _mm256_set_m128(_mm_broadcast_ss((from) + 1), _mm_broadcast_ss(from))
#define every_pixel(v)      _mm256_set_m128(v, v)
#define LAST_THEN_ALL       4, 5, 6, 7, 8, 9, 10, 11
#define SPREAD_FRACTIONS    1, 1, 1, 1, 3, 3, 3, 3
#define LAST_PIXEL          4, 5, 6, 7
#include "kernels/vector.h"

void esra_kernels_avx2(struct kernels *kernels)
{
#define KERNEL(name, arguments) kernels->name = name##_avx2;
    ESRA_KERNELS(KERNEL)
#undef KERNEL
}
#endif
