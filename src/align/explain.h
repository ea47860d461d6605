/* align/explain.h - how much of the reference's gradients a motion explains, and where. */
#ifndef ESRA_ALIGN_EXPLAIN_H
#define ESRA_ALIGN_EXPLAIN_H

#include "ops/field.h"

/* Planes and a field to work in, of the size of the reference field explained. */
struct explainer {
    const struct field *reference;
    struct field warped;
    struct image planes;
    double energy; /* sum of the reference's smoothed gradient energy n */
};

struct explained {
    double share;    /* of the reference's gradient energy, 0..1 */
    double residual; /* energy of the difference over the reference's, where both see: 0 for the same photo */
    double overlap;  /* share of the reference's pixels that the photo sees */
};

esra_status esra_explainer_create(struct explainer *explainer, struct context *context, const struct field *reference);

void esra_explainer_free(struct explainer *explainer);

/* Fills map (the reference's size; data NULL: none) with the energy explained,
 *
 *     U = n exp(-e/(.15 n + noise)),   n = |C0|^2,  e = |W/gain - C0|^2,  both smoothed by 2 px,
 *
 * and 0 where the photo does not see. The transform is in px of this level. */
struct explained esra_explain(struct explainer *explainer, struct context *context, const struct field *photo,
                              const struct transform *transform, double gain, struct plane map);

/* weights = the share U/n of every pixel's energy that a map explains, 0 where it is small; weights may have the size
 * of a finer level, its pixel (x, y) standing at (x, y)/2^finer of the map. */
void esra_explain_weights(const struct explainer *explainer, struct plane map, int finer, struct plane weights);

#endif
