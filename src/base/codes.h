/* base/codes.h - a plane in 16 bits: what is kept for later and only read takes half the memory so. Samples are whole
 * numbers of 2^-15, an eighth of a 12-bit step, from -1 to 1; those beyond become the end, and NaN stays NaN. */
#ifndef ESRA_BASE_CODES_H
#define ESRA_BASE_CODES_H

#include <stdint.h>

#include "base/status.h"

struct codes {
    int16_t *data; /* owned; sample (x, y) at data[y * width + x] */
    int width, height;
};

/* Samples are unspecified. */
esra_status esra_codes_create(struct codes *codes, int width, int height, struct message *message);

/* Frees the samples and zeroes *codes; harmless on a zeroed one. */
void esra_codes_free(struct codes *codes);

/* Samples n.. of the plane, from floats and back. */
void esra_codes_store(struct codes *codes, size_t n, const float *from, size_t count);
void esra_codes_load(const struct codes *codes, size_t n, float *to, size_t count);

#endif
