/* gradients/guide.h - what the solver of esra.h needs beside the photos: the layers' gradients and the photos' weights,
 * in the reference frame, and room for the layers it finds. */
#ifndef ESRA_GRADIENTS_GUIDE_H
#define ESRA_GRADIENTS_GUIDE_H

#include "base/context.h"
#include "base/image.h"

struct guide {
    int photos;              /* m */
    struct image *gradients; /* [2(m+1)], the order of esra_problem: 2l down, 2l+1 right */
    struct image *weights;   /* [m], one channel in [0,1]: esra_problem's weights */
    struct image *layers;    /* [m+1]: the solver's answer */
};

/* Zeroed images of the given size. */
esra_status esra_guide_create(struct guide *guide, int photos, int width, int height, int channels,
                              struct message *message);

/* Frees the images and zeroes *guide; harmless on a zeroed one. */
void esra_guide_free(struct guide *guide);

/* Layer l's gradients from an image of it, zero where `known` (one channel) is zero on either side of a difference;
 * known NULL: everywhere. */
void esra_guide_set_layer(struct guide *guide, int layer, const struct image *image, const struct image *known);

#endif
