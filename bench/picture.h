/* bench/picture.h - pictures in and out with nothing but libc, for machines without image libraries: binary PPM and PGM
 * of 8 bits (sRGB), PFM, and .npy arrays (h, w) or (h, w, 3) of float32, float64 (linear light) or uint8 (sRGB). */
#ifndef ESRA_BENCH_PICTURE_H
#define ESRA_BENCH_PICTURE_H

#include <stdbool.h>

#include <esra/esra.h>

/* Linear light, planes one after the other; image->data is the caller's to free. False: says why on standard error. */
bool picture_read(const char *path, esra_image *image);

/* Of linear light: PFM where the name ends in .pfm, otherwise PPM (PGM for one channel) in sRGB. */
bool picture_write(const char *path, const esra_image *image);

/* Linear light -> sRGB code values, clipped to 0..1. */
void picture_encode(esra_image *image);

#endif
