/* camera/labelling.h - median and speckle filters for maps of labels. Planes have no gaps between their rows. */
#ifndef ESRA_CAMERA_LABELLING_H
#define ESRA_CAMERA_LABELLING_H

#include "base/context.h"
#include "base/plane.h"

/* to = the median of the 5 x 5 samples around each; borders repeated. */
void esra_label_median(struct context *context, struct plane from, struct plane to);

/* marks = 1 in speckles: connected components of at most `most` pixels, labels of connected neighbours differing by no
 * more than `apart`; else 0. */
esra_status esra_label_speckles(struct plane labels, int most, float apart, struct plane marks,
                                struct message *message);

#endif
