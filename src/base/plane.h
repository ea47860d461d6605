/* base/plane.h - one channel of an image inside the library: float32, rows contiguous. */
#ifndef ESRA_BASE_PLANE_H
#define ESRA_BASE_PLANE_H

#include <stddef.h>

#include <esra/esra.h>

struct plane {
    float *data;
    int width, height;
    ptrdiff_t stride; /* floats from one row to the next */
};

static inline float *plane_row(struct plane plane, int y)
{
    return plane.data + y * plane.stride;
}

static inline size_t plane_pixels(struct plane plane)
{
    return (size_t)plane.width * (size_t)plane.height;
}

static inline float *image_sample(const esra_image *image, int x, int y, int channel)
{
    return image->data + y * image->row_stride + x * image->column_stride + channel * image->channel_stride;
}

/* Between a plane and one channel of a caller's image of the same size. */
void esra_plane_load(struct plane plane, const esra_image *image, int channel);
void esra_plane_store(struct plane plane, const esra_image *image, int channel);

#endif
