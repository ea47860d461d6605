/* pipeline/run.c - asking whether the work is still wanted, and the clock. */
#include "pipeline/run.h"

#include "base/timer.h"

static const char *const stage_names[STAGES] = {"align", "separate", "solve", "return"};

/* The time since the last question was spent on the stage of that question. */
static void clock_stage(struct run *run, enum stage next)
{
    double now_s = esra_timer_now_s();
    run->spent_s[run->stage] += now_s - run->asked_s;
    run->asked_s = now_s;
    run->stage = next;
}

bool esra_run_stopping(struct run *run, enum stage stage)
{
    esra_info info = ESRA_INFO_INIT;
    clock_stage(run, run->motions_only ? STAGE_ALIGN : stage);
    info.stage = stage_names[run->stage];
    info.threads = esra_context_threads(run->context);
    info.seconds = run->asked_s - run->started_s;
    run->stopped = run->stopped || esra_context_stopping(run->context);
    if (!run->stopped && run->progress)
        run->stopped = run->progress(run->user, &info) != 0;
    return run->stopped;
}

/* ---- How long it takes ---- */

void esra_run_plan(struct run *run, const struct shape *shape, bool draft)
{
    esra_plan_parts(shape, draft, run->planned);
    for (int part = PART_ALIGN + 1; run->motions_only && part < PARTS; part++)
        run->planned[part] = 0;
    run->planned_all = run->planned_done = 0;
    for (int part = 0; part < PARTS; part++)
        run->planned_all += run->planned[part];
}

void esra_run_enter(struct run *run, enum part part)
{
    run->planned_done += run->planned[run->part];
    run->planned[run->part] = 0;
    for (int before = 0; before < (int)part; before++)
        run->planned[before] = 0;
    run->part = part;
    run->part_s = esra_timer_now_s();
}

/* Seconds a core second takes: as the parts that have ended took, the one at work where it takes longer than planned,
 * and, as if it were a tenth of the whole, all threads at work. */
static double rate(const struct run *run, double now_s)
{
    double guess = .1 * run->planned_all, guess_s = guess / esra_context_threads(run->context);
    double ended = (run->part_s - run->started_s + guess_s) / (run->planned_done + guess);
    double with_this = (now_s - run->started_s + guess_s) / (run->planned_done + run->planned[run->part] + guess);
    return with_this > ended ? with_this : ended;
}

double esra_run_remaining(const struct run *run)
{
    if (run->planned_all == 0)
        return 0;
    double now_s = esra_timer_now_s(), pace = rate(run, now_s), after = 0;
    for (int part = (int)run->part + 1; part < PARTS; part++)
        after += run->planned[part];
    double here_s = pace * run->planned[run->part] - (now_s - run->part_s);
    return pace * after + (here_s > 0 ? here_s : 0);
}

/* For the context, through which steps ask in their midst. */
static bool enough(void *user)
{
    struct run *run = user;
    return esra_run_stopping(run, run->stage);
}

/* Keeps the caller's output pointers and clears everything else, so that a stopped run reports nothing of an earlier
 * one. */
static void clear_answers(esra_separation *out)
{
    esra_separation blank = ESRA_SEPARATION_INIT;
    blank.struct_size = out->struct_size;
    blank.transmitted = out->transmitted;
    blank.reflected = out->reflected;
    blank.confidence = out->confidence;
    blank.transmitted_motion = out->transmitted_motion;
    blank.reflected_motion = out->reflected_motion;
    blank.mixing = out->mixing;
    blank.reflection_gain = out->reflection_gain;
    blank.facts = out->facts;
    blank.info = out->info;
    *blank.info = (esra_info)ESRA_INFO_INIT;
    blank.evidence = out->evidence;
    blank.photo_evidence = out->photo_evidence;
    *out = blank;
}

void esra_run_begin(struct run *run)
{
    clear_answers(run->output);
    run->stage = STAGE_ALIGN;
    run->started_s = run->asked_s = run->part_s = esra_timer_now_s();
    esra_context_ask(run->context, enough, run);
}

void esra_run_end(struct run *run)
{
    esra_separation *out = run->output;
    esra_context_ask(run->context, NULL, NULL);
    clock_stage(run, run->stage);
    out->align_s = run->spent_s[STAGE_ALIGN];
    out->joint_s = run->spent_s[STAGE_SEPARATE];
    out->solve_s = run->spent_s[STAGE_SOLVE];
    out->total_s = run->asked_s - run->started_s;
}
