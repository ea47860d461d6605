/* tests/pipeline/remaining.c - the seconds that a separation tells it has to go: from the plan, at its own pace. */
#include "pipeline/run.h"

#include "base/timer.h"
#include "check.h"

static struct message message;
static const struct shape photos = {.photos = 5, .width = 640, .height = 480, .channels = 3};

static struct run begin(struct context *context)
{
    struct run run = {.context = context};
    run.started_s = run.part_s = esra_timer_now_s();
    return run;
}

/* As if the part at work had taken so long. */
static void pass(struct run *run, double s)
{
    run->started_s -= s;
    run->part_s -= s;
}

static void it_begins_with_the_plan(void)
{
    struct context *context;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    struct run run = begin(context);
    CHECK(esra_run_remaining(&run) == 0);
    esra_plan plan = ESRA_PLAN_INIT;
    CHECK(esra_plan_separate(5, 640, 480, 3, NULL, &plan) == ESRA_OK);
    esra_run_plan(&run, &photos, false);
    CHECK_NEAR(esra_run_remaining(&run), plan.core_seconds, .05 * plan.core_seconds);
    esra_context_free(&context);
}

/* A machine of half the speed that was planned for takes twice as long, and one that takes longer over a part than
 * planned is not told to be ready at once. */
static void it_follows_the_pace(void)
{
    struct context *context;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    struct run run = begin(context);
    esra_run_plan(&run, &photos, false);
    double left = 0;
    for (int part = PART_TRIAL; part < PARTS; part++)
        left += run.planned[part];
    for (int part = PART_LOAD; part < PART_TRIAL; part++) {
        pass(&run, 2 * run.planned[part]);
        esra_run_enter(&run, (enum part)(part + 1));
    }
    double told = esra_run_remaining(&run);
    CHECK(told > 1.6 * left && told < 2 * left);
    pass(&run, 1000 * left);
    CHECK(esra_run_remaining(&run) > run.planned[PART_SOLVE]);
    esra_context_free(&context);
}

static void what_is_left_out_takes_no_time(void)
{
    struct context *context;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    struct run tried = begin(context), spared;
    esra_run_plan(&tried, &photos, false);
    pass(&tried, tried.planned[PART_LOAD]);
    spared = tried;
    esra_run_enter(&tried, PART_TRIAL);
    esra_run_enter(&spared, PART_SOLVE);
    CHECK(esra_run_remaining(&spared) < .3 * esra_run_remaining(&tried));
    struct run draft = begin(context), whole = draft;
    struct shape large = {.photos = 5, .width = 4000, .height = 3000, .channels = 3};
    esra_run_plan(&draft, &large, true);
    esra_run_plan(&whole, &large, false);
    CHECK(esra_run_remaining(&draft) < .2 * esra_run_remaining(&whole));
    esra_context_free(&context);
}

int main(void)
{
    RUN(it_begins_with_the_plan);
    RUN(it_follows_the_pace);
    RUN(what_is_left_out_takes_no_time);
    return check_report();
}
