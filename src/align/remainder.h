/* align/remainder.h - the remainders of aligned photos: what they hold beside the transmitted layer, as gradient
 * fields.
 */
#ifndef ESRA_ALIGN_REMAINDER_H
#define ESRA_ALIGN_REMAINDER_H

#include "ops/field.h"

/* Three photos or more: the gradients of photo i less a_i times the transmitted layer's, which are taken to be the
 * median over the photos and half a vote for zero (an edge that only one photo has belongs to its reflection). photos
 * and masks as in reflection.h; fills fields[count]. */
esra_status esra_remainder_by_median(struct context *context, const struct image *photos, const struct image *masks,
                                     const double *mixing, int count, struct field *fields);

/* A pair of photos: the difference photo/mixing - reference holds R_i where it is positive and R_0 where it is
 * negative. Makes images of the roots of both: parts[0] of R_0, parts[1] of R_i. */
esra_status esra_remainder_by_sign(const struct image *reference, const struct image *photo, const struct image *mask,
                                   double mixing, struct image parts[2], struct message *message);

#endif
