/* tools/esra/beside.h - photos are decoded, and pictures encoded, side by side: each takes one thread for a while. */
#ifndef ESRA_TOOL_BESIDE_H
#define ESRA_TOOL_BESIDE_H

#include "base/context.h"

/* As esra_context_side_by_side(), in at most `threads` threads of its own; 0: as many as there are processors. */
esra_status beside_run(context_job *job, void *work, int count, int threads, struct message *message);

#endif
