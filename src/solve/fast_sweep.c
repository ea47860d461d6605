/* solve/fast_sweep.c - an iteration in one pass over memory: row y takes its primal step, then row y-1, whose
 * neighbours' bar is now known, its dual step and its new g.
 *
 * Blocks of rows run in any order. A block leaves two things to do when all have run: the dual step of its last row,
 * for which it lacks the next block's first bar, and g on either side of that seam. Until then nobody changes the duals
 * above a block's first row, so that every primal step reads the duals of the iteration before. */
#include "solve/fast_sweep.h"

#include <math.h>
#include <string.h>

#include "ops/diff.h"

/* Rows of a block: enough that the seams cost little, few enough to share out. Fixed, so that the work is the same for
 * any number of threads; no sum depends on it. */
#define BLOCK_ROWS 32

/* Columns that go through all three kernels before the next: their planes fit the first cache. */
#define CHUNK 512

/* The box binds where the force z of any layer is more than BINDS lambda. Elsewhere r2, the step of z and the weight
 * that holds a pixel in M, is FREE_R2 r1: little, so that M does not slow what is free, and enough that a pixel which
 * leaves the box between two looks comes back. A tenth to ten times BINDS changes little; FREE_R2 from 1e-3 to 1e-2 a
 * tenth, 1e-4 takes painted patches three times as long (doc/notes/fast-engine.md). */
#define FREE_R2 3e-3
#define BINDS   0.01

/* A level larger than this does not stay in the third cache, and its rows are fetched ahead: two rows, or one where two
 * are more than so many bytes. Beside them the second cache, of 1 MB or so, holds the row at hand and the one above. */
#define FETCH_BYTES      ((ptrdiff_t)16 << 20)
#define FETCH_AHEAD_MOST ((ptrdiff_t)256 << 10)

static int block_count(const struct level *level)
{
    return (level->height - 1) / BLOCK_ROWS + 1;
}

void esra_sweeper_lay_out(struct sweeper *sweeper, struct arena *arena, const struct level *largest, int threads)
{
    size_t layers = (size_t)largest->layers, pitch = (size_t)largest->pitch;
    sweeper->bar_pitch = largest->pitch;
    sweeper->zeros = esra_arena_take(arena, layers * pitch, sizeof(float));
    sweeper->seams =
        esra_arena_take(arena, (size_t)block_count(largest) * 2 * layers * pitch + KERNEL_PAD, sizeof(float));
    sweeper->scratch = esra_arena_take(arena, (size_t)threads * (2 * layers + 1) * pitch + KERNEL_PAD, sizeof(float));
    sweeper->a = esra_arena_take(arena, layers, sizeof(float));
    sweeper->null = esra_arena_take(arena, layers, sizeof(float));
    esra_vcycle_lay_out(&sweeper->vcycle, arena, largest->width, largest->height, threads);
}

/* The column right of a bar is read as padding; a wider level may have left values there. */
static void clear_bars(struct sweeper *sweeper, const struct level *level)
{
    size_t row = (size_t)level->layers * (size_t)sweeper->bar_pitch,
           threads = (size_t)esra_context_threads(sweeper->context);
    memset(sweeper->seams, 0, ((size_t)block_count(level) * 2 * row + KERNEL_PAD) * sizeof(float));
    memset(sweeper->scratch, 0, (threads * (2 * row + (size_t)sweeper->bar_pitch) + KERNEL_PAD) * sizeof(float));
}

/* c = (1, -a_1, ..., -a_m); g = -<c,w>/|c|^2. */
void esra_sweeper_begin(struct sweeper *sweeper, const struct problem *problem)
{
    memset(sweeper->zeros, 0, (size_t)problem->layers * (size_t)sweeper->bar_pitch * sizeof(float));
    sweeper->null[0] = (float)(-1 / problem->data_norm_squared);
    for (int i = 0; i < problem->photos; i++) {
        sweeper->a[i] = (float)problem->mixing[i];
        sweeper->null[i + 1] = (float)(problem->mixing[i] / problem->data_norm_squared);
    }
    sweeper->vcycle.kernels = sweeper->kernels;
    sweeper->vcycle.context = sweeper->context;
    esra_vcycle_clear(&sweeper->vcycle);
}

