/* solve/vcycle.c - the V-cycle that preconditions the null mode (solve/fast.c). */
#include "solve/vcycle.h"

#include <string.h>

/* Jacobi's damping: 4/5 minimises the largest factor on high frequencies of the five-point operator. */
#define DAMPING 0.8

/* Where r2 outweighs r1 so far, the operator is nearly diagonal and two smoothings solve it. */
#define DIAGONAL_RATIO 4

/* Rows of a task, of the grid that is written. */
#define BLOCK_ROWS 32

/* Scratch of a thread: four rows of residuals or three prolonged ones, wide enough for two coarse rows' room, one row
 * between, and three smoothed ones. */
#define SCRATCH_ROWS 8
#define BETWEEN      4
#define SMOOTHED     5

/* A grid this small is not worth waking the other threads for. */
#define SERIAL_PIXELS (1 << 14)

static int half(int side)
{
    return (side + 1) / 2;
}

static size_t row_floats(int width)
{
    return (size_t)kernel_columns(width) + KERNEL_PAD;
}

static struct plane take_plane(struct arena *arena, int width, int height)
{
    float *data = esra_arena_take(arena, row_floats(width) * (size_t)height + KERNEL_PAD, sizeof *data);
    return (struct plane){data ? data + KERNEL_PAD : NULL, width, height, (ptrdiff_t)row_floats(width)};
}

void esra_vcycle_lay_out(struct vcycle *v, struct arena *arena, int width, int height, int threads)
{
    v->scratch_row = 2 * (size_t)kernel_columns(half(width)) + 2 * KERNEL_PAD;
    v->scratch = esra_arena_take(arena, SCRATCH_ROWS * v->scratch_row * (size_t)threads, sizeof(float));
    v->jacobi[0] = take_plane(arena, width, height);
    for (int l = 1; l < VCYCLE_LEVELS; l++) {
        width = half(width);
        height = half(height);
        v->f[l] = take_plane(arena, width, height);
        v->e[l] = take_plane(arena, width, height);
        v->jacobi[l] = take_plane(arena, width, height);
        if (width == 1 && height == 1)
            break;
    }
}

static void clear_plane(struct plane plane)
{
    if (plane.data)
        memset(plane.data - KERNEL_PAD, 0, ((size_t)plane.stride * (size_t)plane.height + KERNEL_PAD) * sizeof(float));
}

void esra_vcycle_clear(struct vcycle *v)
{
    for (int l = 0; l < VCYCLE_LEVELS; l++) {
        clear_plane(v->f[l]);
        clear_plane(v->e[l]);
        clear_plane(v->jacobi[l]);
    }
    memset(v->scratch, 0, SCRATCH_ROWS * v->scratch_row * (size_t)esra_context_threads(v->context) * sizeof(float));
}

/* P'P <= 2 and P'D'DP <= 1/2 D'D along each halved direction, and P'P <= 2 across the differences of the other: halving
 * both sides keeps r1, halving one takes r1/2. Uniform r2 would be 4 or 2 times as large. */
void esra_vcycle_set(struct vcycle *v, struct plane g, int halvings, double r1, double least)
{
    int l = 0, width = g.width, height = g.height;
    v->level[0] = (struct vlevel){g, {0}, v->jacobi[halvings], r1, {(float)(1 - DAMPING), (float)r1}};
    while (l == 0 || ((width > 1 || height > 1) && least <= DIAGONAL_RATIO * r1)) {
        bool both = width > 1 && height > 1;
        r1 *= both ? 1 : 0.5;
        least *= both ? 4 : 2;
        width = half(width);
        height = half(height);
        l++;
        v->level[l] = (struct vlevel){
            v->f[halvings + l], v->e[halvings + l], v->jacobi[halvings + l], r1, {(float)(1 - DAMPING), (float)r1}};
    }
    v->depth = l + 1;
}

static void thread_rows(const struct vcycle *v, int worker, float *rows[SCRATCH_ROWS])
{
    for (size_t n = 0; n < SCRATCH_ROWS; n++)
        rows[n] = v->scratch + ((size_t)worker * SCRATCH_ROWS + n) * v->scratch_row + KERNEL_PAD;
}

/* Rows of jacobi f, which smoothing from zero gives: those beside the one looked at are kept. */
struct smoothed {
    const struct vcycle *v;
    const struct vlevel *level;
    float *rows[3];
    int next;
};

static struct smoothed begin_smoothed(const struct vcycle *v, const struct vlevel *level, int worker, int first)
{
    float *rows[SCRATCH_ROWS];
    thread_rows(v, worker, rows);
    return (struct smoothed){
        v, level, {rows[SMOOTHED], rows[SMOOTHED + 1], rows[SMOOTHED + 2]}, first > 0 ? first - 1 : 0};
}

/* Row y, once those before y + 2 are there; no row is asked for after one that lies more than one further down. Outside
 * the grid it is the outer row again. */
