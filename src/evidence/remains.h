/* evidence/remains.h - outliers: what two layers leave of a photo unexplained. */
#ifndef ESRA_EVIDENCE_REMAINS_H
#define ESRA_EVIDENCE_REMAINS_H

#include "base/image.h"

/* A photo, its prediction by the layers, where it is known (mask, 0 where not), and the joint solve's robust weight of
 * each pixel; all of one size. */
struct explained_photo {
    const struct image *shown, *predicted, *mask, *weight;
};

/* Shares of the photo's pixels that neither layer explains and that are darker than predicted, or brighter; shares of
 * the frame that lie in unexplained cells, a fortieth of the width each: all of them, and the largest patch of adjacent
 * ones. The latter are 0 where the frame is too small for cells. */
struct remains {
    double darker, brighter, patches, largest;
};

esra_status esra_remains_find(const struct explained_photo *photo, struct remains *remains, struct message *message);

#endif
