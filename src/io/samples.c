/* io/samples.c - between rows of code values in a file's type and rows of float32 in 0..1. */
#include "io/samples.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t load_16(const unsigned char *from, enum sample type)
{
    uint16_t value;
    if (type == SAMPLE_16_BIG)
        return (uint16_t)(from[0] << 8 | from[1]);
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void save_16(unsigned char *to, uint16_t value, enum sample type)
{
    if (type == SAMPLE_16_BIG) {
        to[0] = (unsigned char)(value >> 8);
        to[1] = (unsigned char)(value & 0xff);
    } else {
        memcpy(to, &value, sizeof value);
    }
}

void esra_samples_load(float *to, const unsigned char *from, enum sample type, int count, int from_step)
{
    ptrdiff_t step = (ptrdiff_t)from_step * sample_size(type);
    if (type == SAMPLE_8)
        for (int n = 0; n < count; n++)
            to[n] = (float)from[n * step] / 255.0f;
    else if (type == SAMPLE_FLOAT)
        for (int n = 0; n < count; n++)
            memcpy(&to[n], from + n * step, sizeof *to);
    else
        for (int n = 0; n < count; n++)
            to[n] = (float)load_16(from + n * step, type) / 65535.0f;
}

/* Comparisons are false for NaN, which so becomes 0. */
static inline unsigned quantise(float value, float scale)
{
    float clipped = value > 0 ? (value < 1 ? value : 1) : 0;
    return (unsigned)(clipped * scale + 0.5f);
}

void esra_samples_save(unsigned char *to, int to_step, const float *from, enum sample type, int count)
{
    ptrdiff_t step = (ptrdiff_t)to_step * sample_size(type);
    if (type == SAMPLE_8)
        for (int n = 0; n < count; n++)
            to[n * step] = (unsigned char)quantise(from[n], 255.0f);
    else if (type == SAMPLE_FLOAT)
        for (int n = 0; n < count; n++)
            memcpy(to + n * step, &from[n], sizeof *from);
    else
        for (int n = 0; n < count; n++)
            save_16(to + n * step, (uint16_t)quantise(from[n], 65535.0f), type);
}

static bool is_full(const unsigned char *from, enum sample type)
{
    float value;
    switch (type) {
    case SAMPLE_8: return from[0] == 255;
    case SAMPLE_FLOAT: memcpy(&value, from, sizeof value); return value >= 1;
    default: return from[0] == 255 && from[1] == 255;
    }
}

bool esra_samples_all_full(const unsigned char *from, enum sample type, int count, int from_step)
{
    ptrdiff_t step = (ptrdiff_t)from_step * sample_size(type);
    for (int n = 0; n < count; n++)
        if (!is_full(from + n * step, type))
            return false;
    return true;
}
