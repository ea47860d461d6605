/* base/image.h - the value that travels from stage to stage: a planar float32 image, its planes one after the other. */
#ifndef ESRA_BASE_IMAGE_H
#define ESRA_BASE_IMAGE_H

#include <stdbool.h>

#include "base/plane.h"
#include "base/status.h"

struct image {
    float *data; /* sample (x, y) of channel c at data[(c * height + y) * width + x] */
    int width, height, channels;
    bool lent; /* the samples are somebody else's, and stay where the image is freed */
};

/* A zeroed image; every side at least 1. */
esra_status esra_image_create(struct image *image, int width, int height, int channels, struct message *message);

/* The same with samples unspecified: takes no memory from the system until they are written. */
esra_status esra_image_reserve(struct image *image, int width, int height, int channels, struct message *message);

/* Frees the samples, unless they are lent, and zeroes *image; harmless on a zeroed one. */
void esra_image_free(struct image *image);

/* Of all its samples. */
double esra_image_mean(const struct image *image);

/* count images of one size, zeroed. On failure esra_images_free() frees those that were made. */
esra_status esra_images_create(struct image **images, int count, int width, int height, int channels,
                               struct message *message);

/* Frees the images and their array, and sets *images to NULL; NULL is fine. */
void esra_images_free(struct image **images, int count);

static inline size_t image_pixels(const struct image *image)
{
    return (size_t)image->width * (size_t)image->height;
}

static inline size_t image_samples(const struct image *image)
{
    return image_pixels(image) * (size_t)image->channels;
}

/* Halvings after which no side is longer than side_px. */
static inline int image_halvings(int width, int height, int side_px)
{
    int halvings = 0, longest = width > height ? width : height;
    while (longest >> halvings > side_px)
        halvings++;
    return halvings;
}

static inline struct plane image_plane(const struct image *image, int channel)
{
    float *data = image->data + (size_t)channel * image_pixels(image);
    return (struct plane){data, image->width, image->height, image->width};
}

#endif
