/* colour/light.c - code values to linear light and back.
 *
 * A curve is kept as its value at each of the 65,536 codes k/65535, joined by straight lines. 8-bit codes are among
 * them (255 * 257 = 65535), so integer files are decoded exactly. Going back searches the same table, and so is the
 * exact inverse whatever the curve: parametric, sampled, or both. The search is in a range found from the exponent and
 * the first bits of the value, and begins where a straight line across it would have the code. */
#include "colour/light.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"

#define LAST 65535

/* Buckets of linear light: 2^11 in each octave from 2^-40 to 1. Gamma 2.4's darkest 16-bit code is 2^-38.4. */
#define BUCKET_BITS 11
#define OCTAVES     40
#define BUCKETS     (OCTAVES << BUCKET_BITS)

/* Exponent bits of 2^-OCTAVES in a float32. */
#define FIRST_BUCKET ((uint32_t)(127 - OCTAVES) << BUCKET_BITS)

/* The least step between neighbouring codes: 4 units in the last place, or this near zero, where flat pieces of sampled
 * curves would otherwise need denormal numbers. A curve flat over all codes would be changed by 6e-8. */
#define LEAST_STEP          1e-12
#define LEAST_RELATIVE_STEP 0x1p-21

struct tone {
    float linear[LAST + 1];      /* strictly rising */
    uint16_t start[BUCKETS + 1]; /* the last code that is not above the bucket's first value */
    int users;                   /* channels of one light that share it */
};

double esra_srgb_to_linear(double code)
{
    return code <= 0.04045 ? code / 12.92 : esra_pow((code + 0.055) / 1.055, 2.4);
}

const char *esra_light_origin_name(enum light_origin origin)
{
    switch (origin) {
    case LIGHT_STORED: return "stored";
    case LIGHT_PROFILE: return "profile";
    case LIGHT_ASSUMED: return "assumed sRGB";
    case LIGHT_SUBSTITUTED: return "sRGB in place of the profile";
    }
    return "unknown";
}

/* ---- Making a tone ---- */

/* False where the curve falls or leaves the finite, or ends no brighter than it begins. */
static bool sample_curve(struct tone *tone, int channel, light_curve *curve, const void *user)
{
    double before = -INFINITY, first = 0, value = 0;
    float placed = 0;
    for (int k = 0; k <= LAST; k++) {
        value = curve(user, channel, (double)k / LAST);
        /* Sampled curves may dip by their own rounding, half a 16-bit step. */
        if (!isfinite(value) || fabs(value) > 1e6 || value < before - 1.0 / LAST)
            return false;
        before = value > before ? value : before;
        if (k == 0)
            first = value;
        double least = (double)placed + fmax(fabs((double)placed) * LEAST_RELATIVE_STEP, LEAST_STEP);
        placed = (float)(k > 0 && value < least ? least : value);
        tone->linear[k] = placed;
    }
    return value - first > 0.1;
}

