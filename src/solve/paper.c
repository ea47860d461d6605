/* solve/paper.c - ESRA as published (paper, section 1, algorithm 1): accelerated proximal gradient on all layers at
 * once, each proximal step by PACTV (solve/pactv.c), in parallel over layers and channels.
 *
 *     d   = Y_k - grad f(Y_k)/L_s,    f = 1/2 sum_i w_i (I_i - a_i L_0 - L_i)^2
 *     l_k = argmin over the box of 1/2 |L - d|^2 + beta |D L - E|_1,   beta = lambda/L_s
 *     Y_{k+1} = l_k + (t_k - 1)/t_{k+1} (l_k - l_{k-1}),   t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2,   Y_1 = l_0 = 0, t_1 =
 * 1
 *
 * The dual fields that PACTV ends with are the certificate's u: at the optimum of the whole problem they are its dual
 * solution too. */
#include <math.h>
#include <string.h>

#include "base/plane.h"
#include "solve/engine.h"
#include "solve/pactv.h"

/* Rows that one task of the pointwise steps takes. */
#define BLOCK_ROWS 64

/* A certificate costs about as much as this many sweeps of PACTV over the layers: it is taken once at least so many
 * have been made since the last, so that it never dominates. */
#define SWEEPS_A_CERTIFICATE 64

/* Accelerated proximal gradient keeps its rate where the proximal steps' errors fall faster than k^-2 (Schmidt, Le Roux
 * & Bach 2011): with inner_adaptive, the tolerance of the k'th is this over k^2. */
#define ADAPTIVE 0.01

/* PACTV looks up from its work once in so many pixels. */
#define POLL_PIXELS (1 << 21)

struct paper {
    struct monitor *monitor;
    const struct problem *problem;
    int threads;
    int pieces; /* channels * layers; piece c * layers + l is layer l of channel c */
    double lipschitz;
    float momentum;
    double tolerance; /* of PACTV in this iteration */
    bool certified;   /* an iterate after the start has been shown */

    /* In the arena: planes of each piece ... */
    struct plane *x, *x_before; /* l_k, l_{k-1} */
    struct plane *d;            /* Y_k, then d */
    struct plane *p, *q;
    struct plane *e_vertical, *e_horizontal;
    struct plane *mixtures; /* [channels * photos] */
    struct plane *weights;  /* [photos], or NULL */
    int *sweeps;            /* [pieces]: PACTV iterations of the last step */
    /* ... and scratch: a slot for each thread, or where there are more threads than pieces for each piece. */
    int slots;
    struct plane *p_tilde, *q_tilde;
    float *zeros; /* a row of them, for all */
    struct kernels kernels;
};

/* With the room and the paddings that kernels need. An odd number of cache lines spreads a layer's planes over the sets
 * of the cache. */
static size_t stride_of(const struct problem *problem)
{
    size_t stride = (size_t)kernel_columns(problem->width) + KERNEL_PAD;
    return stride / KERNEL_GROUP % 2 ? stride : stride + KERNEL_GROUP;
}

static struct plane *take_planes(struct arena *arena, const struct problem *problem, int count)
{
    size_t stride = stride_of(problem);
    struct plane *planes = esra_arena_take(arena, (size_t)count, sizeof *planes);
    for (int n = 0; n < count; n++) {
        float *data = esra_arena_take(arena, stride * (size_t)problem->height + KERNEL_PAD, sizeof(float));
        if (planes)
            planes[n] = (struct plane){data + KERNEL_PAD, problem->width, problem->height, (ptrdiff_t)stride};
    }
    return planes;
}

static void lay_out(struct paper *paper, struct arena *arena)
{
    const struct problem *problem = paper->problem;
    paper->slots = paper->threads < paper->pieces ? paper->threads : paper->pieces;
    paper->x = take_planes(arena, problem, paper->pieces);
    paper->x_before = take_planes(arena, problem, paper->pieces);
    paper->d = take_planes(arena, problem, paper->pieces);
    paper->p = take_planes(arena, problem, paper->pieces);
    paper->q = take_planes(arena, problem, paper->pieces);
    paper->e_vertical = take_planes(arena, problem, paper->pieces);
    paper->e_horizontal = take_planes(arena, problem, paper->pieces);
    paper->mixtures = take_planes(arena, problem, problem->channels * problem->photos);
    paper->weights = problem_is_weighted(problem) ? take_planes(arena, problem, problem->photos) : NULL;
    paper->sweeps = esra_arena_take(arena, (size_t)paper->pieces, sizeof *paper->sweeps);
    paper->p_tilde = take_planes(arena, problem, paper->slots);
    paper->q_tilde = take_planes(arena, problem, paper->slots);
    paper->zeros = esra_arena_take(arena, stride_of(problem) + KERNEL_PAD, sizeof *paper->zeros);
}

