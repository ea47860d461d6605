/* tools/esra/beside.c - files side by side. */
#include "beside.h"

#include "base/cpu.h"

esra_status beside_run(context_job *job, void *work, int count, int threads, struct message *message)
{
    struct context *context;
    int most = threads > 0 ? threads : esra_cpu_count();
    esra_status status = esra_context_create(&context, most < count ? most : count, message);
    if (status != ESRA_OK)
        return status;
    status = esra_context_side_by_side(context, job, work, count);
    esra_context_free(&context);
    return status;
}
