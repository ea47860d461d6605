/* solve/vcycle.c - the V-cycle that preconditions the null mode (solve/fast.c). */
#include "solve/vcycle.h"

#include <string.h>

/* Jacobi's damping: 4/5 minimises the largest factor on high frequencies of the five-point operator. */
#define DAMPING 0.8

/* Where r2 outweighs r1 so far, the operator is nearly diagonal and two smoothings solve it. */
#define DIAGONAL_RATIO 4

/* Rows of a task, of the grid that is written. */
#define BLOCK_ROWS 32

/* Scratch of a thread: four rows of residuals or three prolonged ones, wide enough for two coarse rows' room, and one
 * row between. */
#define SCRATCH_ROWS 5

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
    for (int l = 1; l < VCYCLE_LEVELS; l++) {
        width = half(width);
        height = half(height);
        v->f[l] = take_plane(arena, width, height);
        v->e[l] = take_plane(arena, width, height);
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
    for (int l = 1; l < VCYCLE_LEVELS; l++) {
        clear_plane(v->f[l]);
        clear_plane(v->e[l]);
    }
    memset(v->scratch, 0, SCRATCH_ROWS * v->scratch_row * (size_t)esra_context_threads(v->context) * sizeof(float));
}

static void set_level(struct vlevel *level, struct plane f, struct plane e, double r1, double r2)
{
    double jacobi = DAMPING / (4 * r1 + r2);
    *level = (struct vlevel){f,
                             e,
                             r2,
                             {(float)(1 - DAMPING), (float)jacobi, (float)(jacobi * r1)},
                             {(float)(1 - DAMPING), 0, (float)(jacobi * r1)}};
}

/* P'P <= 2 and P'D'DP <= 1/2 D'D along each halved direction, and P'P <= 2 across the differences of the other: halving
 * both sides keeps r1 and takes 4 r2, halving one takes r1/2 and 2 r2. */
void esra_vcycle_set(struct vcycle *v, struct plane g, int halvings, double r1, double r2)
{
    int l = 0, width = g.width, height = g.height;
    set_level(&v->level[0], g, (struct plane){0}, r1, r2);
    while (l == 0 || ((width > 1 || height > 1) && r2 <= DIAGONAL_RATIO * r1)) {
        bool both = width > 1 && height > 1;
        r1 *= both ? 1 : 0.5;
        r2 *= both ? 4 : 2;
        width = half(width);
        height = half(height);
        l++;
        set_level(&v->level[l], v->f[halvings + l], v->e[halvings + l], r1, r2);
    }
    v->depth = l + 1;
}

static void thread_rows(const struct vcycle *v, int worker, float *rows[SCRATCH_ROWS])
{
    for (size_t n = 0; n < SCRATCH_ROWS; n++)
        rows[n] = v->scratch + ((size_t)worker * SCRATCH_ROWS + n) * v->scratch_row + KERNEL_PAD;
}

/* f - A e of the smoothed e = jacobi f in row y; outside the grid, what makes restriction the adjoint of prolongation:
 * the outer row again next to a row that has no pair, nothing further out. */
static void residual_row(const struct vcycle *v, const struct vlevel *level, int y, float *out)
{
    int width = level->f.width, last = level->f.height - 1;
    int columns = kernel_columns(width), room = 2 * kernel_columns(half(width));
    if (y > last && (y > last + 1 || last % 2 == 0)) {
        memset(out, 0, (size_t)room * sizeof *out);
        return;
    }
    y = y < 0 ? 0 : y > last ? last : y;
    const float *f = plane_row(level->f, y);
    v->kernels->relax(level->residual, f, y > 0 ? f - level->f.stride : f, f, y < last ? f + level->f.stride : f, out,
                      columns);
    out[0] += level->residual.spread * f[0];
    out[width - 1] += level->residual.spread * f[width - 1];
    memset(out + width, 0, (size_t)(room - width) * sizeof *out);
}

/* Row j of the coarser right side P'(f - A e), from residual rows 2j-1..2j+2. */
static void restrict_row(const struct vcycle *v, const struct vlevel *fine, const struct vlevel *coarse, int j,
                         float *const r[4], float *t)
{
    int width = fine->f.width, n = coarse->f.width;
    float *out = plane_row(coarse->f, j);
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
    residual_row(task->v, fine, 2 * first - 1, rows[0]);
    residual_row(task->v, fine, 2 * first, rows[1]);
    for (int j = first; j < end; j++) {
        residual_row(task->v, fine, 2 * j + 1, rows[2]);
        residual_row(task->v, fine, 2 * j + 2, rows[3]);
        restrict_row(task->v, fine, coarse, j, rows, rows[4]);
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

/* Two Jacobi steps from zero at once: e = jacobi (f + (f - A jacobi f)). A grid of one pixel has A = r2. */
static void solve_coarsest(const struct vcycle *v, const struct vlevel *level)
{
    int width = level->f.width, last = level->f.height - 1;
    float jacobi = level->smooth.source, spread = jacobi * level->residual.spread;
    struct stencil twice = {jacobi * (1 + level->residual.keep), 0, spread};
    if (width == 1 && last == 0) {
        level->e.data[0] = (float)(level->f.data[0] / level->r2);
        return;
    }
    for (int y = 0; y <= last; y++) {
        const float *f = plane_row(level->f, y);
        float *e = plane_row(level->e, y);
        v->kernels->relax(twice, f, y > 0 ? f - level->f.stride : f, f, y < last ? f + level->f.stride : f, e,
                          kernel_columns(width));
        e[0] += spread * f[0];
        e[width - 1] += spread * f[width - 1];
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
    ring->v->kernels->prolong(fine->smooth.source, plane_row(fine->f, y), plane_row(coarse->e, near_),
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
    ring->t = rows[4];
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
    ring->v->kernels->relax(level->smooth, plane_row(level->f, y), above, here, below, out, columns);
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
