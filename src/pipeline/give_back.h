/* pipeline/give_back.h - the layers back into the photos' frames and light, and the facts to the caller. */
#ifndef ESRA_PIPELINE_GIVE_BACK_H
#define ESRA_PIPELINE_GIVE_BACK_H

#include "pipeline/layers.h"

/* Fills the caller's images; the reference photo comes back where there are no layers. Those of a draft, which are of
 * the smaller photos `series`, are enlarged. */
esra_status esra_give_back_layers(struct layers *layers, struct model *model, const struct series *series,
                                  struct run *run);

/* Fills motions, gains, facts and figures. */
void esra_give_back_facts(const struct model *model, const struct evidence *evidence, struct run *run);

#endif