static void clear(struct plane plane)
{
    memset(plane.data - KERNEL_PAD, 0, ((size_t)plane.stride * (size_t)plane.height + KERNEL_PAD) * sizeof(float));
}

static void load_piece(void *work, int piece, int worker)
{
    struct paper *paper = work;
    const struct problem *problem = paper->problem;
    int channel = piece / problem->layers, l = piece % problem->layers;
    (void)worker;
    clear(paper->x[piece]);
    clear(paper->x_before[piece]);
    clear(paper->d[piece]);
    clear(paper->e_vertical[piece]);
    clear(paper->e_horizontal[piece]);
    clear(paper->p[piece]);
    clear(paper->q[piece]);
    for (int y = 0; y < problem->height; y++) {
        float *down = plane_row(paper->e_vertical[piece], y), *right = plane_row(paper->e_horizontal[piece], y);
        esra_problem_gradients(problem, 2 * l, channel, 0, y, problem->width, down);
        esra_problem_gradients(problem, 2 * l + 1, channel, 0, y, problem->width, right);
    }
    if (l > 0)
        esra_plane_load(paper->mixtures[channel * problem->photos + l - 1], &problem->mixtures[l - 1], channel);
    for (int y = 0; l > 0 && channel == 0 && problem_is_weighted(problem) && y < problem->height; y++)
        esra_problem_weights(problem, l - 1, 0, y, problem->width, plane_row(paper->weights[l - 1], y));
}

static void extrapolate_row(const struct paper *paper, int piece, int y)
{
    const float *x = plane_row(paper->x[piece], y), *before = plane_row(paper->x_before[piece], y);
    float *out = plane_row(paper->d[piece], y);
    for (int n = 0; n < paper->problem->width; n++)
        out[n] = x[n] + paper->momentum * (x[n] - before[n]);
}

/* Row y of d = Y - grad f(Y)/L_s, in place: with r_i = w_i (a_i Y_0 + Y_i - I_i), the gradient is sum a_i r_i in layer
 * 0 and r_i in layer i. Y_0 is needed whole until the last photo, so its own gradient gathers in x_before's row, which
 * nobody reads again before PACTV's result is put there. */
static void descend_row(const struct paper *paper, int channel, int y)
{
    const struct problem *problem = paper->problem;
    int width = problem->width, first = channel * problem->layers;
    float *y0 = plane_row(paper->d[first], y), *restrict sum = plane_row(paper->x_before[first], y);
    float inverse = (float)(1 / paper->lipschitz);
    memset(sum, 0, (size_t)width * sizeof *sum);
    for (int i = 0; i < problem->photos; i++) {
        float a = (float)problem->mixing[i];
        float *restrict yi = plane_row(paper->d[first + i + 1], y);
        const float *mixture = plane_row(paper->mixtures[channel * problem->photos + i], y);
        const float *weight = paper->weights ? plane_row(paper->weights[i], y) : NULL;
        for (int x = 0; x < width; x++) {
            float r = a * y0[x] + yi[x] - mixture[x];
            r = weight ? weight[x] * r : r;
            sum[x] += a * r;
            yi[x] -= inverse * r;
        }
    }
    for (int x = 0; x < width; x++)
        y0[x] -= inverse * sum[x];
}

static int row_blocks(const struct problem *problem)
{
    return (problem->height - 1) / BLOCK_ROWS + 1;
}

static void descend_block(void *work, int task, int worker)
{
    struct paper *paper = work;
    const struct problem *problem = paper->problem;
    int blocks = row_blocks(problem), channel = task / blocks, first = task % blocks * BLOCK_ROWS;
    int end = problem->height - first < BLOCK_ROWS ? problem->height : first + BLOCK_ROWS;
    (void)worker;
    for (int y = first; y < end; y++) {
        for (int l = 0; l < problem->layers; l++)
            extrapolate_row(paper, channel * problem->layers + l, y);
        descend_row(paper, channel, y);
    }
}

/* The function that PACTV calls between its iterations. */
struct lookout {
    struct monitor *monitor;
    bool calling_thread;
    int every, count;
};

static bool interrupted(void *context)
{
    struct lookout *lookout = context;
    if (lookout->calling_thread && ++lookout->count % lookout->every == 0)
        esra_monitor_poll(lookout->monitor);
    return esra_monitor_stopping(lookout->monitor);
}

