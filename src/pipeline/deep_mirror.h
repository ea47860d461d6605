/* pipeline/deep_mirror.h - how the reflection moves where T moves by depth. */
#ifndef ESRA_PIPELINE_DEEP_MIRROR_H
#define ESRA_PIPELINE_DEEP_MIRROR_H

#include "pipeline/model.h"

/* g_i from what the voted T leaves of the photos, and the masks where it is known. Three motions are tried: a scene
 * before T's camera, as a flat glass mirrors it; a scene before a camera of its own; homographies. The one of the least
 * joint objective is taken (model->depth.mirror_kind); where the model knows that already only it is found.
 *
 * follow: a motion that lacks photos counts, too. T is then solved for from the others, and R's motion looked for again
 * in what that T leaves of all, as long as photos are lacking. */
esra_status esra_deep_find_mirror(struct model *model, const struct series *series, bool follow,
                                  struct context *context);

#endif
