/* kernels/instances.h - what each instruction set offers in place of the C reference. */
#ifndef ESRA_KERNELS_INSTANCES_H
#define ESRA_KERNELS_INSTANCES_H

struct kernels;

/* Each overwrites the entries it has; call only where the processor has the instructions. */
void esra_kernels_sse2(struct kernels *kernels);
void esra_kernels_avx2(struct kernels *kernels);
void esra_kernels_avx512(struct kernels *kernels);
void esra_kernels_neon(struct kernels *kernels);
void esra_kernels_simd128(struct kernels *kernels);

#endif
