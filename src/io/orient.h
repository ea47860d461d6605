/* io/orient.h - turning a picture upright. */
#ifndef ESRA_IO_ORIENT_H
#define ESRA_IO_ORIENT_H

#include "base/image.h"

/* Applies an EXIF orientation, 1..8: 1 leaves as is, 3 turns by half, 6 is a picture to be turned clockwise by a
 * quarter, 8 counterclockwise, 2, 4, 5 and 7 are the mirrored ones. Takes one plane of memory meanwhile. */
esra_status esra_orient(struct image *image, int orientation, struct message *message);

#endif
