/* base/codes.c - planes in 16 bits. */
#include "base/codes.h"

#include <math.h>

#include "base/memory.h"

#define UNIT         0x1p-15f
#define CODE_MOST    INT16_MAX
#define CODE_UNKNOWN INT16_MIN

esra_status esra_codes_create(struct codes *codes, int width, int height, struct message *message)
{
    size_t samples;
    *codes = (struct codes){.width = width, .height = height};
    if (esra_size_multiply((size_t)width, (size_t)height, &samples))
        codes->data = esra_allocate_untouched(samples, sizeof *codes->data);
    return codes->data ? ESRA_OK : esra_fail_memory(message);
}

void esra_codes_free(struct codes *codes)
{
    esra_release(&codes->data);
    *codes = (struct codes){0};
}

/* To the nearest: what is added, and cut off, makes all numbers positive. */
void esra_codes_store(struct codes *codes, size_t n, const float *from, size_t count)
{
    int16_t *to = codes->data + n;
    for (size_t k = 0; k < count; k++) {
        float code = from[k] * (1 / UNIT);
        float fitting = code > -CODE_MOST ? code : -CODE_MOST;
        fitting = fitting < CODE_MOST ? fitting : CODE_MOST;
        int whole = (int)(fitting + (0.5f + CODE_MOST)) - CODE_MOST;
        to[k] = (int16_t)(code == code ? whole : CODE_UNKNOWN);
    }
}

void esra_codes_load(const struct codes *codes, size_t n, float *to, size_t count)
{
    const int16_t *from = codes->data + n;
    for (size_t k = 0; k < count; k++)
        to[k] = from[k] == CODE_UNKNOWN ? NAN : UNIT * (float)from[k];
}
