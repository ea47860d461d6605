/* evidence/opposed.h - whether two layers cancel each other's edges.
 *
 * Two scenes know nothing of each other: where both have a gradient it is as often of one sign as of opposite ones. An
 * edge that a solver has put into one layer, and that the photo does not show, it must have taken back in the other:
 * ghosts come in pairs of opposite sign. */
#ifndef ESRA_EVIDENCE_OPPOSED_H
#define ESRA_EVIDENCE_OPPOSED_H

#include "base/image.h"

/* The sum of min(|d a|, |d b|) over all differences of opposite sign in two images of one size, over that of those of
 * one sign: about 1 for unrelated images, large where one takes back what the other has invented. 1 where they share
 * nothing. */
double esra_opposed(const struct image *a, const struct image *b);

#endif
