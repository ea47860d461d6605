/* colour/primaries.h - linear light of one RGB space as linear light of another. */
#ifndef ESRA_COLOUR_PRIMARIES_H
#define ESRA_COLOUR_PRIMARIES_H

#include <stdbool.h>

#include "base/image.h"

/* Row by row, what X, Y and Z (of ICC's connection space, whose white is D50) linear R, G and B of 1 have. */
struct primaries {
    double xyz[9];
};

/* IEC 61966-2-1, brought to D50 as in ICC's own sRGB profiles. */
#define PRIMARIES_SRGB                                                                                                 \
    {                                                                                                                  \
        {                                                                                                              \
            0.4360, 0.3851, 0.1431, 0.2225, 0.7169, 0.0606, 0.0139, 0.0971, 0.7141                                     \
        }                                                                                                              \
    }

/* Whether they span a space: finite, of a white that is one, and no narrower than a tenth of sRGB's. */
bool esra_primaries_usable(const struct primaries *primaries);

/* (R, G, B) -> m (R, G, B), row by row. */
struct colour_map {
    float m[9];
    bool same; /* nothing is to be done: the spaces are one, but for how their profiles were rounded */
};

/* From one usable space to another. White becomes white, whatever the profiles' own whites are, so that greys stay
 * grey; colours that the other space cannot show become values outside 0..1. */
struct colour_map esra_colour_map(const struct primaries *from, const struct primaries *to);

/* In place; images of another number of channels than three stay as they are. */
void esra_colour_map_apply(const struct colour_map *map, struct image *image);

#endif