/* r2 of the rows of a block. */
static void hold_block(void *work, int block, int worker)
{
    const struct sweeper *sweeper = work;
    const struct level *level = sweeper->level;
    struct plane r2 = sweeper->vcycle.level[0].jacobi;
    float binds = (float)(BINDS * level->lambda), bound = sweeper->bound_r2, loose = sweeper->constants.r2;
    (void)worker;
    for (int y = block * BLOCK_ROWS; y < level->height && y < (block + 1) * BLOCK_ROWS; y++) {
        float *row = plane_row(r2, y);
        const float *z = plane_row(esra_level_plane(level, LEVEL_Z, 0), y);
        for (int x = 0; x < level->width; x++)
            row[x] = loose;
        for (int l = 0; l < level->layers; l++)
            for (int x = 0; x < level->width; x++)
                row[x] = fabsf(z[l * level->pitch + x]) > binds ? bound : row[x];
    }
}

void esra_sweeper_set(struct sweeper *sweeper, const struct level *level, int halvings, struct steps steps, double rho)
{
    double r1 = steps.r1, s = (DIFF_NORM_SQUARED + steps.box) * r1, arrow = s;
    float loose = (float)(FREE_R2 * r1), bound = (float)(steps.box * r1);
    float jacobi = esra_vcycle_jacobi(r1, loose);
    for (int i = 0; i < level->photos; i++)
        arrow += (double)sweeper->a[i] * (double)sweeper->a[i] * s / (1 + s);
    sweeper->level = level;
    sweeper->constants = (struct sweep){
        .photos = level->photos,
        .a = sweeper->a,
        .null = sweeper->null,
        .lambda = (float)level->lambda,
        .rho = (float)rho,
        .sigma = (float)(r1 / level->lambda),
        .r2 = loose,
        .r2_rise = (bound - loose) / (jacobi - esra_vcycle_jacobi(r1, bound)),
        .jacobi = jacobi,
        .s = (float)s,
        .s_inverse = (float)(1 / s),
        .photo_inverse = (float)(1 / (1 + s)),
        .arrow_inverse = (float)(1 / arrow),
    };
    sweeper->bound_r2 = bound;
    esra_vcycle_set(&sweeper->vcycle, esra_level_plane(level, LEVEL_G, 0), halvings, r1, (double)loose);
    esra_context_run(sweeper->context, hold_block, sweeper, block_count(level), NULL);
    esra_vcycle_take(&sweeper->vcycle);
}

static float *seam_bar(const struct sweeper *sweeper, int block, int last)
{
    return sweeper->seams + (2 * block + last) * sweeper->level->layers * sweeper->bar_pitch + KERNEL_PAD;
}

/* A block as one thread goes through it. */
struct pass {
    struct sweeper *sweeper;
    int block, first, end;
    float *scratch;
};

static float *bar_of(const struct pass *pass, int y)
{
    const struct sweeper *sweeper = pass->sweeper;
    if (y == pass->first || y == pass->end - 1)
        return seam_bar(sweeper, pass->block, y != pass->first);
    return pass->scratch + (y % 2) * sweeper->level->layers * sweeper->bar_pitch;
}

static struct sweep_row row_at(const struct sweeper *sweeper, int y, float *bar)
{
    struct sweep_row row = esra_level_row(sweeper->level, sweeper->zeros + KERNEL_PAD, y);
    row.bar = bar;
    row.bar_pitch = sweeper->bar_pitch;
    row.jacobi = plane_row(sweeper->vcycle.level[0].jacobi, y);
    return row;
}

/* The duals of a row, and g where it can be had: past the last column there is no difference, and q is zero. */
static void dual_columns(const struct sweeper *sweeper, const struct sweep_row *row, int first, int end, bool gather)
{
    int last = sweeper->level->width - 1;
    const struct kernels *kernels = sweeper->kernels;
    (row->expected ? kernels->dual_expected : kernels->dual)(&sweeper->constants, row, first, end);
    for (int l = 0; last < end && l < sweeper->level->layers; l++)
        row->q[l * row->pitch + last] = 0;
    if (gather)
        sweeper->kernels->null(&sweeper->constants, row, first, end);
}

static void sweep_row(const struct pass *pass, int y, const float *correction)
{
    const struct sweeper *sweeper = pass->sweeper;
    const struct kernels *kernels = sweeper->kernels;
    const struct sweep *constants = &sweeper->constants;
    int columns = kernel_columns(sweeper->level->width);
    struct sweep_row row = row_at(sweeper, y, bar_of(pass, y)), above = row;
    row.correction = correction;
    bool gather = y - 1 > pass->first || y == 1;
    if (y > pass->first) {
        above = row_at(sweeper, y - 1, bar_of(pass, y - 1));
        above.bar_below = row.bar;
    }
    for (int first = 0; first < columns; first += CHUNK) {
        int end = columns - first < CHUNK ? columns : first + CHUNK;
        (row.weight ? kernels->primal_weighted : kernels->primal)(constants, &row, first, end);
        if (y > pass->first)
            dual_columns(sweeper, &above, first, end, gather);
    }
}

