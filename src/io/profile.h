/* io/profile.h - what is asked of an ICC profile, by lcms2. */
#ifndef ESRA_IO_PROFILE_H
#define ESRA_IO_PROFILE_H

#include "io/codec.h"

/* The curves of a profile of the matrix kind (three channels) or the grey kind (one): code values to linear light in
 * the photo's own primaries. */
struct profile;

/* *profile is NULL where the bytes are no profile, one of another kind, or for another number of channels. */
esra_status esra_profile_open(struct profile **profile, const struct bytes *icc, int channels, struct message *message);

/* Light of a code in 0..1: in 0..1 too for an honest profile, any number or none for another, which colour/light.c then
 * refuses. The pointer is untyped so that this fits colour/light.h's light_curve. */
double esra_profile_curve(const void *profile, int channel, double code);

void esra_profile_free(struct profile **profile);

/* CMYK to sRGB by the photo's own profile; refused where there is none. */
struct cmyk;
esra_status esra_cmyk_create(struct cmyk **cmyk, struct decoding *decoding, bool inverted);

/* count pixels of 4 bytes to 3 numbers of 16 bits each. */
void esra_cmyk_convert(const struct cmyk *cmyk, const unsigned char *from, uint16_t *to, int count);

void esra_cmyk_free(struct cmyk **cmyk);

#endif
