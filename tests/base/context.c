/* tests/base/context.c - a context knows its threads, its instructions and when the caller has had enough. */
#include "base/context.h"
#include "base/cpu.h"
#include "base/timer.h"

#include "check.h"

static void add_one(void *work, int task, int worker)
{
    (void)worker;
    ((int *)work)[task]++;
}

static void it_runs_tasks_and_tells_failures(void)
{
    struct message message;
    struct context *context;
    int runs[7] = {0};
    CHECK(esra_context_create(&context, 3, &message) == ESRA_OK);
    CHECK(context->message == &message);
    CHECK(esra_context_threads(context) >= 1 && esra_context_threads(context) <= 3);
    esra_context_run(context, add_one, runs, 7, NULL);
    for (int n = 0; n < 7; n++)
        CHECK(runs[n] == 1);
    esra_context_free(&context);
    CHECK(context == NULL);
    esra_context_free(&context);
}

static void features_are_limited(void)
{
    struct message message;
    struct context *context;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    CHECK(context->features == esra_cpu_features());
    esra_context_limit(context, 0);
    CHECK(context->features == 0);
    esra_context_limit(context, CPU_SSE2 | CPU_AVX2);
    CHECK(context->features == (esra_cpu_features() & (CPU_SSE2 | CPU_AVX2)));
    esra_context_free(&context);
}

static bool asks_back(void *user)
{
    return esra_context_stopping(user);
}

/* Whoever is asked may run work in the same context, which asks in turn: that is no endless recursion. */
static void a_question_may_ask_back(void)
{
    struct message message;
    struct context *context;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    esra_context_ask(context, asks_back, context);
    CHECK(!esra_context_stopping(context));
    esra_context_free(&context);
}

static bool at_the_third(void *user)
{
    return ++*(int *)user == 3;
}

/* A yes is remembered, and nobody asked again; questions come at most ten times a second. */
static void a_stop_is_asked_for(void)
{
    struct message message;
    struct context *context;
    int asked = 0;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    CHECK(!esra_context_stopping(context));
    esra_context_ask(context, at_the_third, &asked);
    CHECK(!esra_context_stopping(context) && asked == 1);
    double start_s = esra_timer_now_s();
    while (!esra_context_stopping(context))
        continue;
    CHECK(asked == 3 && esra_timer_now_s() - start_s > 0.1);
    CHECK(esra_context_stopping(context) && asked == 3);
    esra_context_ask(context, NULL, NULL);
    CHECK(!esra_context_stopping(context));
    esra_context_free(&context);
}

/* Squares, but for job 4, which fails, and job 6, which fails too. */
static esra_status square(void *work, int number, struct context *own)
{
    int inside[5] = {0};
    CHECK(esra_context_threads(own) >= 1 && esra_context_threads(own) <= 3 && !esra_context_stopping(own));
    esra_context_run(own, add_one, inside, 5, NULL);
    ((int *)work)[number] = number * number * (inside[0] + inside[4] - inside[2]);
    return number == 4 || number == 6 ? esra_fail(own->message, ESRA_BAD_DATA, "job %d fails", number) : ESRA_OK;
}

static void jobs_run_side_by_side(void)
{
    struct message message;
    struct context *context;
    int squares[9] = {0};
    CHECK(esra_context_create(&context, 3, &message) == ESRA_OK);
    CHECK(esra_context_side_by_side(context, square, squares, 4) == ESRA_OK);
    CHECK(esra_context_side_by_side(context, square, squares, 9) == ESRA_BAD_DATA);
    CHECK(strcmp(message.text, "job 4 fails") == 0);
    for (int n = 0; n < 9; n++)
        CHECK(squares[n] == n * n);
    esra_context_free(&context);
}

static bool at_once(void *user)
{
    (void)user;
    return true;
}

static esra_status see_the_stop(void *work, int number, struct context *own)
{
    ((bool *)work)[number] = esra_context_stopping(own);
    return ESRA_OK;
}

/* A job of whichever thread sees that the caller has had enough. */
static void jobs_are_stopped(void)
{
    struct message message;
    struct context *context;
    bool seen[8] = {false};
    CHECK(esra_context_create(&context, 3, &message) == ESRA_OK);
    esra_context_ask(context, at_once, NULL);
    CHECK(esra_context_stopping(context));
    CHECK(esra_context_side_by_side(context, see_the_stop, seen, 8) == ESRA_OK);
    for (int n = 0; n < 8; n++)
        CHECK(seen[n]);
    esra_context_free(&context);
}

int main(void)
{
    RUN(it_runs_tasks_and_tells_failures);
    RUN(features_are_limited);
    RUN(a_question_may_ask_back);
    RUN(a_stop_is_asked_for);
    RUN(jobs_run_side_by_side);
    RUN(jobs_are_stopped);
    return check_report();
}
