/* pipeline/rests.h - photos less T, by depth: where the reflection is looked for. */
#ifndef ESRA_PIPELINE_RESTS_H
#define ESRA_PIPELINE_RESTS_H

#include "camera/tracks.h"
#include "pipeline/model.h"

struct rests {
    int photos;
    struct image *images; /* [photos], each in its own frame; mirror_lift lighter, and no less than 0 */
    struct image *seen;   /* [photos], as large as blocks need: 0 where T is not known */
    struct tracks blocks; /* what moves otherwise than T (camera/blocks.h) ... */
    struct tracks tracks; /* ... and, with it, points tracked */
};

/* With the T that the model's depth.voted is. Zeroed before; tracks are left empty. */
esra_status esra_rests_find(struct rests *rests, const struct model *model, const struct series *series,
                            struct context *context);

esra_status esra_rests_track(struct rests *rests, const struct model *model, struct context *context);

/* Harmless on a zeroed one. */
void esra_rests_free(struct rests *rests);

#endif
