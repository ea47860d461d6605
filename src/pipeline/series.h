/* pipeline/series.h - photos of one size in one light, every sample of them checked. */
#ifndef ESRA_PIPELINE_SERIES_H
#define ESRA_PIPELINE_SERIES_H

#include <math.h>

#include "base/image.h"
#include "pipeline/run.h"

/* Layers add up in linear light. Cameras store it bent by curves of their own that no profile tells, so that in the
 * root of light they may add up better. STORED: the caller's photos are code values, and are taken as they are. */
enum light { LIGHT_LINEAR, LIGHT_ROOT, LIGHT_STORED };

struct series {
    int photos, reference, width, height, channels;
    enum light light;
    double scale;         /* its px over px of the caller's photos: 1, 1/2, 1/4, ... */
    struct image *images; /* [photos], planar; the caller's are lent */
};

/* The caller's photos, once they, what is given with them and the images to be filled have been checked; a photo that
 * is not planar is copied. */
esra_status esra_series_load(struct series *series, struct run *run);

/* Photos halved so many times. Pixel 0 stays pixel 0: esra_transform_rescale() takes motions from one size to the
 * other. */
esra_status esra_series_halve(struct series *halved, const struct series *series, int times, struct run *run);

/* Photos halved until they have at most .6 megapixels: between .15 and .6 remain. They move and differ there as they do
 * at twelve. */
esra_status esra_series_shrink(struct series *small, const struct series *series, struct run *run);

/* Most pixels of a series that esra_series_shrink() leaves as it is. */
#define SERIES_SMALL_PIXELS 6e5

static inline bool series_is_small(const struct series *series)
{
    return (double)series->width * series->height <= SERIES_SMALL_PIXELS;
}

/* How many times photos of one scale were halved to get to the other. Scales are powers of two. */
static inline int scale_halvings(double scale, double smaller)
{
    return ilogb(scale / smaller);
}

/* Square roots of photos in linear light. */
esra_status esra_series_root(struct series *roots, const struct series *series, struct run *run);

/* Harmless on a zeroed one. */
void esra_series_free(struct series *series);

/* The caller says, by nine zeros in place of a transform, that photo i does not fit. */
bool esra_series_left_out(const esra_photos *input, int i);

/* The checks of esra_series_load(); fills the sizes. */
esra_status esra_series_check(struct series *series, const struct run *run);

#endif
