/* align/hypotheses.h - candidate motions between two photos. */
#ifndef ESRA_ALIGN_HYPOTHESES_H
#define ESRA_ALIGN_HYPOTHESES_H

#include "align/explain.h"
#include "align/normal.h"
#include "align/view.h"

/* Identity, three motions by matches, three shifts by correlation. */
#define HYPOTHESES_MOST 7

struct hypothesis {
    struct transform transform; /* px of level 0 */
    double gain;
    struct explained explained;
};

struct hypotheses {
    struct hypothesis each[HYPOTHESES_MOST];
    struct image maps; /* channel n: the energy explained by each[n], at the work level; one more to work in */
    int count;
};

/* Each is refined up to the work level; no two are the same to a pixel there. explainer: of the reference's field at
 * its work level. */
esra_status esra_hypotheses_find(struct hypotheses *hypotheses, struct context *context, const struct view *reference,
                                 const struct view *photo, struct explainer *explainer, enum motion motion);

void esra_hypotheses_free(struct hypotheses *hypotheses);

#endif
