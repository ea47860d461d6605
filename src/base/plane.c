/* base/plane.c - copies between planes and callers' images. */
#include "base/plane.h"

void esra_plane_load(struct plane plane, const esra_image *image, int channel)
{
    for (int y = 0; y < plane.height; y++) {
        float *to = plane_row(plane, y);
        const float *from = image_sample(image, 0, y, channel);
        for (int x = 0; x < plane.width; x++)
            to[x] = from[x * image->column_stride];
    }
}

void esra_plane_store(struct plane plane, const esra_image *image, int channel)
{
    for (int y = 0; y < plane.height; y++) {
        const float *from = plane_row(plane, y);
        float *to = image_sample(image, 0, y, channel);
        for (int x = 0; x < plane.width; x++)
            to[x * image->column_stride] = from[x];
    }
}
