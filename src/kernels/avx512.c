/* kernels/avx512.c - the vector kernels for AVX-512, sixteen pixels at a time. Kernels that pair pixels stay with AVX2:
 * two of these vectors would be more than a group. */
#include "kernels/instances.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>

#define LANES 16
#define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define NAME(kernel) kernel##_avx512
#define vector_min(a, b) _mm512_min_ps(a, b)
#define vector_max(a, b) _mm512_max_ps(a, b)
#include "kernels/vector.h"

void esra_kernels_avx512(struct kernels *kernels)
{
    kernels->primal = primal_avx512;
    kernels->primal_weighted = primal_weighted_avx512;
    kernels->dual = dual_avx512;
    kernels->null = null_avx512;
    kernels->relax = relax_avx512;
    kernels->pactv_layer = pactv_layer_avx512;
    kernels->pactv_dual = pactv_dual_avx512;
}
#endif
