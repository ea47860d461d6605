/* kernels/avx512.c - the vector kernels for AVX-512, sixteen pixels at a time. Kernels that pair pixels stay with AVX2:
 * two of these vectors would be more than a group. */
#include "kernels/instances.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

#define LANES            16
#define TARGET           __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define NAME(kernel)     kernel##_avx512
#define vector_min(a, b) _mm512_min_ps(a, b)
#define vector_max(a, b) _mm512_max_ps(a, b)
#define spread_pixels(from)                                                                                            \
    _mm512_permutexvar_ps(_mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0),                            \
                          _mm512_castps128_ps512(_mm_loadu_ps(from)))
#define every_pixel(v)   _mm512_broadcast_f32x4(v)
#define LAST_THEN_ALL    12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
#define SPREAD_FRACTIONS 1, 1, 1, 1, 3, 3, 3, 3, 5, 5, 5, 5, 7, 7, 7, 7
#define LAST_PIXEL       12, 13, 14, 15
#include "kernels/vector.h"

void esra_kernels_avx512(struct kernels *kernels)
{
    kernels->primal = primal_avx512;
    kernels->primal_weighted = primal_weighted_avx512;
    kernels->dual = dual_avx512;
    kernels->dual_expected = dual_expected_avx512;
    kernels->null = null_avx512;
    kernels->scale = scale_avx512;
    kernels->residual = residual_avx512;
    kernels->relax = relax_avx512;
    kernels->pactv_layer = pactv_layer_avx512;
    kernels->pactv_dual = pactv_dual_avx512;
    kernels->photo = photo_avx512;
}
#endif
