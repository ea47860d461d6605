/* camera/labelling.h - mending maps of labels. Planes have no gaps between their rows. */
#ifndef ESRA_CAMERA_LABELLING_H
#define ESRA_CAMERA_LABELLING_H

#include "base/context.h"
#include "base/image.h"

/* to = the median of the 5 x 5 samples around each; borders repeated. */
void esra_label_median(struct context *context, struct plane from, struct plane to);

/* marks = 1 where a pixel's patch, in which labels of neighbours differ by no more than `apart`, has at most `most`
 * pixels; else 0. */
esra_status esra_label_speckles(struct plane labels, int most, float apart, struct plane marks,
                                struct message *message);

#endif