static float bucket_value(int bucket)
{
    uint32_t bits = (FIRST_BUCKET + (uint32_t)bucket) << (23 - BUCKET_BITS);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void index_tone(struct tone *tone)
{
    int code = 0;
    for (int bucket = 0; bucket <= BUCKETS; bucket++) {
        float value = bucket_value(bucket);
        while (code < LAST - 1 && tone->linear[code + 1] <= value)
            code++;
        tone->start[bucket] = (uint16_t)code;
    }
}

static esra_status make_tone(struct tone **tone, int channel, light_curve *curve, const void *user, bool *usable,
                             struct message *message)
{
    *tone = esra_allocate(1, sizeof **tone);
    if (!*tone)
        return esra_fail_memory(message);
    (*tone)->users = 1;
    *usable = sample_curve(*tone, channel, curve, user);
    if (*usable)
        index_tone(*tone);
    return ESRA_OK;
}

/* Most profiles give all channels one curve. */
static void share_tone(struct light *light, int channel)
{
    struct tone *own = light->tones[channel], *first = light->tones[0];
    if (channel == 0 || memcmp(own->linear, first->linear, sizeof own->linear) != 0)
        return;
    esra_release(&light->tones[channel]);
    light->tones[channel] = first;
    first->users++;
}

/* ---- Making a light ---- */

void esra_light_stored(struct light *light)
{
    *light = (struct light){.origin = LIGHT_STORED};
}

esra_status esra_light_from_curves(struct light *light, int channels, light_curve *curve, const void *user,
                                   bool *usable, struct message *message)
{
    esra_status status = ESRA_OK;
    *light = (struct light){.origin = LIGHT_PROFILE};
    *usable = true;
    for (int c = 0; c < channels && status == ESRA_OK && *usable; c++) {
        status = make_tone(&light->tones[c], c, curve, user, usable, message);
        if (status == ESRA_OK && *usable)
            share_tone(light, c);
    }
    if (status != ESRA_OK || !*usable)
        esra_light_free(light);
    return status;
}

static double srgb_curve(const void *user, int channel, double code)
{
    (void)user;
    (void)channel;
    return esra_srgb_to_linear(code);
}

esra_status esra_light_srgb(struct light *light, enum light_origin origin, struct message *message)
{
    bool usable;
    esra_status status = esra_light_from_curves(light, 1, srgb_curve, NULL, &usable, message);
    if (status != ESRA_OK)
        return status;
    for (int c = 1; c < LIGHT_CHANNELS; c++)
        light->tones[c] = light->tones[0];
    light->tones[0]->users = LIGHT_CHANNELS;
    light->origin = origin;
    return ESRA_OK;
}

esra_status esra_light_choose(struct light *light, bool has_profile, int channels, light_curve *curve, const void *user,
                              struct message *message)
{
    bool usable = false;
    esra_status status = ESRA_OK;
    if (curve)
        status = esra_light_from_curves(light, channels, curve, user, &usable, message);
    if (status != ESRA_OK || usable)
        return status;
    return esra_light_srgb(light, has_profile ? LIGHT_SUBSTITUTED : LIGHT_ASSUMED, message);
}

void esra_light_free(struct light *light)
{
    for (int c = 0; c < LIGHT_CHANNELS; c++)
        if (light->tones[c] && --light->tones[c]->users == 0)
            esra_release(&light->tones[c]);
    *light = (struct light){0};
}

/* ---- Applying it ---- */

/* The piece k that holds the code, and by how much of it: 0..1 inside the table, beyond outside of it. */
static inline float decode(const struct tone *tone, float code)
{
    float position = code * LAST;
    int k = position > 0 ? (position < LAST ? (int)position : LAST - 1) : 0;
    if (k > LAST - 1)
        k = LAST - 1;
    float below = tone->linear[k], above = tone->linear[k + 1], part = position - (float)k;
    /* k/65535 * 65535 need not be k in float32; a code is the integer it is nearest to. */
    if (fabsf(part) <= 0x1p-8f)
        return below;
    if (fabsf(part - 1) <= 0x1p-8f)
        return above;
    return below + (above - below) * part;
}

/* Codes [*low, *high] whose pieces may hold the value. */
static inline void search_range(const struct tone *tone, float linear, int *low, int *high)
{
    uint32_t bits;
    memcpy(&bits, &linear, sizeof bits);
    int64_t bucket = (int64_t)(bits >> (23 - BUCKET_BITS)) - FIRST_BUCKET;
    bool dark = !(linear > 0) || bucket < 0;
    *low = dark ? 0 : bucket >= BUCKETS ? tone->start[BUCKETS] : tone->start[bucket];
    *high = dark ? tone->start[0] : bucket >= BUCKETS ? LAST - 1 : tone->start[bucket + 1];
}

/* The last code of the range that is not above the value, or the range's first. A bucket is short and most curves
 * nearly straight in it: a straight line finds the code or its neighbour, and only where a curve jumps is more than
 * that left to bisect. */
static inline int find_code(const struct tone *tone, float linear)
{
    int low, high;
    search_range(tone, linear, &low, &high);
    float part = (linear - tone->linear[low]) / (tone->linear[high + 1] - tone->linear[low]);
    int guess = part > 0 ? (part < 1 ? low + (int)(part * (float)(high + 1 - low)) : high) : low;
    int before = guess - 1 > low ? guess - 1 : low, after = guess + 1 < high ? guess + 1 : high;
    low = tone->linear[before] <= linear ? before : low;
    high = tone->linear[after + 1] > linear ? after : high;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (tone->linear[middle] <= linear)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static inline float encode(const struct tone *tone, float linear)
{
    int code = find_code(tone, linear);
    float below = tone->linear[code], above = tone->linear[code + 1];
    return ((float)code + (linear - below) / (above - below)) / LAST;
}

float esra_light_decode_one(const struct light *light, int channel, float code)
{
    return light->tones[channel] ? decode(light->tones[channel], code) : code;
}

float esra_light_encode_one(const struct light *light, int channel, float linear)
{
    return light->tones[channel] ? encode(light->tones[channel], linear) : linear;
}

/* One of the two above for every sample, of the channels that a light has. */
#define APPLY(one, light, from, to)                                                                                    \
    for (int c = 0; c < (from)->channels && c < LIGHT_CHANNELS; c++)                                                   \
        for (int y = 0; (light)->tones[c] && y < (from)->height; y++) {                                                \
            const float *in = image_sample(from, 0, y, c);                                                             \
            float *out = image_sample(to, 0, y, c);                                                                    \
            for (int x = 0; x < (from)->width; x++)                                                                    \
                out[x * (to)->column_stride] = one((light)->tones[c], in[x * (from)->column_stride]);                  \
        }

void esra_light_decode_view(const struct light *light, const esra_image *from, const esra_image *to)
{
    APPLY(decode, light, from, to)
}

void esra_light_encode_view(const struct light *light, const esra_image *from, const esra_image *to)
{
    APPLY(encode, light, from, to)
}

void esra_light_decode(const struct light *light, struct image *image)
{
    esra_image view = esra_image_planar(image->data, image->width, image->height, image->channels);
    esra_light_decode_view(light, &view, &view);
}

void esra_light_encode(const struct light *light, struct image *image)
{
    esra_image view = esra_image_planar(image->data, image->width, image->height, image->channels);
    esra_light_encode_view(light, &view, &view);
}
