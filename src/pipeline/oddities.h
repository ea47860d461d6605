/* pipeline/oddities.h - what is odd about the photos and can be helped by taking others: layers are found all the same, or
 * the photo comes back, but the photographer is told why it is no better. */
#ifndef ESRA_PIPELINE_ODDITIES_H
#define ESRA_PIPELINE_ODDITIES_H

#include "pipeline/pipeline.h"

/* Of one photo, a plane of it at about 700 px a side: the energy of its gradients after a blur of .7 px over that after one
 * of 2 px. Motion leaves it as it is; what is out of focus has less. */
esra_status esra_sharpness(const struct image *photo, bool linear, struct context *context, double *sharpness);

/* What layers leave of a photo: shares of its pixels that neither layer explains, by far, and that are darker than both
 * would be, or brighter; and of the frame what is lost in cells of a fortieth of the width: all, and the largest piece of it;
 * 0 where the frame is too small for cells. */
struct remains {
    double darker, brighter, patches, largest;
};

/* `trust` is the joint solve's weight of each pixel, `mask` 0 where nothing is known. */
esra_status esra_remains_find(const struct image *predicted, const struct image *shown, const struct image *mask,
                              const struct image *trust, struct remains *remains, struct message *message);

#endif
