/* gradients/guide.h - what the solver of esra.h needs beside the photos: what the layers' gradients follow from and the
 * photos' weights, in the reference frame, and room for the layers it finds. */
#ifndef ESRA_GRADIENTS_GUIDE_H
#define ESRA_GRADIENTS_GUIDE_H

#include "base/codes.h"
#include "base/context.h"
#include "base/image.h"

struct guide {
    int photos, channels;    /* m */
    struct codes *expected;  /* [channels][m+1], one channel each: E_l = D of it, 0 beside NaN; or NULL */
    struct image *voted;     /* [channels][2], one channel each: E_0 down and right, E_i = D I_i - a_i E_0; or NULL */
    struct image *weights;   /* [m], one channel in [0,1]: esra_problem's weights */
    struct codes *codes;     /* [m]: these in 16 bits, in their place; or NULL */
    struct image *layers;    /* [m+1]: the solver's answer */
    struct image confidence; /* mean over the photos of how far the joint solution explains each; or empty */
};

/* Zeroed weights and layers of the given size. */
esra_status esra_guide_create(struct guide *guide, int photos, int width, int height, int channels,
                              struct message *message);

/* And layers that are expected, or zeroed E_0. */
esra_status esra_guide_expect(struct guide *guide, struct message *message);
esra_status esra_guide_expect_votes(struct guide *guide, struct message *message);

/* Weights from here on in 16 bits. */
esra_status esra_guide_encode(struct guide *guide, struct message *message);

/* Frees what is expected: the layers have been solved for. */
void esra_guide_forget(struct guide *guide);

/* Frees the images and zeroes *guide; harmless on a zeroed one. */
void esra_guide_free(struct guide *guide);

#endif
