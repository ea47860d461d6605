/* pipeline/gains.h - a_i and b_i: how brightly a photo shows each layer. */
#ifndef ESRA_PIPELINE_GAINS_H
#define ESRA_PIPELINE_GAINS_H

#include "pipeline/model.h"

/* a_i as measured on the photos in the reference's frame, or as given; b_i = a_i until something better is known. */
esra_status esra_gains_measure(struct model *model, struct run *run);

/* The gains of another model, of light in whatever light either is. */
void esra_gains_take(struct model *model, const struct model *from);

#endif
