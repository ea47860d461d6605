/* esra.c - the public entry points: check, run, fill info. */
#include <esra/esra.h>

#include <limits.h>
#include <string.h>

#include "base/context.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"
#include "pipeline/pipeline.h"
#include "pipeline/plan.h"
#include "settings.h"

#define STRING_(x) #x
#define STRING(x)  STRING_(x)

struct esra_solver {
    struct message message;
    struct context *context;
    int threads_asked; /* for, when the context was made */
    struct solve_memory memory;
    esra_progress *progress;
    void *user;
};

const char *esra_version(void)
{
    return STRING(ESRA_VERSION_MAJOR) "." STRING(ESRA_VERSION_MINOR) "." STRING(ESRA_VERSION_PATCH);
}

esra_status esra_solver_create(esra_solver **solver)
{
    if (!solver)
        return ESRA_BAD_ARGUMENT;
    *solver = esra_allocate(1, sizeof **solver);
    return *solver ? ESRA_OK : ESRA_OUT_OF_MEMORY;
}

void esra_solver_free(esra_solver **solver)
{
    if (!solver || !*solver)
        return;
    esra_context_free(&(*solver)->context);
    esra_solve_memory_free(&(*solver)->memory);
    esra_release(solver);
}

const char *esra_solver_message(const esra_solver *solver)
{
    return solver ? solver->message.text : "out of memory: the solver could not be made";
}

void esra_solver_set_progress(esra_solver *solver, esra_progress *progress, void *user)
{
    solver->progress = progress;
    solver->user = user;
}

static int thread_count(const esra_settings *settings)
{
    int processors = esra_cpu_count();
    return settings->threads > 0 ? settings->threads : processors < ESRA_THREADS_MOST ? processors : ESRA_THREADS_MOST;
}

static esra_status prepare_context(esra_solver *solver, const esra_settings *settings)
{
    int threads = thread_count(settings);
    esra_status status = ESRA_OK;
    if (!solver->context || solver->threads_asked != threads) {
        esra_context_free(&solver->context);
        solver->threads_asked = threads;
        TRY(esra_context_create(&solver->context, threads, &solver->message));
    }
    esra_context_limit(solver->context, (unsigned)settings->cpu_mask);
done:
    return status;
}

/* A caller built against an older header has a shorter struct: only what it has is filled. */
static void return_info(esra_info *to, const esra_info *from)
{
    if (!to)
        return;
    size_t size = to->struct_size < sizeof *from ? to->struct_size : sizeof *from;
    if (size < sizeof to->struct_size)
        return;
    memcpy(to, from, size);
    to->struct_size = size;
}

esra_status esra_solver_run(esra_solver *solver, const esra_problem *problem, const esra_settings *caller_settings,
                            const esra_result *result, esra_info *info)
{
    esra_status status;
    esra_settings settings;
    esra_info filled = ESRA_INFO_INIT;
    if (!solver)
        return ESRA_BAD_ARGUMENT;
    solver->message.text[0] = '\0';
    TRY(esra_settings_check(&settings, caller_settings, &solver->message));
    TRY(prepare_context(solver, &settings));
    struct solve_task task = {problem, result, &settings, solver->progress, solver->user, {0}};
    TRY(esra_solve(solver->context, &task, &solver->memory, &filled));
    return_info(info, &filled);
done:
    return status;
}

/* The part of a struct that its caller has, and defaults for the rest; false where it was not initialised. */
static bool take_struct(void *to, const void *from, size_t size)
{
    size_t callers = 0;
    if (from)
        memcpy(&callers, from, sizeof callers);
    if (callers < sizeof callers)
        return false;
    memcpy(to, from, callers < size ? callers : size);
    return true;
}

/* Stands between the pipeline, the solve in it, and the caller's function: tells the time since the whole began, and
 * hears whether the layers are unwanted. Who has said stop is not asked again, even where the solve had just ended by
 * itself. */
struct listener {
    esra_progress *progress;
    void *user;
    double started_s; /* on the timer */
    bool unwanted;
    int answer;            /* the last one */
    const struct run *run; /* NULL until it begins */
};

static int hear(void *user, const esra_info *so_far)
{
    struct listener *listener = user;
    esra_info info = *so_far;
    if (listener->answer != 0)
        return listener->answer;
    info.seconds = esra_timer_now_s() - listener->started_s;
    info.remaining_seconds = esra_run_remaining(listener->run);
    listener->answer = listener->progress(listener->user, &info);
    listener->unwanted = listener->unwanted || listener->answer < 0;
    return listener->answer;
}

