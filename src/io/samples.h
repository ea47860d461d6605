/* io/samples.h - between rows of code values in a file's type and rows of float32 in 0..1. */
#ifndef ESRA_IO_SAMPLES_H
#define ESRA_IO_SAMPLES_H

#include <stdbool.h>

enum sample {
    SAMPLE_8,
    SAMPLE_16,     /* in this machine's byte order */
    SAMPLE_16_BIG, /* most significant byte first, as PNG stores it */
    SAMPLE_FLOAT,
};

static inline int sample_size(enum sample type)
{
    return type == SAMPLE_8 ? 1 : type == SAMPLE_FLOAT ? 4 : 2;
}

/* count samples that stand from_step samples apart; an integer's full scale becomes 1, exactly rounded. */
void esra_samples_load(float *to, const unsigned char *from, enum sample type, int count, int from_step);

/* The inverse: integers are clipped and rounded to the nearest, NaN to 0; floats pass. */
void esra_samples_save(unsigned char *to, int to_step, const float *from, enum sample type, int count);

/* True where every sample is full scale: an alpha channel that hides nothing. */
bool esra_samples_all_full(const unsigned char *from, enum sample type, int count, int from_step);

#endif