static void prox_piece(void *work, int piece, int worker)
{
    struct paper *paper = work;
    const esra_settings *settings = paper->monitor->settings;
    size_t pixels = paper->problem->pixels;
    if (paper->certified && esra_monitor_stopping(paper->monitor))
        return;
    int slot = paper->slots == paper->pieces ? piece : worker;
    struct lookout lookout = {paper->monitor, worker == 0, pixels < POLL_PIXELS ? (int)(POLL_PIXELS / pixels) : 1, 0};
    struct pactv prox = {
        .d = paper->d[piece],
        .e_vertical = paper->e_vertical[piece],
        .e_horizontal = paper->e_horizontal[piece],
        .beta = (float)(paper->problem->lambda / paper->lipschitz),
        .layer = paper->x_before[piece],
        .p = paper->p[piece],
        .q = paper->q[piece],
        .p_tilde = paper->p_tilde[slot],
        .q_tilde = paper->q_tilde[slot],
        .zeros = paper->zeros + KERNEL_PAD,
        .kernels = &paper->kernels,
        .warm_start = settings->inner_warm_start,
        .restart = settings->inner_restart,
        .tolerance = paper->tolerance,
        .max_iterations = settings->inner_iterations,
        .interrupted = interrupted,
        .context = &lookout,
    };
    paper->sweeps[piece] = esra_pactv_solve(&prox);
}

static void watch(void *work)
{
    struct paper *paper = work;
    esra_monitor_poll(paper->monitor);
}

/* l_k arrives where l_{k-2} stood. Returns the most sweeps that any piece needed. */
static int step(struct paper *paper)
{
    struct context *context = paper->monitor->context;
    esra_context_run(context, descend_block, paper, paper->problem->channels * row_blocks(paper->problem), NULL);
    esra_context_run(context, prox_piece, paper, paper->pieces, watch);
    struct plane *swap = paper->x;
    paper->x = paper->x_before;
    paper->x_before = swap;
    int most = 1;
    for (int piece = 0; piece < paper->pieces; piece++) {
        paper->monitor->info.inner_iterations += paper->sweeps[piece];
        most = paper->sweeps[piece] > most ? paper->sweeps[piece] : most;
    }
    return most;
}

static bool finished(const struct paper *paper, int iterations)
{
    for (int c = 0; c < paper->problem->channels; c++) {
        int first = c * paper->problem->layers;
        struct candidate candidate = {
            .x = paper->x + first, .p = paper->p + first, .q = paper->q + first, .dual_scale = 1};
        esra_monitor_show(paper->monitor, c, &candidate);
    }
    return esra_monitor_decide(paper->monitor, iterations);
}

static void iterate(struct paper *paper)
{
    const esra_settings *settings = paper->monitor->settings;
    double t = 1;
    int sweeps = 0;
    if (finished(paper, 0))
        return;
    paper->momentum = 0;
    for (int k = 1;; k++) {
        double loose = settings->inner_adaptive ? ADAPTIVE / ((double)k * k) : 0;
        paper->tolerance = fmax(settings->inner_tolerance, loose);
        sweeps += step(paper);
        bool stopping = esra_monitor_stopping(paper->monitor);
        if (stopping && paper->certified)
            return;
        /* A first iterate cut short is in the box all the same, and better than the start. */
        if (sweeps >= SWEEPS_A_CERTIFICATE || k == settings->max_iterations || stopping) {
            sweeps = 0;
            paper->certified = true;
            if (finished(paper, k))
                return;
        }
        double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
        paper->momentum = (float)((t - 1) / t_next);
        t = t_next;
    }
}

size_t esra_paper_room(const struct problem *problem, int threads)
{
    struct paper paper = {.problem = problem, .threads = threads, .pieces = problem->channels * problem->layers};
    struct arena arena = {0};
    esra_arena_count(&arena);
    lay_out(&paper, &arena);
    return esra_arena_counted(&arena);
}

esra_status esra_paper_run(struct monitor *monitor, struct arena *arena)
{
    const struct problem *problem = monitor->problem;
    struct paper paper = {
        .monitor = monitor,
        .problem = problem,
        .threads = esra_context_threads(monitor->context),
        .pieces = problem->channels * problem->layers,
        .lipschitz = monitor->settings->lipschitz_factor * problem->data_norm_squared,
    };
    esra_arena_count(arena);
    lay_out(&paper, arena);
    if (!esra_arena_place(arena))
        return esra_fail_memory(monitor->context->message);
    lay_out(&paper, arena);
    for (int n = 0; n < paper.slots; n++) {
        clear(paper.p_tilde[n]);
        clear(paper.q_tilde[n]);
    }
    memset(paper.zeros, 0, (stride_of(problem) + KERNEL_PAD) * sizeof *paper.zeros);
    esra_kernels_fill(&paper.kernels, monitor->context->features);
    esra_context_run(monitor->context, load_piece, &paper, paper.pieces, NULL);
    iterate(&paper);
    return ESRA_OK;
}
