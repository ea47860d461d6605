/* solve/monitor.c - watches a run. */
#include "solve/monitor.h"

#include <math.h>

#include "base/rows.h"
#include "base/timer.h"

/* Blocks that an estimate looks at, spread over the image: about as many, or all where there are few; and the rows of
 * each. */
#define SAMPLED_BLOCKS 16
#define SAMPLED_ROWS   4

#define POLL_EVERY_S 0.1

#define STALL_ITERATIONS 1000
#define STALL_GAIN       0.99

static void lay_out(struct monitor *monitor, int threads, struct arena *arena)
{
    const struct problem *problem = monitor->problem;
    monitor->best = esra_arena_take(arena, (size_t)problem->channels, sizeof *monitor->best);
    monitor->kept = esra_arena_take(arena, (size_t)problem->channels, sizeof *monitor->kept);
    monitor->shares = esra_arena_take(arena, (size_t)rows_blocks(problem->height), sizeof *monitor->shares);
    monitor->scratch = esra_arena_take(arena, (size_t)threads * esra_certificate_scratch(problem), sizeof(double));
}

size_t esra_monitor_room(const struct problem *problem, int threads)
{
    struct monitor monitor = {.problem = problem};
    struct arena arena = {0};
    esra_arena_count(&arena);
    lay_out(&monitor, threads, &arena);
    return esra_arena_counted(&arena);
}

esra_status esra_monitor_begin(struct monitor *monitor, struct arena *arena)
{
    int threads = esra_context_threads(monitor->context);
    esra_arena_count(arena);
    lay_out(monitor, threads, arena);
    if (!esra_arena_place(arena))
        return esra_fail_memory(monitor->context->message);
    lay_out(monitor, threads, arena);
    for (int c = 0; c < monitor->problem->channels; c++) {
        monitor->best[c] = (struct certificate){.objective = INFINITY, .bound = -INFINITY};
        monitor->kept[c] = false;
    }
    atomic_init(&monitor->stop, false);
    monitor->info = (esra_info)ESRA_INFO_INIT;
    monitor->most_iterations = 0;
    esra_monitor_turn(monitor, ALL_CHANNELS);
    monitor->info.threads = esra_context_threads(monitor->context);
    monitor->start_s = esra_timer_now_s();
    monitor->next_poll_s = monitor->start_s + POLL_EVERY_S;
    return ESRA_OK;
}

void esra_monitor_turn(struct monitor *monitor, int channel)
{
    monitor->channel = channel;
    monitor->milestone = 0;
    monitor->milestone_gap = INFINITY;
}

static struct certificate certify(struct monitor *monitor, int channel, const struct candidate *candidate, int every,
                                  int rows)
{
    struct certifying job = {monitor->problem, channel, candidate, every, rows, monitor->shares, monitor->scratch};
    double start_s = esra_timer_now_s();
    struct certificate sum = esra_certify(monitor->context, &job);
    monitor->info.certificate_seconds += esra_timer_now_s() - start_s;
    return sum;
}

/* A candidate on its way to the caller's arrays. */
struct keeping {
    const struct monitor *monitor;
    int channel;
    const struct candidate *candidate;
};

static void keep_layer_row(const float *from, float by, const esra_image *to, int channel, int y)
{
    float *out = image_sample(to, 0, y, channel);
    for (int x = 0; x < to->width; x++)
        out[x * to->column_stride] = candidate_moved(from[x], by);
}

static void keep_dual_row(const float *from, float scale, const esra_image *to, int channel, int y, int columns)
{
    float *out = image_sample(to, 0, y, channel);
    for (int x = 0; x < columns; x++)
        out[x * to->column_stride] = candidate_dual(from[x], scale);
}

static void keep_layers(void *work, int y, int worker)
{
    const struct keeping *job = work;
    const struct problem *problem = job->monitor->problem;
    (void)worker;
    for (int l = 0; l < problem->layers; l++)
        keep_layer_row(plane_row(job->candidate->x[l], y), candidate_step(job->candidate, problem, l),
                       &job->monitor->result->layers[l], job->channel, y);
}

/* Where there is no difference, the field is zero. */
static void keep_duals(void *work, int y, int worker)
{
    const struct keeping *job = work;
    const struct problem *problem = job->monitor->problem;
    const esra_image *duals = job->monitor->result->duals;
    float scale = job->candidate->dual_scale, below = y < problem->height - 1 ? scale : 0;
    (void)worker;
    for (int l = 0; l < problem->layers; l++) {
        const float *p = plane_row(job->candidate->p[l], y), *q = plane_row(job->candidate->q[l], y);
        keep_dual_row(p, below, &duals[2 * l], job->channel, y, problem->width);
        keep_dual_row(q, scale, &duals[2 * l + 1], job->channel, y, problem->width - 1);
        *image_sample(&duals[2 * l + 1], problem->width - 1, y, job->channel) = 0;
    }
}

void esra_monitor_keep(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct keeping job = {monitor, channel, candidate};
    esra_context_run(monitor->context, keep_layers, &job, monitor->problem->height, NULL);
    monitor->kept[channel] = true;
}

void esra_monitor_weigh(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    monitor->best[channel].objective = certify(monitor, channel, candidate, 1, BLOCK_ROWS).objective;
}

void esra_monitor_show(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct certificate now = certify(monitor, channel, candidate, 1, BLOCK_ROWS), *best = &monitor->best[channel];
    struct keeping job = {monitor, channel, candidate};
    if (now.objective < best->objective) {
        best->objective = now.objective;
        esra_monitor_keep(monitor, channel, candidate);
    }
    if (candidate->p && now.bound > best->bound) {
        best->bound = now.bound;
        if (monitor->result->duals)
            esra_context_run(monitor->context, keep_duals, &job, monitor->problem->height, NULL);
    }
}