/* Copies the caller's structs, which may be shorter or longer than this library's, and checks them. */
static esra_status take_input(esra_solver *solver, const esra_photos *callers, esra_photos *photos,
                              const esra_separation *wanted, esra_separation *separation)
{
    if (!take_struct(photos, callers, sizeof *photos) || !take_struct(separation, wanted, sizeof *separation))
        return esra_fail(&solver->message, ESRA_BAD_ARGUMENT,
                         "photos or separation was not initialised: set struct_size to the size of the struct");
    return esra_photos_check(photos, &solver->message);
}

/* What both calls below share. The solver's own message and threads serve the whole of it. */
static esra_status run_pipeline(esra_solver *solver, const esra_photos *caller_photos,
                                const esra_settings *caller_settings, esra_separation *caller_separation,
                                bool motions_only)
{
    esra_status status;
    esra_settings settings, standard;
    esra_photos photos = ESRA_PHOTOS_INIT;
    esra_separation separation = {0};
    esra_info info = ESRA_INFO_INIT, *callers_info;
    if (!solver)
        return ESRA_BAD_ARGUMENT;
    struct listener listener = {solver->progress, solver->user, esra_timer_now_s(), false, 0, NULL};
    solver->message.text[0] = '\0';
    esra_settings_for_separation(&standard);
    TRY(esra_settings_check(&settings, caller_settings ? caller_settings : &standard, &solver->message));
    TRY(take_input(solver, caller_photos, &photos, caller_separation, &separation));
    TRY(prepare_context(solver, &settings));
    struct run run = {.input = &photos,
                      .settings = &settings,
                      .output = &separation,
                      .context = solver->context,
                      .memory = &solver->memory,
                      .progress = listener.progress ? hear : NULL,
                      .user = &listener,
                      .unwanted = &listener.unwanted,
                      .motions_only = motions_only};
    listener.run = &run;
    callers_info = separation.info;
    separation.info = &info; /* the pipeline always has one */
    TRY(esra_pipeline_run(&run));
    separation.info = callers_info;
    return_info(callers_info, &info);
    size_t callers = caller_separation->struct_size;
    memcpy(caller_separation, &separation, callers < sizeof separation ? callers : sizeof separation);
done:
    return status;
}

esra_status esra_solver_separate(esra_solver *solver, const esra_photos *photos, const esra_settings *settings,
                                 esra_separation *separation)
{
    return run_pipeline(solver, photos, settings, separation, false);
}

esra_status esra_solver_align(esra_solver *solver, const esra_photos *photos, const esra_settings *settings,
                              esra_separation *separation)
{
    return run_pipeline(solver, photos, settings, separation, true);
}

static esra_status make_plan(struct shape shape, const esra_settings *caller_settings, esra_plan *plan,
                             void (*make)(const struct shape *, esra_plan *))
{
    esra_settings settings;
    struct message message;
    esra_plan made = ESRA_PLAN_INIT;
    const int most = INT_MAX / 64; /* so that no count below overflows; no address space holds as much */
    if (shape.photos < 1 || shape.width < 1 || shape.height < 1 || shape.channels < 1 || !plan ||
        plan->struct_size < sizeof plan->struct_size ||
        esra_settings_check(&settings, caller_settings, &message) != ESRA_OK)
        return ESRA_BAD_ARGUMENT;
    if (shape.width > most || shape.height > most || shape.photos > most / shape.channels - 1)
        return ESRA_OVER_LIMIT;
    shape.threads = thread_count(&settings);
    shape.engine = settings.engine;
    make(&shape, &made);
    made.struct_size = plan->struct_size < sizeof made ? plan->struct_size : sizeof made;
    memcpy(plan, &made, made.struct_size);
    return ESRA_OK;
}

esra_status esra_plan_separate(int photos, int width, int height, int channels, const esra_settings *settings,
                               esra_plan *plan)
{
    struct shape shape = {.photos = photos, .width = width, .height = height, .channels = channels};
    if (photos < 2 || (channels != 1 && channels != 3))
        return ESRA_BAD_ARGUMENT;
    return make_plan(shape, settings, plan, esra_pipeline_plan);
}

esra_status esra_plan_run(int photos, int width, int height, int channels, const esra_settings *settings,
                          esra_plan *plan)
{
    struct shape shape = {.photos = photos, .width = width, .height = height, .channels = channels};
    return make_plan(shape, settings, plan, esra_solve_plan);
}