/* The last row has nothing below it: no vertical difference. */
static void finish_last_row(const struct pass *pass)
{
    const struct sweeper *sweeper = pass->sweeper;
    int y = sweeper->level->height - 1, columns = kernel_columns(sweeper->level->width);
    struct sweep_row row = row_at(sweeper, y, bar_of(pass, y));
    row.bar_below = row.bar;
    dual_columns(sweeper, &row, 0, columns, y > pass->first || y == 0);
}

static struct pass begin_pass(struct sweeper *sweeper, int block, int worker)
{
    const struct level *level = sweeper->level;
    int first = block * BLOCK_ROWS;
    int end = level->height - first < BLOCK_ROWS ? level->height : first + BLOCK_ROWS;
    size_t size = (size_t)(2 * level->layers + 1) * (size_t)sweeper->bar_pitch;
    return (struct pass){sweeper, block, first, end, sweeper->scratch + (size_t)worker * size + KERNEL_PAD};
}

static int rows_ahead(const struct level *level)
{
    return 2 * level->record * (ptrdiff_t)sizeof(float) <= FETCH_AHEAD_MOST ? 2 : 1;
}

/* Brings row y of the block into the second cache. The kernels read thirty planes at once, which is more than a
 * processor recognises as streams and fetches ahead; a row's planes lie one after the other and read in that order are
 * one stream (1024^2, m = 3, one thread: 2.35 ns a layer-pixel and iteration instead of 2.92; prefetch instructions,
 * which do not start streams, gain nothing). */
static void fetch_row(const struct pass *pass, int y)
{
    const struct level *level = pass->sweeper->level;
    if (y >= pass->end || level->record * level->height * (ptrdiff_t)sizeof(float) < FETCH_BYTES)
        return;
    const volatile float *row = level->data + y * level->record;
    for (ptrdiff_t at = 0; at < level->record - KERNEL_PAD; at += KERNEL_GROUP)
        (void)row[at];
}

static void sweep_block(void *work, int block, int worker)
{
    struct sweeper *sweeper = work;
    struct pass pass = begin_pass(sweeper, block, worker);
    float *correction = pass.scratch + 2 * sweeper->level->layers * sweeper->bar_pitch;
    int ahead = rows_ahead(sweeper->level);
    struct vring ring;
    esra_vring_begin(&ring, &sweeper->vcycle, 0, worker, pass.first);
    for (int y = pass.first; y < pass.first + ahead; y++)
        fetch_row(&pass, y);
    for (int y = pass.first; y < pass.end; y++) {
        fetch_row(&pass, y + ahead);
        esra_vring_next(&ring, y, correction);
        sweep_row(&pass, y, correction);
    }
    if (pass.end == sweeper->level->height)
        finish_last_row(&pass);
}

/* Between block `seam` and the next. */
static void close_seam(void *work, int seam, int worker)
{
    struct sweeper *sweeper = work;
    int y = (seam + 1) * BLOCK_ROWS, columns = kernel_columns(sweeper->level->width);
    struct sweep_row above = row_at(sweeper, y - 1, seam_bar(sweeper, seam, 1));
    struct sweep_row below = row_at(sweeper, y, NULL);
    (void)worker;
    above.bar_below = seam_bar(sweeper, seam + 1, 0);
    dual_columns(sweeper, &above, 0, columns, true);
    sweeper->kernels->null(&sweeper->constants, &below, 0, columns);
}

void esra_sweeper_run(struct sweeper *sweeper)
{
    int blocks = block_count(sweeper->level);
    esra_vcycle_run(&sweeper->vcycle);
    esra_context_run(sweeper->context, sweep_block, sweeper, blocks, NULL);
    esra_context_run(sweeper->context, close_seam, sweeper, blocks - 1, NULL);
}

static void gather_block(void *work, int block, int worker)
{
    struct sweeper *sweeper = work;
    struct pass pass = begin_pass(sweeper, block, worker);
    for (int y = pass.first; y < pass.end; y++) {
        struct sweep_row row = row_at(sweeper, y, NULL);
        sweeper->kernels->null(&sweeper->constants, &row, 0, kernel_columns(sweeper->level->width));
    }
}

void esra_sweeper_gather(struct sweeper *sweeper)
{
    clear_bars(sweeper, sweeper->level);
    esra_context_run(sweeper->context, gather_block, sweeper, block_count(sweeper->level), NULL);
}