static const float *smoothed_row(struct smoothed *smoothed, int y)
{
    const struct vlevel *level = smoothed->level;
    int width = level->f.width, last = level->f.height - 1;
    y = y < 0 ? 0 : y > last ? last : y;
    for (; smoothed->next <= y; smoothed->next++) {
        float *out = smoothed->rows[smoothed->next % 3];
        smoothed->v->kernels->scale(plane_row(level->jacobi, smoothed->next), plane_row(level->f, smoothed->next), out,
                                    kernel_columns(width));
        out[-1] = out[0];
        out[width] = out[width - 1];
    }
    return smoothed->rows[y % 3];
}

/* f - A e of the smoothed e = jacobi f in row y; outside the grid, what makes restriction the adjoint of prolongation:
 * the outer row again next to a row that has no pair, nothing further out. */
static void residual_row(struct smoothed *smoothed, int y, float *out)
{
    const struct vlevel *level = smoothed->level;
    int width = level->f.width, last = level->f.height - 1;
    int columns = kernel_columns(width), room = 2 * kernel_columns(half(width));
    if (y > last && (y > last + 1 || last % 2 == 0)) {
        memset(out, 0, (size_t)room * sizeof *out);
        return;
    }
    y = y < 0 ? 0 : y > last ? last : y;
    const float *above = smoothed_row(smoothed, y - 1), *here = smoothed_row(smoothed, y);
    smoothed->v->kernels->residual(level->stencil, plane_row(level->f, y), above, here, smoothed_row(smoothed, y + 1),
                                   out, columns);
    memset(out + width, 0, (size_t)(room - width) * sizeof *out);
}

/* A row of P'r from rows 2j-1..2j+2 of r, n pixels wide: the coarser right side of residuals. */
static void restrict_row(const struct vcycle *v, const struct vlevel *fine, const float *const r[4], float *t, int n,
                         float *out)
{
    int width = fine->f.width;
    t[-1] = t[2 * kernel_columns(n)] = 0;
    v->kernels->restrict_(r[0], r[1], r[2], r[3], t, out, kernel_columns(n));
    out[0] += 0.25f * t[0];
    if (width % 2 == 0)
        out[n - 1] += 0.25f * t[width - 1];
    if (n < kernel_columns(n))
        out[n] = 0;
}

struct vtask {
    struct vcycle *v;
    int level; /* the finer of the two */
};

static void restrict_block(void *work, int block, int worker)
{
    const struct vtask *task = work;
    const struct vlevel *fine = &task->v->level[task->level], *coarse = fine + 1;
    int first = block * BLOCK_ROWS, end = first + BLOCK_ROWS;
    end = end < coarse->f.height ? end : coarse->f.height;
    float *rows[SCRATCH_ROWS];
    thread_rows(task->v, worker, rows);
    struct smoothed smoothed = begin_smoothed(task->v, fine, worker, 2 * first - 1);
    residual_row(&smoothed, 2 * first - 1, rows[0]);
    residual_row(&smoothed, 2 * first, rows[1]);
    for (int j = first; j < end; j++) {
        residual_row(&smoothed, 2 * j + 1, rows[2]);
        residual_row(&smoothed, 2 * j + 2, rows[3]);
        const float *const r[] = {rows[0], rows[1], rows[2], rows[3]};
        restrict_row(task->v, fine, r, rows[BETWEEN], coarse->f.width, plane_row(coarse->f, j));
        float *spare0 = rows[0], *spare1 = rows[1];
        rows[0] = rows[2];
        rows[1] = rows[3];
        rows[2] = spare0;
        rows[3] = spare1;
    }
}

static void run_blocks(struct vcycle *v, pool_task *run, struct vtask *task, struct plane grid)
{
    int blocks = (grid.height - 1) / BLOCK_ROWS + 1;
    if (plane_pixels(grid) > SERIAL_PIXELS) {
        esra_context_run(v->context, run, task, blocks, NULL);
        return;
    }
    for (int block = 0; block < blocks; block++)
        run(task, block, 0);
}

float esra_vcycle_jacobi(double r1, float r2)
{
    return (float)(DAMPING / (4 * r1 + (double)r2));
}

/* Row y of the finer r2, and outside the grid what residual_row() has there. */
static const float *r2_row(const struct vlevel *level, int y, const float *nothing)
{
    int last = level->f.height - 1;
    if (y > last && (y > last + 1 || last % 2 == 0))
        return nothing;
    return plane_row(level->jacobi, y < 0 ? 0 : y > last ? last : y);
}

/* The coarser r2 is P' r2: each pixel of P e is a mean of coarse ones, the square of a mean at most the mean of
 * squares, and so e'P' r2 P e <= e' diag(P' r2) e. */
static void coarsen_block(void *work, int block, int worker)
{
    const struct vtask *task = work;
    const struct vlevel *fine = &task->v->level[task->level], *coarse = fine + 1;
    float *rows[SCRATCH_ROWS];
    thread_rows(task->v, worker, rows);
    memset(rows[0] - KERNEL_PAD, 0, task->v->scratch_row * sizeof(float));
    for (int j = block * BLOCK_ROWS; j < coarse->f.height && j < (block + 1) * BLOCK_ROWS; j++) {
        const float *r2[4];
        for (int n = 0; n < 4; n++)
            r2[n] = r2_row(fine, 2 * j - 1 + n, rows[0]);
        restrict_row(task->v, fine, r2, rows[BETWEEN], coarse->jacobi.width, plane_row(coarse->jacobi, j));
    }
}

