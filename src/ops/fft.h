/* ops/fft.h - the discrete Fourier transform of complex images whose sides are powers of two. */
#ifndef ESRA_OPS_FFT_H
#define ESRA_OPS_FFT_H

#include <stddef.h>

#include "base/context.h"

/* Floats that transforms of this size need beside the image. */
size_t esra_fft_scratch(const struct context *context, int width, int height);

/* In place: data[2 (y width + x)] is the real part, the next float the imaginary one. sign -1 transforms, +1 back
 * (times width * height). scratch: esra_fft_scratch() floats. */
void esra_fft_image(struct context *context, float *data, int width, int height, int sign, float *scratch);

#endif
