/* io/profile.h - what is asked of an ICC profile, by lcms2. */
#ifndef ESRA_IO_PROFILE_H
#define ESRA_IO_PROFILE_H

#include "colour/light.h"
#include "io/codec.h"

/* The photo's own curves between code values and linear light in its own primaries: those of its profile where that is
 * of the matrix or grey kind and fits the photo, sRGB's otherwise. light->origin tells which. */
esra_status esra_profile_light(struct light *light, const struct photo *photo, struct message *message);

/* CMYK to sRGB by the photo's own profile; refused where there is none. */
struct cmyk;
esra_status esra_cmyk_create(struct cmyk **cmyk, struct decoding *decoding, bool inverted);

/* count pixels of 4 bytes to 3 numbers of 16 bits each. */
void esra_cmyk_convert(const struct cmyk *cmyk, const unsigned char *from, uint16_t *to, int count);

void esra_cmyk_free(struct cmyk **cmyk);

#endif
