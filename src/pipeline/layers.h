/* pipeline/layers.h - the paper's problem, made from a model, and its certified solution. */
#ifndef ESRA_PIPELINE_LAYERS_H
#define ESRA_PIPELINE_LAYERS_H

#include "gradients/guide.h"
#include "pipeline/verdict.h"

struct layers {
    struct guide guide; /* gradients and weights; its layers are the answer */
    bool solved;        /* the layers are there, if not as good as was asked for */
};

/* Gradients, weights and layers by the method of the verdict. The model's joint solution and masks are freed on the
 * way, as they are not needed any more; `doubt`, the part of the reflection that stays in T, may be empty. */
esra_status esra_layers_solve(struct layers *layers, struct model *model, esra_method method, const struct image *doubt,
                              struct run *run);

/* Harmless on a zeroed one. */
void esra_layers_free(struct layers *layers);

#endif