static void invert_block(void *work, int block, int worker)
{
    const struct vtask *task = work;
    const struct vlevel *level = &task->v->level[task->level];
    bool single = task->level == task->v->depth - 1 && plane_pixels(level->f) == 1;
    (void)worker;
    for (int y = block * BLOCK_ROWS; y < level->f.height && y < (block + 1) * BLOCK_ROWS; y++) {
        float *row = plane_row(level->jacobi, y);
        for (int x = 0; x < level->f.width; x++)
            row[x] = single ? 1 / row[x] : esra_vcycle_jacobi(level->r1, row[x]);
    }
}

void esra_vcycle_take(struct vcycle *v)
{
    struct vtask task = {v, 0};
    for (; task.level < v->depth - 1; task.level++)
        run_blocks(v, coarsen_block, &task, v->level[task.level + 1].jacobi);
    for (task.level = 0; task.level < v->depth; task.level++)
        run_blocks(v, invert_block, &task, v->level[task.level].jacobi);
}

/* Two Jacobi steps from zero. A grid of one pixel has A = r2, and its inverse for jacobi. */
static void solve_coarsest(const struct vcycle *v, const struct vlevel *level)
{
    int width = level->f.width, height = level->f.height;
    if (width == 1 && height == 1) {
        level->e.data[0] = level->jacobi.data[0] * level->f.data[0];
        return;
    }
    struct smoothed smoothed = begin_smoothed(v, level, 0, 0);
    for (int y = 0; y < height; y++) {
        float *e = plane_row(level->e, y);
        const float *above = smoothed_row(&smoothed, y - 1), *here = smoothed_row(&smoothed, y);
        v->kernels->relax(level->stencil, plane_row(level->jacobi, y), plane_row(level->f, y), above, here,
                          smoothed_row(&smoothed, y + 1), e, kernel_columns(width));
        if (width < kernel_columns(width))
            e[width] = 0;
    }
}

/* jacobi f + P e in row y, from which the last smoothing starts. */
static void prolong_row(struct vring *ring, int y)
{
    const struct vlevel *fine = &ring->v->level[ring->level], *coarse = fine + 1;
    int width = fine->f.width, last = coarse->e.height - 1;
    if (y < 0 || y >= fine->f.height)
        return;
    int near_ = y / 2, far_ = y % 2 ? near_ + 1 : near_ - 1;
    far_ = far_ < 0 ? 0 : far_ > last ? last : far_;
    float *out = ring->rows[y % 3];
    ring->v->kernels->prolong(plane_row(fine->jacobi, y), plane_row(fine->f, y), plane_row(coarse->e, near_),
                              plane_row(coarse->e, far_), ring->t, out, coarse->e.width, kernel_columns(width));
    out[-1] = out[0];
    out[width] = out[width - 1];
}

void esra_vring_begin(struct vring *ring, const struct vcycle *v, int level, int worker, int first)
{
    float *rows[SCRATCH_ROWS];
    *ring = (struct vring){.v = v, .level = level};
    thread_rows(v, worker, rows);
    memcpy(ring->rows, rows, sizeof ring->rows);
    ring->t = rows[BETWEEN];
    prolong_row(ring, first - 1);
    prolong_row(ring, first);
}

void esra_vring_next(struct vring *ring, int y, float *out)
{
    const struct vlevel *level = &ring->v->level[ring->level];
    int width = level->f.width, columns = kernel_columns(width);
    prolong_row(ring, y + 1);
    const float *here = ring->rows[y % 3];
    const float *above = y > 0 ? ring->rows[(y + 2) % 3] : here;
    const float *below = y + 1 < level->f.height ? ring->rows[(y + 1) % 3] : here;
    ring->v->kernels->relax(level->stencil, plane_row(level->jacobi, y), plane_row(level->f, y), above, here, below,
                            out, columns);
    memset(out + width, 0, (size_t)(columns - width) * sizeof *out);
}

static void rise_block(void *work, int block, int worker)
{
    const struct vtask *task = work;
    const struct vlevel *level = &task->v->level[task->level];
    int first = block * BLOCK_ROWS, end = first + BLOCK_ROWS;
    struct vring ring;
    esra_vring_begin(&ring, task->v, task->level, worker, first);
    for (int y = first; y < end && y < level->f.height; y++)
        esra_vring_next(&ring, y, plane_row(level->e, y));
}

void esra_vcycle_run(struct vcycle *v)
{
    struct vtask task = {v, 0};
    for (; task.level < v->depth - 1; task.level++)
        run_blocks(v, restrict_block, &task, v->level[task.level + 1].f);
    solve_coarsest(v, &v->level[v->depth - 1]);
    for (task.level = v->depth - 2; task.level > 0; task.level--)
        run_blocks(v, rise_block, &task, v->level[task.level].e);
}
