/* solve/monitor.c - watches a run. */
#include "solve/monitor.h"

#include <math.h>

#include "base/timer.h"

/* Rows of a certificate's partial sum: fixed, so that the sum does not depend on the number of threads. */
#define BLOCK_ROWS 16

#define POLL_EVERY_S 0.1

static int row_blocks(const struct problem *problem)
{
    return (problem->height - 1) / BLOCK_ROWS + 1;
}

static void lay_out(struct monitor *monitor, struct arena *arena)
{
    const struct problem *problem = monitor->problem;
    size_t threads = (size_t)esra_pool_threads(monitor->pool);
    monitor->best = esra_arena_take(arena, (size_t)problem->channels, sizeof *monitor->best);
    monitor->shares = esra_arena_take(arena, (size_t)row_blocks(problem), sizeof *monitor->shares);
    monitor->scratch = esra_arena_take(arena, threads * esra_certificate_scratch(problem), sizeof(double));
}

esra_status esra_monitor_begin(struct monitor *monitor, struct arena *arena, struct message *message)
{
    esra_arena_count(arena);
    lay_out(monitor, arena);
    if (!esra_arena_place(arena))
        return esra_fail_memory(message);
    lay_out(monitor, arena);
    for (int c = 0; c < monitor->problem->channels; c++)
        monitor->best[c] = (struct certificate){.objective = INFINITY, .bound = -INFINITY};
    atomic_init(&monitor->stop, false);
    monitor->info = (esra_info)ESRA_INFO_INIT;
    monitor->info.threads = esra_pool_threads(monitor->pool);
    monitor->start_s = esra_timer_now_s();
    monitor->next_poll_s = monitor->start_s + POLL_EVERY_S;
    return ESRA_OK;
}

struct certifying {
    struct monitor *monitor;
    int channel;
    const struct candidate *candidate;
};

static void certify_block(void *work, int block, int worker)
{
    struct certifying *job = work;
    struct monitor *monitor = job->monitor;
    const struct problem *problem = monitor->problem;
    int first = block * BLOCK_ROWS;
    int end = problem->height - first < BLOCK_ROWS ? problem->height : first + BLOCK_ROWS;
    double *scratch = monitor->scratch + (size_t)worker * esra_certificate_scratch(problem);
    monitor->shares[block] =
        esra_certificate_rows(problem, job->channel, job->candidate, first, end, scratch);
}

static struct certificate certify(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct certifying job = {monitor, channel, candidate};
    int blocks = row_blocks(monitor->problem);
    esra_pool_run(monitor->pool, certify_block, &job, blocks, NULL);
    struct certificate sum = {0, 0};
    for (int b = 0; b < blocks; b++) {
        sum.objective += monitor->shares[b].objective;
        sum.bound += monitor->shares[b].bound;
    }
    return sum;
}

static void keep_layers(const struct monitor *monitor, int channel, const struct candidate *candidate)
{
    const struct problem *problem = monitor->problem;
    for (int l = 0; l < problem->layers; l++)
        for (int y = 0; y < problem->height; y++)
            for (int x = 0; x < problem->width; x++)
                *image_sample(&monitor->result->layers[l], x, y, channel) =
                    candidate_layer(plane_row(candidate->x[l], y)[x]);
}

static void keep_duals(const struct monitor *monitor, int channel, const struct candidate *candidate)
{
    const struct problem *problem = monitor->problem;
    for (int l = 0; l < problem->layers; l++)
        for (int y = 0; y < problem->height; y++)
            for (int x = 0; x < problem->width; x++) {
                float p = plane_row(candidate->p[l], y)[x], q = plane_row(candidate->q[l], y)[x];
                *image_sample(&monitor->result->duals[2 * l], x, y, channel) =
                    y < problem->height - 1 ? candidate_dual(p, candidate->dual_scale) : 0;
                *image_sample(&monitor->result->duals[2 * l + 1], x, y, channel) =
                    x < problem->width - 1 ? candidate_dual(q, candidate->dual_scale) : 0;
            }
}

void esra_monitor_show(struct monitor *monitor, int channel, const struct candidate *candidate)
{
    struct certificate now = certify(monitor, channel, candidate), *best = &monitor->best[channel];
    if (now.objective < best->objective) {
        best->objective = now.objective;
        keep_layers(monitor, channel, candidate);
    }
    if (now.bound > best->bound) {
        best->bound = now.bound;
        if (monitor->result->duals)
            keep_duals(monitor, channel, candidate);
    }
}

/* gap = (F - D)/max(|F|, tiny), with tiny the resolution of float32 layers: where the least F is 0 the quotient would
 * otherwise have no meaning. */
static void sum_up(struct monitor *monitor, int iterations)
{
    esra_info *info = &monitor->info;
    info->objective = info->bound = 0;
    for (int c = 0; c < monitor->problem->channels; c++) {
        info->objective += monitor->best[c].objective;
        info->bound += monitor->best[c].bound;
    }
    double difference = info->objective - info->bound;
    double scale = fmax(fabs(info->objective), monitor->problem->resolution);
    info->gap = difference > 0 && scale > 0 ? difference / scale : 0;
    info->iterations = iterations;
    info->seconds = esra_timer_now_s() - monitor->start_s;
}

static bool proven(const struct monitor *monitor)
{
    const esra_info *info = &monitor->info;
    return info->gap <= monitor->settings->gap ||
           info->objective - info->bound <= monitor->problem->resolution;
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
    return (monitor->settings->gap > 0 && proven(monitor)) || esra_monitor_stopping(monitor) ||
           iterations >= monitor->settings->max_iterations;
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
    info->seconds = esra_timer_now_s() - monitor->start_s;
    info->outcome = proven(monitor)                   ? ESRA_OPTIMAL
                    : esra_monitor_stopping(monitor) ? ESRA_STOPPED
                                                      : ESRA_INACCURATE;
}
