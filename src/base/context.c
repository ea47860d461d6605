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
    context->lanczos = esra_allocate(1, sizeof *context->lanczos);
    if (context->lanczos)
        esra_lock_init(&context->lanczos->lock);
    esra_status status =
        context->lanczos ? esra_pool_create(&context->pool, threads, message) : esra_fail_memory(message);
    if (status != ESRA_OK)
        esra_context_free(out);
    return status;
}

void esra_context_free(struct context **context)
{
    if (!*context)
        return;
    esra_pool_free(&(*context)->pool);
    if ((*context)->lanczos)
        esra_lock_free(&(*context)->lanczos->lock);
    esra_release(&(*context)->lanczos);
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
    atomic_store(&context->stopping, false);
}

bool esra_context_stopping(struct context *context)
{
    if (context->parent)
        return context->asks ? esra_context_stopping(context->parent) : atomic_load(&context->parent->stopping);
    double now_s = context->enough ? esra_timer_now_s() : 0;
    if (context->enough && !context->stopping && now_s - context->asked_s >= ASK_EVERY_S) {
        context_question *enough = context->enough;
        context->asked_s = now_s;
        context->enough = NULL; /* `enough` may itself run work that asks */
        atomic_store(&context->stopping, enough(context->user));
        context->enough = enough;
    }
    return context->stopping;
}

void esra_context_run(struct context *context, pool_task *run, void *work, int tasks, pool_watch *watch)
{
    if (context->parent)
        esra_pool_run_within(context->pool, context->worker, run, work, tasks);
    else
        esra_pool_run(context->pool, run, work, tasks, watch);
}

struct jobs {
    struct context *context;
    context_job *job;
    void *work;
    struct message *messages; /* [count] */
    esra_status *statuses;    /* [count] */
};

static void run_job(void *work, int number, int worker)
{
    struct jobs *jobs = work;
    struct context own = {.message = &jobs->messages[number],
                          .pool = jobs->context->pool,
                          .worker = worker,
                          .features = jobs->context->features,
                          .parent = jobs->context,
                          .asks = worker == 0,
                          .lanczos = jobs->context->lanczos};
    jobs->statuses[number] = jobs->job(jobs->work, number, &own);
}

static esra_status first_failure(const struct jobs *jobs, int count)
{
    for (int n = 0; n < count; n++)
        if (jobs->statuses[n] != ESRA_OK) {
            *jobs->context->message = jobs->messages[n];
            return jobs->statuses[n];
        }
    return ESRA_OK;
}

esra_status esra_context_side_by_side(struct context *context, context_job *job, void *work, int count)
{
    if (count == 1)
        return job(work, 0, context);
    struct jobs jobs = {.context = context, .job = job, .work = work};
    jobs.messages = esra_allocate((size_t)count, sizeof *jobs.messages);
    jobs.statuses = esra_allocate((size_t)count, sizeof *jobs.statuses);
    esra_status status;
    if (jobs.messages && jobs.statuses) {
        esra_context_run(context, run_job, &jobs, count, NULL);
        status = first_failure(&jobs, count);
    } else {
        status = esra_fail_memory(context->message);
    }
    esra_release(&jobs.messages);
    esra_release(&jobs.statuses);
    return status;
}
