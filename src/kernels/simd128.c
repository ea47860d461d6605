/* kernels/simd128.c - the vector kernels for WebAssembly's SIMD128, four pixels at a time. */
#include "kernels/instances.h"

#if defined(__wasm_simd128__)
#include <wasm_simd128.h>

/* pmin(x, y) is y < x ? y : x and pmax(x, y) is x < y ? y : x: with the places exchanged what the reference does, NaN
 * included. f32x4.min and max would answer NaN for a NaN in either place. */
#define LANES 4
#define TARGET
#define NAME(kernel)     kernel##_simd128
#define vector_min(a, b) ((vector)wasm_f32x4_pmin((v128_t)(b), (v128_t)(a)))
#define vector_max(a, b) ((vector)wasm_f32x4_pmax((v128_t)(b), (v128_t)(a)))
#define EVEN_LANES       0, 2, 4, 6
#define ODD_LANES        1, 3, 5, 7
#define LOW_PAIRS        0, 4, 1, 5
#define HIGH_PAIRS       2, 6, 3, 7
#include "kernels/vector.h"

void esra_kernels_simd128(struct kernels *kernels)
{
#define KERNEL(name, arguments) kernels->name = name##_simd128;
    ESRA_KERNELS(KERNEL)
#undef KERNEL
}
#endif
