/* colour/light.h - code values to linear light and back, channel by channel: the primaries stay the photo's own. */
#ifndef ESRA_COLOUR_LIGHT_H
#define ESRA_COLOUR_LIGHT_H

#include <stdbool.h>

#include "base/image.h"

#define LIGHT_CHANNELS 3

enum light_origin {
    LIGHT_STORED,      /* code values are taken as they are */
    LIGHT_PROFILE,     /* the photo's own colour profile */
    LIGHT_ASSUMED,     /* sRGB, because the photo has no profile */
    LIGHT_SUBSTITUTED, /* sRGB, because the photo's profile has no curves that can be undone */
};

/* One channel's curve and its inverse. */
struct tone;

struct light {
    struct tone *tones[LIGHT_CHANNELS]; /* several channels may share one; NULL: as stored */
    enum light_origin origin;
};

/* Light in 0..1 of a code value in 0..1; channel counts from 0. */
typedef double light_curve(const void *user, int channel, double code);

/* "stored", "profile", "assumed sRGB", "sRGB in place of the profile": for reports. */
const char *esra_light_origin_name(enum light_origin origin);

/* Leaves everything as it is. */
void esra_light_stored(struct light *light);

/* IEC 61966-2-1. */
esra_status esra_light_srgb(struct light *light, enum light_origin origin, struct message *message);

/* The curves of `channels` channels (1..3), sampled at every 16-bit code. *usable is false, and light empty, where one
 * of them falls, is flat or leaves the finite: then there is no way back. Steps too small for float32 are widened to
 * the least that it can tell apart, so that encode(decode(x)) is x for every 8-bit and every 16-bit code. */
esra_status esra_light_from_curves(struct light *light, int channels, light_curve *curve, const void *user,
                                   bool *usable, struct message *message);

/* What a photo needs: the curve of its profile (NULL: none that can be used), else sRGB's, with the origin told. */
esra_status esra_light_choose(struct light *light, bool has_profile, int channels, light_curve *curve, const void *user,
                              struct message *message);

/* In place, every channel of an image. Values outside 0..1 follow the curve's end in a straight line. */
void esra_light_decode(const struct light *light, struct image *image);
void esra_light_encode(const struct light *light, struct image *image);

/* The same from one view to another of its size, which may be the same; channels that are as stored are not written. */
void esra_light_decode_view(const struct light *light, const esra_image *from, const esra_image *to);
void esra_light_encode_view(const struct light *light, const esra_image *from, const esra_image *to);

/* One value, as above. */
float esra_light_decode_one(const struct light *light, int channel, float code);
float esra_light_encode_one(const struct light *light, int channel, float linear);

/* Frees and empties; harmless on a zeroed light. */
void esra_light_free(struct light *light);

/* The exact curve, 0..1 to 0..1. */
double esra_srgb_to_linear(double code);

#endif
