/* solve/fast.c - the fast engine: primal-dual iterations in which the one hard direction, light moved from the scene
 * into every reflection, is preconditioned by a multigrid V-cycle; from coarse to fine, channel after channel.
 *
 * With u the dual of the gradient term, |u| <= 1, z that of the box, w = lambda D'u + z, R = I - A x, A'WA the data
 * term's Hessian and M a metric that dominates r1 D'D + r2, an iteration is
 *
 *     d   = (A'WA + M)^-1 (A'W R - w),   bar = x + 2d,   x += rho d
 *     u  += rho (clip(u + r1/lambda (D bar - E), -1, 1) - u)
 *     z  += rho ((t - clip(t, 0, r2)) - z),   t = z + r2 bar
 *
 * (Chambolle & Pock 2011, in the preconditioned and over-relaxed form of Condat 2013). A'WA has the null vector
 * c = (1, -a_1, ..., -a_m) at every pixel, whatever the weights. Along c, M is the inverse of a V-cycle for r1 D'D +
 * r2, across it the number s = 8 r1 + max r2; both dominate. r2 is r1 at pixels where the box binds and next to nothing
 * elsewhere. With g = -<c,w>/|c|^2 and G = V-cycle(g),
 *
 *     d = (A'WA + s)^-1 (A'W R - w) + (G - g/s) c,
 *
 * a small arrow-shaped system at each pixel and one image to smooth. doc/fast-engine.md says why this is enough. */
#include <limits.h>
#include <math.h>

#include "base/maths.h"
#include "base/timer.h"
#include "solve/balance.h"
#include "solve/engine.h"
#include "solve/fast_sweep.h"
#include "solve/mean.h"
#include "solve/pointwise.h"

/* Halving 2^31 this often leaves one pixel. */
#define MAX_LEVELS 32

/* The first level is no larger: a V-cycle reaches across it in a few iterations. */
#define COARSEST_SIDE 16

#define COARSE_ITERATIONS 30

/* The first r1, for lambda: u moves by its whole range where a difference is off by 0.01. The first r2 where the box
 * binds, for r1. Best for photographs of 256 to 1024 px in trials around them; solve/balance.c adapts them to
 * everything else. */
#define FIRST_R1  100
#define FIRST_BOX 1

/* The finest level begins with no more than this r1, for lambda. Pictures that are smooth at their own resolution, as
 * large ones are, arrive with ten times as much, which the bound pays for: twice as many iterations. 150 to 200 are
 * alike; 100 is too little for some small ones (doc/notes/fast-engine.md). */
#define FINEST_R1 200

/* Over-relaxation of the whole iteration, in (0,2): 1.7 was best in trials over 1.7..1.85. It also multiplies rounding
 * errors, which by the late iterations are all that is left: there 1. */
#define RHO      1.7
#define LATE_RHO 1
#define LATE     640 /* one of the looks at the steps */

/* The step sizes of a level are adapted after so many iterations, then after twice as many, and so on: seldom enough
 * that the method converges between. Those of a coarse level are adapted when it ends. Where the box binds is looked at
 * sooner, after so many, and then likewise. */
#define FIRST_LOOK     40
#define FIRST_BOX_LOOK 10

/* The gap is first estimated here, from a sample of rows, and never again within so many iterations. */
#define FIRST_ESTIMATE 20
#define ESTIMATE_APART 5

/* The gap falls about as k^-p; p is fitted to the last two estimates. The next estimate is made after 70 % of the
 * iterations this predicts (p tends to grow), at 2k at the latest. */
#define SHARE       0.7
#define LEAST_POWER 2

/* Whatever the estimate, certificates are taken at this iteration and each time the number has doubled. */
#define FIRST_CERTIFICATE 200

/* An estimate that exceeds the gap asked for by no more than its own error is worth a certificate. */
#define HOPE 1.05

/* The steps are those of the end where an estimate is within this factor of the gap asked for: at 8 dark photos, which
 * have far to go from there, take longer. */
#define ENDING_FROM 4

#define NOTHING (-1)

/* Rows of a task that loads, halves or refines. */
#define BLOCK_ROWS 16

