/* kernels/neon.c - the vector kernels for NEON on AArch64, four pixels at a time. */
#include "kernels/instances.h"

#if defined(__aarch64__)
#include <arm_neon.h>

/* vminq_f32 would answer NaN for a NaN in either place; the comparison is what the reference does. */
#define LANES 4
#define TARGET
#define NAME(kernel)     kernel##_neon
#define vector_min(a, b) vbslq_f32(vcltq_f32(a, b), a, b)
#define vector_max(a, b) vbslq_f32(vcgtq_f32(a, b), a, b)
#define EVEN_LANES       0, 2, 4, 6
#define ODD_LANES        1, 3, 5, 7
#define LOW_PAIRS        0, 4, 1, 5
#define HIGH_PAIRS       2, 6, 3, 7
#include "kernels/vector.h"

void esra_kernels_neon(struct kernels *kernels)
{
#define KERNEL(name, arguments) kernels->name = name##_neon;
    ESRA_KERNELS(KERNEL)
#undef KERNEL
}
#endif