/* (F - D)/F is no more than the gap up to F = D/(1 - gap). */
double esra_monitor_leeway(const struct monitor *monitor, int channel)
{
    const struct certificate *best = &monitor->best[channel];
    double gap = monitor->settings->gap;
    return gap < 1 ? fmax(best->bound / (1 - gap), best->objective) : best->objective;
}

bool esra_monitor_prefer(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct certificate *best = &monitor->best[channel];
    double objective = certify(monitor, channel, candidate, 1, BLOCK_ROWS).objective;
    if (objective > esra_monitor_leeway(monitor, channel))
        return false;
    best->objective = objective;
    esra_monitor_keep(monitor, channel, candidate);
    return true;
}

void esra_monitor_settle(struct monitor *monitor, int channel, const struct candidate *any)
{
    struct candidate zeros = *any;
    struct keeping job = {monitor, channel, &zeros};
    zeros.dual_scale = 0;
    monitor->best[channel].bound = 0;
    if (monitor->result->duals)
        esra_context_run(monitor->context, keep_duals, &job, monitor->problem->height, NULL);
}

static struct certificate certify_sample(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    int every = rows_blocks(monitor->problem->height) / SAMPLED_BLOCKS + 1;
    return certify(monitor, channel, candidate, every, every > 1 ? SAMPLED_ROWS : BLOCK_ROWS);
}

double esra_monitor_sample(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    return certify_sample(monitor, channel, candidate).objective;
}

struct estimate esra_monitor_estimate(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct certificate sample = certify_sample(monitor, channel, candidate);
    double gap = sample.objective - sample.bound;
    return (struct estimate){sample.objective > 0 ? gap / sample.objective : 0, gap > 0 ? sample.slack / gap : 0};
}

double esra_monitor_gap(const struct monitor *monitor, int channel)
{
    const struct certificate *best = &monitor->best[channel];
    double scale = fmax(best->objective, monitor->problem->tiny / monitor->problem->channels);
    return scale > 0 ? (best->objective - best->bound) / scale : 0;
}

bool esra_monitor_proven(const struct monitor *monitor, int channel)
{
    double gap = monitor->settings->gap;
    return gap > 0 && esra_monitor_gap(monitor, channel) <= gap;
}

/* gap = (F - D)/max(|F|, tiny): where the least F is 0 the quotient would otherwise have no meaning. F and D are sums
 * of different terms: where they meet, D may come out a rounding above F, and F is then the bound. Before a field has
 * shown more than that no F is negative, it is 0. */
static void sum_up(struct monitor *monitor, int iterations)
{
    esra_info *info = &monitor->info;
    info->objective = info->bound = 0;
    for (int c = 0; c < monitor->problem->channels; c++) {
        info->objective += monitor->best[c].objective;
        info->bound += fmax(monitor->best[c].bound, 0);
    }
    info->bound = fmin(info->bound, info->objective);
    double difference = info->objective - info->bound;
    double scale = fmax(fabs(info->objective), monitor->problem->tiny);
    info->gap = scale > 0 ? difference / scale : 0;
    info->iterations = iterations;
    monitor->most_iterations = iterations > monitor->most_iterations ? iterations : monitor->most_iterations;
    info->seconds = esra_timer_now_s() - monitor->start_s;
}

static bool proven(const struct monitor *monitor)
{
    return monitor->info.gap <= monitor->settings->gap;
}

/* Twice the iterations (and STALL_ITERATIONS more) that gain next to nothing: float32, or the tolerance of an inner
 * method, has been reached, and more of the same will not help. */
static bool stalled(struct monitor *monitor, int iterations)
{
    if (iterations < 2LL * monitor->milestone + STALL_ITERATIONS)
        return false;
    double gap = monitor->channel == ALL_CHANNELS ? monitor->info.gap : esra_monitor_gap(monitor, monitor->channel);
    bool better = gap < STALL_GAIN * monitor->milestone_gap;
    monitor->milestone = iterations;
    monitor->milestone_gap = gap;
    return !better;
}

static void call_progress(struct monitor *monitor)
{
    if (monitor->progress && monitor->progress(monitor->user, &monitor->info))
        atomic_store(&monitor->stop, true);
    double limit_s = monitor->settings->time_limit_s;
    if (limit_s > 0 && monitor->info.seconds >= limit_s)
        atomic_store(&monitor->stop, true);
    monitor->next_poll_s = esra_timer_now_s() + POLL_EVERY_S;
}

bool esra_monitor_decide(struct monitor *monitor, int iterations)
{
    sum_up(monitor, iterations);
    call_progress(monitor);
    bool enough = monitor->settings->gap > 0 && (proven(monitor) || stalled(monitor, iterations));
    return enough || esra_monitor_stopping(monitor) || iterations >= monitor->settings->max_iterations;
}

void esra_monitor_poll(struct monitor *monitor)
{
    double now_s = esra_timer_now_s();
    if (now_s < monitor->next_poll_s || esra_monitor_stopping(monitor))
        return;
    monitor->info.seconds = now_s - monitor->start_s;
    call_progress(monitor);
}

bool esra_monitor_stopping(struct monitor *monitor)
{
    return atomic_load_explicit(&monitor->stop, memory_order_relaxed);
}

void esra_monitor_end(struct monitor *monitor)
{
    esra_info *info = &monitor->info;
    sum_up(monitor, monitor->most_iterations);
    bool stopped = esra_monitor_stopping(monitor) || monitor->cut_short;
    info->outcome = proven(monitor) ? ESRA_OPTIMAL : stopped ? ESRA_STOPPED : ESRA_INACCURATE;
}
