/* colour/light.c - code values to linear light and back.
 *
 * A curve is kept as its value at each of the 65,536 codes k/65535, joined by straight lines. 8-bit codes are among
 * them (255 * 257 = 65535), so integer files are decoded exactly. Going back searches the same table, and so is the
 * exact inverse whatever the curve: parametric, sampled, or both. The search begins where a straight line would have
 * the code, between two values whose codes are known: the exponent and the first bits of a value say which two. */
#include "colour/light.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"

#define LAST 65535

/* Buckets of linear light: 2^9 in each octave from 2^-40 to 1. Gamma 2.4's darkest 16-bit code is 2^-38.4. Across a
 * bucket that curve is off a straight line by 2^-18/8 of .24 of a code's number: .008 of a code, so that the line finds
 * 98 codes of 100. */
#define BUCKET_BITS 9
#define OCTAVES     40
#define BUCKETS     (OCTAVES << BUCKET_BITS)

/* Exponent bits of 2^-OCTAVES in a float32. */
#define FIRST_BUCKET ((uint32_t)(127 - OCTAVES) << BUCKET_BITS)

/* Of a float32's 23 bits after the first those that a bucket leaves. */
#define PART_BITS (23 - BUCKET_BITS)

/* The least step between neighbouring codes: 4 units in the last place, or this near zero, where flat pieces of sampled
 * curves would otherwise need denormal numbers. A curve flat over all codes would be changed by 6e-8. */
#define LEAST_STEP          1e-12
#define LEAST_RELATIVE_STEP 0x1p-21

struct tone {
    float linear[LAST + 1];      /* strictly rising */
    float position[BUCKETS + 1]; /* the code of a bucket's first value, and by how much of a code it is above it */
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
    uint32_t bits = (FIRST_BUCKET + (uint32_t)bucket) << PART_BITS;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float clip01(float x)
{
    return x > 0 ? x < 1 ? x : 1 : 0;
}

static void index_tone(struct tone *tone)
{
    int code = 0;
    for (int bucket = 0; bucket <= BUCKETS; bucket++) {
        float value = bucket_value(bucket);
        while (code < LAST - 1 && tone->linear[code + 1] <= value)
            code++;
        float below = tone->linear[code], above = tone->linear[code + 1];
        tone->position[bucket] = (float)code + clip01((value - below) / (above - below));
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

/* Whether the code is the last that is not above the value, among all but the very last; the first one if all are. */
static inline bool is_code(const struct tone *tone, int code, float linear)
{
    return (code == 0 || tone->linear[code] <= linear) && (code == LAST - 1 || linear < tone->linear[code + 1]);
}

/* The same by halves, in [low, high]. */
static int bisect(const struct tone *tone, float linear, int low, int high)
{
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (tone->linear[middle] <= linear)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Of values past the buckets, on either side. */
static inline int find_far_code(const struct tone *tone, float linear)
{
    int end = linear >= 1 ? LAST - 1 : 0;
    return is_code(tone, end, linear) ? end : bisect(tone, linear, 0, LAST - 1);
}

static inline int find_code(const struct tone *tone, float linear)
{
    uint32_t bits;
    memcpy(&bits, &linear, sizeof bits);
    uint32_t bucket = (bits >> PART_BITS) - FIRST_BUCKET; /* past the last for dark values and negative ones, too */
    if (bucket >= BUCKETS)
        return find_far_code(tone, linear);
    float first = tone->position[bucket], last = tone->position[bucket + 1];
    float part = (float)(bits & ((1u << PART_BITS) - 1)) * (1.f / (1u << PART_BITS));
    int guess = (int)(first + part * (last - first));
    if (guess > LAST - 1)
        guess = LAST - 1;
    if (is_code(tone, guess, linear))
        return guess;
    /* Positions are rounded: by one code at most. */
    int low = first > 1 ? (int)first - 1 : 0, high = last < LAST - 1 ? (int)last + 1 : LAST - 1;
    return bisect(tone, linear, low, high);
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
