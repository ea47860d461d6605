/* pipeline/pipeline.h - from photos to layers. Only this room sees all the stages. */
#ifndef ESRA_PIPELINE_PIPELINE_H
#define ESRA_PIPELINE_PIPELINE_H

#include "pipeline/run.h"

/* All of it; or, where run->motions_only, how both layers move: homographies unless depth was asked for. */
esra_status esra_pipeline_run(struct run *run);

#endif