struct fast {
    struct monitor *monitor;
    const struct problem *problem;
    int threads;
    struct kernels kernels;
    struct sweeper sweeper;
    struct balance balance;
    struct steps steps;
    bool late; /* on the finest level for LATE iterations */
    int channel;
    int loaded; /* the channel whose data the finest level holds, or NOTHING */
    int photo;  /* whose weights are loaded */
    int count;  /* levels; 0 is the finest */
    struct level levels[MAX_LEVELS];
    /* In the arena, for the certificate: the finest level's state, and its data. */
    struct plane *x, *p, *q, *mixture, *weight, *expected;
    struct held held;
};

static void lay_out(struct fast *fast, struct arena *arena)
{
    const struct problem *problem = fast->problem;
    int width = problem->width, height = problem->height;
    for (fast->count = 0;; fast->count++) {
        struct level *level = &fast->levels[fast->count];
        esra_level_lay_out(level, arena, problem, width, height, fast->count > 0 ? level - 1 : NULL);
        level->lambda = ldexp(problem->lambda, -fast->count);
        if ((width <= COARSEST_SIDE && height <= COARSEST_SIDE) || problem->start_layers)
            break;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    fast->count++;
    esra_sweeper_lay_out(&fast->sweeper, arena, &fast->levels[0], fast->threads);
    esra_balance_lay_out(&fast->balance, arena, &fast->levels[0]);
    fast->x = esra_arena_take(arena, (size_t)problem->layers, sizeof *fast->x);
    fast->p = esra_arena_take(arena, (size_t)problem->layers, sizeof *fast->p);
    fast->q = esra_arena_take(arena, (size_t)problem->layers, sizeof *fast->q);
    fast->mixture = esra_arena_take(arena, (size_t)problem->photos, sizeof *fast->mixture);
    fast->weight = esra_arena_take(arena, (size_t)problem->photos, sizeof *fast->weight);
    fast->expected = esra_arena_take(arena, (size_t)problem->layers, sizeof *fast->expected);
}

/* Something done to every row of a level. */
typedef void row_step(const struct fast *fast, int level, int y);

struct row_work {
    const struct fast *fast;
    row_step *step;
    int level;
};

static void row_block(void *work, int block, int worker)
{
    const struct row_work *job = work;
    int first = block * BLOCK_ROWS, height = job->fast->levels[job->level].height;
    (void)worker;
    for (int y = first; y < height && y < first + BLOCK_ROWS; y++)
        job->step(job->fast, job->level, y);
}

static void for_rows(const struct fast *fast, int level, row_step *step)
{
    struct row_work work = {fast, step, level};
    esra_context_run(fast->monitor->context, row_block, &work, (fast->levels[level].height - 1) / BLOCK_ROWS + 1, NULL);
}

static void load(const struct fast *fast, int level, int y)
{
    esra_level_load_row(&fast->levels[level], fast->problem, fast->channel, y);
}

static void load_channel(struct fast *fast)
{
    if (fast->loaded == fast->channel)
        return;
    for_rows(fast, 0, load);
    fast->loaded = fast->channel;
}

static void weigh(const struct fast *fast, int level, int y)
{
    esra_level_weigh_row(&fast->levels[level], fast->problem, fast->photo, y);
}

static void load_weights(struct fast *fast)
{
    for (fast->photo = 0; problem_is_weighted(fast->problem) && fast->photo < fast->problem->photos; fast->photo++) {
        for_rows(fast, 0, weigh);
        esra_problem_release_weight(fast->problem, fast->photo);
    }
}

static void coarsen(const struct fast *fast, int level, int y)
{
    esra_level_coarsen_row(&fast->levels[level - 1], &fast->levels[level], y);
}

static void guess(const struct fast *fast, int level, int y)
{
    esra_level_guess_row(&fast->levels[level], fast->sweeper.a, y);
}

static void expect(const struct fast *fast, int level, int y)
{
    esra_level_expect_row(&fast->levels[level], fast->sweeper.a, y);
}

static void resume(const struct fast *fast, int level, int y)
{
    esra_level_resume_row(&fast->levels[level], fast->problem, fast->channel, y);
}

static void settle(const struct fast *fast, int level, int y)
{
    esra_level_settle_row(&fast->levels[level], fast->sweeper.a, y);
}

static void refine(const struct fast *fast, int level, int y)
{
    esra_level_prolong_row(&fast->levels[level + 1], &fast->levels[level], y);
}

static void solve_pixels(const struct fast *fast, int level, int y)
{
    esra_pointwise_row(&fast->levels[level], fast->problem, y);
}

static struct candidate candidate_of(const struct fast *fast)
{
    return (struct candidate){.x = fast->x,
                              .p = fast->p,
                              .q = fast->q,
                              .dual_scale = 1,
                              .held = fast->problem->expected.layers ? &fast->held : NULL};
}

static void show(const struct fast *fast)
{
    struct candidate candidate = candidate_of(fast);
    esra_monitor_show(fast->monitor, fast->channel, &candidate);
}

static void set_steps(struct fast *fast, int level)
{
    esra_sweeper_set(&fast->sweeper, &fast->levels[level], level, fast->steps, fast->late ? LATE_RHO : RHO);
}

static bool doubles(int *milestone, int iterations)
{
    if (iterations != *milestone)
        return false;
    *milestone = *milestone > INT_MAX / 2 ? INT_MAX : 2 * *milestone;
    return true;
}

static struct estimate estimate(const struct fast *fast)
{
    struct candidate candidate = candidate_of(fast);
    return esra_monitor_estimate(fast->monitor, fast->channel, &candidate);
}

/* One iteration, and where it is time a look at the steps, or only at where the box binds. */
static void iterate(struct fast *fast, int level, bool look, bool hold)
{
    const struct level *grid = &fast->levels[level];
    if (look)
        esra_balance_before(&fast->balance, grid);
    esra_sweeper_run(&fast->sweeper);
    if (look) {
        struct estimate now = level == 0 ? estimate(fast) : (struct estimate){INFINITY, 0};
        fast->balance.ending = now.gap <= ENDING_FROM * fast->monitor->settings->gap;
        fast->balance.slack = now.slack;
        fast->steps = esra_balance_steps(&fast->balance, grid, fast->sweeper.null, fast->steps, fast->late);
    }
    if (look || hold)
        set_steps(fast, level);
    esra_monitor_poll(fast->monitor);
}

static void begin_level(struct fast *fast, int level)
{
    fast->late = false;
    fast->balance.given = fast->problem->start_layers;
    set_steps(fast, level);
    esra_sweeper_gather(&fast->sweeper);
    fast->steps = esra_balance_start(&fast->balance, &fast->levels[level], fast->steps);
}

/* Solves the coarser levels roughly and leaves the finest one where to go on. The gradient term's curvature grows
 * fourfold from level to level, r1 with it, up to FINEST_R1. */
static void approach(struct fast *fast)
{
    int coarsest = fast->count - 1;
    for (int level = 1; level <= coarsest; level++)
        for_rows(fast, level, coarsen);
    if (!fast->problem->start_layers) {
        for_rows(fast, coarsest, guess);
        for_rows(fast, coarsest, settle);
    }
    fast->steps.r1 = ldexp(FIRST_R1 * fast->problem->lambda, -2 * coarsest);
    fast->steps.box = FIRST_BOX;
    for (int level = coarsest; level > 0; level--) {
        int hold = FIRST_BOX_LOOK;
        begin_level(fast, level);
        for (int k = 1; k <= COARSE_ITERATIONS && !esra_monitor_stopping(fast->monitor); k++)
            iterate(fast, level, k == COARSE_ITERATIONS, doubles(&hold, k));
        if (fast->levels[level].nested)
            for (int y = 0; y < fast->levels[level - 1].height; y++)
                refine(fast, level - 1, y);
        else
            for_rows(fast, level - 1, refine);
        fast->steps.r1 *= 4;
    }
    fast->steps.r1 = fmin(fast->steps.r1, FINEST_R1 * fast->problem->lambda);
}

/* A time limit is shared out among the channels. */
static bool out_of_time(const struct fast *fast)
{
    double limit_s = fast->monitor->settings->time_limit_s;
    double share = (fast->channel + 1.0) / fast->problem->channels;
    return limit_s > 0 && esra_timer_now_s() >= fast->monitor->start_s + share * limit_s;
}

/* When the next estimate on the finest level is due, and the result of the last one. */
struct schedule {
    int look, hold, estimate, certificate;
    int estimated_at;
    double estimated;
    double bias; /* the product of certified over estimated gaps so far, at least 1 */
};

/* Iterations until an estimate is worth while. */
static int patience(const struct schedule *due, int iterations, double now, double gap)
{
    double fall = due->estimated_at > 0 ? esra_log(due->estimated / now) : 0, way = esra_log(now / gap);
    double power = fall > 0 ? fall / esra_log((double)iterations / due->estimated_at) : 0;
    double wait = fmin(SHARE * (esra_exp(way / fmax(power, LEAST_POWER)) - 1), 1) * iterations;
    return wait > ESTIMATE_APART ? (int)wait : ESTIMATE_APART;
}

/* Makes an estimate if one is due; true if by it the gap asked for may be reached. */
static bool hopeful(const struct fast *fast, struct schedule *due, int iterations)
{
    double gap = fast->monitor->settings->gap;
    if (iterations != due->estimate || gap == 0)
        return false;
    double now = due->bias * estimate(fast).gap;
    due->estimate += now > 0 ? patience(due, iterations, now, gap) : ESTIMATE_APART;
    due->estimated_at = iterations;
    due->estimated = now;
    return now <= HOPE * gap;
}

/* The finest level, until the gap is proven or time or iterations run out. */
static void finish(struct fast *fast)
{
    struct monitor *monitor = fast->monitor;
    struct schedule due = {FIRST_LOOK, FIRST_BOX_LOOK, FIRST_ESTIMATE, FIRST_CERTIFICATE, 0, 0, 1};
    begin_level(fast, 0);
    for (int k = 1;; k++) {
        fast->late = k >= LATE;
        iterate(fast, 0, doubles(&due.look, k), doubles(&due.hold, k));
        bool ending = k == monitor->settings->max_iterations || esra_monitor_stopping(monitor) || out_of_time(fast);
        bool milestone = doubles(&due.certificate, k), hope = hopeful(fast, &due, k);
        if (!hope && !milestone && !ending)
            continue;
        show(fast);
        monitor->cut_short = monitor->cut_short || out_of_time(fast);
        if (esra_monitor_decide(monitor, k) || esra_monitor_proven(monitor, fast->channel) || ending)
            return;
        if (hope && due.estimated > 0)
            due.bias *= fmax(esra_monitor_gap(monitor, fast->channel) / due.estimated, 1);
    }
}

/* Steps for a smaller lambda are no floats: its gradient term is far below a rounding of any objective that can be told
 * from 0, and certified as it is. */
#define LAMBDA_LEAST 1e-30

/* Below, floats carry the steps badly: the best of each pixel by itself may be better than what they lead to. */
#define LAMBDA_SMALL 1e-5

/* Without a gradient term, or with no two pixels to compare, each pixel is solved by itself. */
static bool has_differences(const struct problem *problem)
{
    return problem->lambda > LAMBDA_LEAST && problem->pixels > 1;
}

/* What is returned of a channel for which nothing better is found, or that is not come to: the caller's own layers,
 * those that are expected, a guess, or the best of each pixel by itself. */
static row_step *start_of(const struct fast *fast)
{
    const struct problem *problem = fast->problem;
    if (!has_differences(problem) || (!problem->start_layers && problem->lambda < LAMBDA_SMALL))
        return solve_pixels;
    return problem->start_layers ? resume : problem->expected.layers ? expect : guess;
}

/* Layers to return whatever happens. A start that anybody can make again has no field, and its F alone is taken: a
 * channel's layers are written when it is loaded for the last time, since they may take the place of what is loaded.
 * Channel 0 comes last and stays loaded. */
static void show_starts(struct fast *fast)
{
    struct candidate candidate = candidate_of(fast), layers = candidate;
    layers.p = layers.q = NULL;
    for (fast->channel = fast->problem->channels - 1; fast->channel >= 0; fast->channel--) {
        load_channel(fast);
        for_rows(fast, 0, start_of(fast));
        if (fast->problem->start_layers)
            esra_monitor_show(fast->monitor, fast->channel, &candidate);
        else
            esra_monitor_weigh(fast->monitor, fast->channel, &layers);
    }
}

/* A channel without a dual field, or whose bound is negative, gets the zero field. If the caller has stopped the run,
 * its D is not computed. */
static void end_bound(const struct fast *fast)
{
    struct candidate candidate = candidate_of(fast);
    candidate.dual_scale = 0;
    if (fast->monitor->best[fast->channel].bound >= 0)
        return;
    if (esra_monitor_stopping(fast->monitor))
        esra_monitor_settle(fast->monitor, fast->channel, &candidate);
    else
        esra_monitor_show(fast->monitor, fast->channel, &candidate);
}

/* Layers that nothing better was found than are made once more. */
static void end_channel(struct fast *fast)
{
    struct candidate candidate = candidate_of(fast);
    load_channel(fast);
    if (!fast->monitor->kept[fast->channel]) {
        for_rows(fast, 0, start_of(fast));
        esra_monitor_keep(fast->monitor, fast->channel, &candidate);
    }
    end_bound(fast);
    esra_problem_release(fast->problem, fast->channel);
}

static void run_channels(struct fast *fast)
{
    for (fast->channel = 0; fast->channel < fast->problem->channels; fast->channel++) {
        if (esra_monitor_stopping(fast->monitor))
            return;
        esra_monitor_turn(fast->monitor, fast->channel);
        load_channel(fast);
        if (fast->problem->expected.layers)
            esra_problem_release(fast->problem, fast->channel); /* it is held */
        if (fast->problem->start_layers) {
            for_rows(fast, 0, resume);
            for_rows(fast, 0, settle);
        }
        approach(fast);
        if (!esra_monitor_stopping(fast->monitor))
            finish(fast);
        esra_mean_settle(fast->monitor, fast->channel, candidate_of(fast));
        end_channel(fast);
    }
}

static void take_state(struct fast *fast)
{
    for (int l = 0; l < fast->problem->layers; l++) {
        fast->x[l] = esra_level_plane(&fast->levels[0], LEVEL_X, l);
        fast->p[l] = esra_level_plane(&fast->levels[0], LEVEL_P, l);
        fast->q[l] = esra_level_plane(&fast->levels[0], LEVEL_Q, l);
    }
}

static void take_data(struct fast *fast)
{
    const struct problem *problem = fast->problem;
    for (int l = 0; problem->expected.layers && l < problem->layers; l++)
        fast->expected[l] = esra_level_plane(&fast->levels[0], LEVEL_EXPECTED, l);
    for (int i = 0; i < problem->photos; i++) {
        fast->mixture[i] = esra_level_plane(&fast->levels[0], LEVEL_MIXTURE, i);
        if (problem_is_weighted(problem))
            fast->weight[i] = esra_level_plane(&fast->levels[0], LEVEL_WEIGHT, i);
    }
    fast->held = (struct held){fast->mixture, problem_is_weighted(problem) ? fast->weight : NULL, fast->expected};
    fast->loaded = NOTHING;
}

size_t esra_fast_room(const struct problem *problem, int threads)
{
    struct fast fast = {.problem = problem, .threads = threads};
    struct arena arena = {0};
    esra_arena_count(&arena);
    lay_out(&fast, &arena);
    return esra_arena_counted(&arena);
}

esra_status esra_fast_run(struct monitor *monitor, struct arena *arena)
{
    struct fast fast = {
        .monitor = monitor, .problem = monitor->problem, .threads = esra_context_threads(monitor->context)};
    esra_kernels_fill(&fast.kernels, monitor->context->features);
    fast.sweeper.kernels = &fast.kernels;
    fast.sweeper.context = monitor->context;
    esra_arena_count(arena);
    lay_out(&fast, arena);
    if (!esra_arena_place(arena))
        return esra_fail_memory(monitor->context->message);
    lay_out(&fast, arena);
    esra_sweeper_begin(&fast.sweeper, monitor->problem);
    take_state(&fast);
    take_data(&fast);
    load_weights(&fast);
    show_starts(&fast);
    fast.channel = 0;
    if (!esra_monitor_decide(monitor, 0) && has_differences(fast.problem))
        run_channels(&fast);
    for (; fast.channel < fast.problem->channels; fast.channel++)
        end_channel(&fast);
    return ESRA_OK;
}
