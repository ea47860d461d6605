/* io/profile.h - what is asked of an ICC profile, by lcms2. */
#ifndef ESRA_IO_PROFILE_H
#define ESRA_IO_PROFILE_H

#include "io/codec.h"

/* Fills the photo's profile_name, and its curves where the profile is of the matrix kind (three channels) or the grey
 * kind (one), for as many channels as the photo has: code values to linear light in the photo's own primaries, which
 * are filled in as well. */
esra_status esra_profile_look(struct photo *photo, struct message *message);

/* A profile with sRGB's curve for primaries that a file names in another way: x and y of red, green, blue and white.
 * Stays empty where they make no space. */
esra_status esra_profile_make(struct bytes *icc, const double xy[8], struct message *message);

/* CMYK to sRGB by the photo's own profile; refused where there is none. */
struct cmyk;
esra_status esra_cmyk_create(struct cmyk **cmyk, struct decoding *decoding, bool inverted);

/* count pixels of 4 bytes to 3 numbers of 16 bits each. */
void esra_cmyk_convert(const struct cmyk *cmyk, const unsigned char *from, uint16_t *to, int count);

void esra_cmyk_free(struct cmyk **cmyk);

#endif
