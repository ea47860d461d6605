/* base/context.c - threads, features, the question whether to go on, and the place for messages. */
#include "base/context.h"

#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"

/* How often the caller is asked: a tenth of the second within which esra promises to react. */
#define ASK_EVERY_S .1

esra_status esra_context_create(struct context **out, int threads, struct message *message)
{
    struct context *context = *out = esra_allocate(1, sizeof *context);
    if (!context)
        return esra_fail_memory(message);
    context->message = message;
    context->features = esra_cpu_features();
    esra_status status = esra_pool_create(&context->pool, threads, message);
    if (status != ESRA_OK)
        esra_context_free(out);
    return status;
}

void esra_context_free(struct context **context)
{
    if (!*context)
        return;
    esra_pool_free(&(*context)->pool);
    esra_release(context);
}

void esra_context_limit(struct context *context, unsigned mask)
{
    context->features = esra_cpu_features() & mask;
}

int esra_context_threads(const struct context *context)
{
    return esra_pool_threads(context->pool);
}

void esra_context_ask(struct context *context, context_question *enough, void *user)
{
    context->enough = enough;
    context->user = user;
    context->asked_s = 0;
    context->stopping = false;
}

bool esra_context_stopping(struct context *context)
{
    double now_s = context->enough ? esra_timer_now_s() : 0;
    if (context->enough && !context->stopping && now_s - context->asked_s >= ASK_EVERY_S) {
        context_question *enough = context->enough;
        context->asked_s = now_s;
        context->enough = NULL; /* `enough` may itself run work that asks */
        context->stopping = enough(context->user);
        context->enough = enough;
    }
    return context->stopping;
}

void esra_context_run(struct context *context, pool_task *run, void *work, int tasks, pool_watch *watch)
{
    esra_pool_run(context->pool, run, work, tasks, watch);
}
