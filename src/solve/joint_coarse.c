/* solve/joint_coarse.c - an additive multilevel preconditioner (Bramble, Pasciak and Xu 1990) by aggregation:
 *
 *     z = diag(A)^-1 r + sum_l P_l B_l^-1 P_l' r,     P_l: constants on cells of 2^l pixels, l = 1 .. COARSE_LEVELS
 *
 * What is slow for the diagonal alone is light that moves from T to R: a wave h added to T and taken from R changes
 * photo i by h - S_i h, next to nothing where h is long against the motion. So B_l is the 2x2 matrix of T and R on one
 * cell, P_l'A P_l without the cell's neighbours:
 *
 *     (sum_i a_i^2 omega_i + edges out of the cell       sum_i a_i b_i omega_i where S_i stays in the cell )
 *     (                 the same                          sum_i b_i^2 S_i'omega_i + edges out of the cell  )
 *
 * Its off-diagonal grows with the cell: all of a photo's weight once its motion is short against it. Cells of
 * neighbouring levels nest, and a band of the largest has all that lies in it: each band is one task, from the pixels
 * to the largest cells and back. */
#include "solve/joint_coarse.h"

#include <math.h>
#include <string.h>

#include "base/wide.h"
#include "solve/joint_apply.h"

/* The determinant is at least this share of the diagonal's product: what is left to the edges past the largest cells
 * must not be taken for nothing. */
#define LEAST_DETERMINANT 1e-3f

void esra_joint_coarse_layout(struct joint_coarse *coarse, const struct joint_level *largest, struct arena *arena)
{
    int width = largest->width[REFLECTED], height = largest->height[REFLECTED];
    for (int l = 0; l < COARSE_LEVELS; l++) {
        struct coarse_level *level = &coarse->level[l];
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        size_t cells = (size_t)width * (size_t)height;
        level->shared = esra_arena_take(arena, cells, sizeof(float));
        for (int k = 0; k < JOINT_LAYERS; k++) {
            level->cell[k] = esra_arena_take(arena, cells, sizeof(colours));
            level->own[k] = esra_arena_take(arena, cells, sizeof(float));
        }
    }
    coarse->norm = esra_arena_take(arena, (size_t)height, sizeof *coarse->norm);
}

void esra_joint_coarse_enter(struct joint_coarse *coarse, const struct joint_level *level, int left, int top)
{
    int width = level->width[REFLECTED], height = level->height[REFLECTED];
    coarse->left = left;
    coarse->top = top;
    for (int l = 0; l < COARSE_LEVELS; l++) {
        coarse->level[l].width = width = (width + 1) / 2;
        coarse->level[l].height = height = (height + 1) / 2;
    }
    coarse->bands = height;
}

/* ---- The matrices ---- */

/* Rows [*begin, *end) of cells of level l, or for l = -1 of pixels of the canvas, in a band. */
static void band_rows(const struct joint_system *system, int l, int band, int *begin, int *end)
{
    const struct joint_coarse *coarse = &system->coarse;
    int height = l < 0 ? system->level->height[REFLECTED] : coarse->level[l].height;
    int rows = 1 << (COARSE_LEVELS - 1 - l);
    *begin = band * rows;
    *end = *begin + rows < height ? *begin + rows : height;
}

/* The layer's rows and columns among those of the canvas. */
static int first_column(const struct joint_system *system, int k)
{
    return k == TRANSMITTED ? system->coarse.left : 0;
}

static bool layer_row(const struct joint_system *system, int k, int y, int *row)
{
    *row = k == TRANSMITTED ? y - system->coarse.top : y;
    return *row >= 0 && *row < system->level->height[k];
}

static void clear_band(struct joint_system *system, int band)
{
    for (int l = 0; l < COARSE_LEVELS; l++) {
        struct coarse_level *level = &system->coarse.level[l];
        int begin, end;
        band_rows(system, l, band, &begin, &end);
        size_t start = (size_t)begin * (size_t)level->width, cells = (size_t)(end - begin) * (size_t)level->width;
        memset(level->shared + start, 0, cells * sizeof(float));
        for (int k = 0; k < JOINT_LAYERS; k++) {
            memset(level->own[k] + start, 0, cells * sizeof(float));
            memset(level->cell[k] + start, 0, cells * sizeof(colours));
        }
    }
}

/* Adds to cells of 2 pixels what row y of layer k has: the diagonal and the edges, of which those inside a cell hold
 * nothing, and those to the next cell, down and right, are kept where z will be. For R the four weights of S_i count,
 * not their squares: the pixels of a cell move together. */
static void add_row(struct joint_system *system, int k, int y)
{
    struct coarse_level *cells = &system->coarse.level[0];
    int row, width = system->level->width[k], left = first_column(system, k);
    if (!layer_row(system, k, y, &row))
        return;
    size_t start = (size_t)row * (size_t)width, base = (size_t)(y / 2) * (size_t)cells->width;
    const float *jacobi = system->jacobi[k] + start, *down = system->edge[k][0] + start,
                *right = system->edge[k][1] + start;
    const colours *seen = system->image[REFLECTED] + start;
    for (int x = 0; x < width; x++) {
        size_t cell = base + (size_t)((x + left) / 2);
        float whole = 1 / jacobi[x] + (k == REFLECTED ? seen[x][1] - seen[x][0] : 0);
        bool inside[2] = {y % 2 == 0, (x + left) % 2 == 0};
        cells->own[k][cell] += whole - 2 * (inside[0] ? down[x] : 0) - 2 * (inside[1] ? right[x] : 0);
        cells->cell[k][cell] += (colours){inside[0] ? 0 : down[x], inside[1] ? 0 : right[x]};
    }
}

/* The level from which on two pixels of the canvas lie in one cell. */
static int meeting_level(int x, int y, int u, int v)
{
    unsigned apart = (unsigned)(x ^ u) | (unsigned)(y ^ v);
    return apart < 2 ? 0 : 31 - __builtin_clz(apart);
}

/* Adds a_i b_i omega_i to the smallest cells that have both x of the frame and where photo i shows R there. Every pixel
 * counts, as in the diagonals: what is left of their difference tells how slow a cell is. */
static void add_shared(struct joint_system *system, int i, int y, int worker)
{
    const struct joint_level *level = system->level;
    struct joint_coarse *coarse = &system->coarse;
    int row, width = level->width[TRANSMITTED], across = level->width[REFLECTED], v = 0, begin = 0;
    if (!layer_row(system, TRANSMITTED, y, &row) || !(system->confidence[i] > 0))
        return;
    size_t start = (size_t)row * (size_t)width;
    const float *weight = level->weight[i] + start;
    const struct warp_point *points = joint_points(system, i, row, worker);
    float factor = (float)(system->mixing[i] * system->reflection_gain[i]);
    for (int x = 0; x < width; x++) {
        if (weight[x] == 0)
            continue;
        if (points[x].index < begin || points[x].index - begin >= across) {
            v = points[x].index / across;
            begin = v * across;
        }
        int here = x + coarse->left, l = meeting_level(here, y, points[x].index - begin, v);
        if (l < COARSE_LEVELS)
            coarse->level[l]
                .shared[(size_t)(y >> (l + 1)) * (size_t)coarse->level[l].width + (size_t)(here >> (l + 1))] +=
                factor * weight[x];
    }
}

/* Adds to the cells of level l the four of which each consists. */
static void add_cells(struct joint_system *system, int l, int band)
{
    const struct coarse_level *fine = &system->coarse.level[l - 1];
    struct coarse_level *cells = &system->coarse.level[l];
    int begin, end;
    band_rows(system, l - 1, band, &begin, &end);
    for (int y = begin; y < end; y++)
        for (int x = 0; x < fine->width; x++) {
            size_t from = (size_t)y * (size_t)fine->width + (size_t)x,
                   to = (size_t)(y / 2) * (size_t)cells->width + (size_t)(x / 2);
            cells->shared[to] += fine->shared[from];
            for (int k = 0; k < JOINT_LAYERS; k++) {
                float down = fine->cell[k][from][0], right = fine->cell[k][from][1];
                cells->own[k][to] += fine->own[k][from] - 2 * (y % 2 == 0 ? down : 0) - 2 * (x % 2 == 0 ? right : 0);
                cells->cell[k][to] += (colours){y % 2 == 0 ? 0 : down, x % 2 == 0 ? 0 : right};
            }
        }
}

/* The inverses of one level's matrices; where a layer has no pixels, the other's alone. */
static void invert_cells(struct coarse_level *cells, int begin, int end)
{
    for (size_t n = (size_t)begin * (size_t)cells->width; n < (size_t)end * (size_t)cells->width; n++) {
        float t = cells->own[TRANSMITTED][n], r = cells->own[REFLECTED][n], both = cells->shared[n];
        bool alone = !(t > 0) || !(r > 0);
        float most = alone ? 0 : sqrtf((1 - LEAST_DETERMINANT) * t * r);
        both = both < most ? both : most;
        float determinant = t * r - both * both;
        cells->own[TRANSMITTED][n] = alone ? (t > 0 ? 1 / t : 0) : r / determinant;
        cells->own[REFLECTED][n] = alone ? (r > 0 ? 1 / r : 0) : t / determinant;
        cells->shared[n] = alone ? 0 : -both / determinant;
    }
}

static void prepare_band(void *work, int band, int worker)
{
    struct joint_system *system = work;
    int begin, end;
    clear_band(system, band);
    band_rows(system, -1, band, &begin, &end);
    for (int y = begin; y < end; y++) {
        for (int k = 0; k < JOINT_LAYERS; k++)
            add_row(system, k, y);
        for (int i = 0; i < system->level->photos; i++)
            add_shared(system, i, y, worker);
    }
    for (int l = 1; l < COARSE_LEVELS; l++)
        add_cells(system, l, band);
    for (int l = 0; l < COARSE_LEVELS; l++) {
        band_rows(system, l, band, &begin, &end);
        invert_cells(&system->coarse.level[l], begin, end);
    }
}
WIDE_TASK(prepare_band)

void esra_joint_coarse_prepare(struct joint_system *system)
{
    esra_context_run(system->context, WIDE(system->context, prepare_band), system, system->coarse.bands, NULL);
}

/* ---- Preconditioning ---- */

/* Sums over the cells of 2 pixels. */
static void gather_pixels(struct joint_system *system, int k, int band)
{
    struct coarse_level *cells = &system->coarse.level[0];
    int begin, end, row, width = system->level->width[k], left = first_column(system, k);
    band_rows(system, 0, band, &begin, &end);
    memset(cells->cell[k] + (size_t)begin * (size_t)cells->width, 0,
           (size_t)(end - begin) * (size_t)cells->width * sizeof(colours));
    band_rows(system, -1, band, &begin, &end);
    for (int y = begin; y < end; y++) {
        if (!layer_row(system, k, y, &row))
            continue;
        const colours *r = system->residual[k] + (size_t)row * (size_t)width;
        colours *sum = cells->cell[k] + (size_t)(y / 2) * (size_t)cells->width;
        for (int x = 0; x < width; x++)
            sum[(x + left) / 2] += r[x];
    }
}

/* The same over the cells of level l, from those half as wide. */
static void gather_cells(struct joint_system *system, int l, int k, int band)
{
    const struct coarse_level *fine = &system->coarse.level[l - 1];
    struct coarse_level *cells = &system->coarse.level[l];
    int begin, end;
    band_rows(system, l, band, &begin, &end);
    memset(cells->cell[k] + (size_t)begin * (size_t)cells->width, 0,
           (size_t)(end - begin) * (size_t)cells->width * sizeof(colours));
    band_rows(system, l - 1, band, &begin, &end);
    for (int y = begin; y < end; y++) {
        const colours *r = fine->cell[k] + (size_t)y * (size_t)fine->width;
        colours *sum = cells->cell[k] + (size_t)(y / 2) * (size_t)cells->width;
        for (int x = 0; x < fine->width; x++)
            sum[x / 2] += r[x];
    }
}

/* z = B^-1 r in rows [begin, end), and <r, z>. */
static double multiply(struct coarse_level *cells, int begin, int end)
{
    colours *t = cells->cell[TRANSMITTED], *r = cells->cell[REFLECTED];
    const float *own_t = cells->own[TRANSMITTED], *own_r = cells->own[REFLECTED], *shared = cells->shared;
    double norm = 0;
    for (int y = begin; y < end; y++) {
        colours sum = {0};
        for (size_t n = (size_t)y * (size_t)cells->width; n < (size_t)(y + 1) * (size_t)cells->width; n++) {
            colours z_t = own_t[n] * t[n] + shared[n] * r[n], z_r = shared[n] * t[n] + own_r[n] * r[n];
            sum += t[n] * z_t + r[n] * z_r;
            t[n] = z_t;
            r[n] = z_r;
        }
        norm += colours_sum(sum);
    }
    return norm;
}

/* Adds to the cells of level l what those twice as wide have. */
static void spread_cells(struct joint_system *system, int l, int k, int band)
{
    const struct coarse_level *wide = &system->coarse.level[l + 1];
    struct coarse_level *cells = &system->coarse.level[l];
    int begin, end;
    band_rows(system, l, band, &begin, &end);
    for (int y = begin; y < end; y++) {
        const colours *from = wide->cell[k] + (size_t)(y / 2) * (size_t)wide->width;
        colours *to = cells->cell[k] + (size_t)y * (size_t)cells->width;
        for (int x = 0; x < cells->width; x++)
            to[x] += from[x / 2];
    }
}

static void apply_band(void *work, int band, int worker)
{
    struct joint_system *system = work;
    int begin, end;
    double norm = 0;
    (void)worker;
    for (int k = 0; k < JOINT_LAYERS; k++) {
        gather_pixels(system, k, band);
        for (int l = 1; l < COARSE_LEVELS; l++)
            gather_cells(system, l, k, band);
    }
    for (int l = 0; l < COARSE_LEVELS; l++) {
        band_rows(system, l, band, &begin, &end);
        norm += multiply(&system->coarse.level[l], begin, end);
    }
    for (int k = 0; k < JOINT_LAYERS; k++)
        for (int l = COARSE_LEVELS - 2; l >= 0; l--)
            spread_cells(system, l, k, band);
    system->coarse.norm[band] = norm;
}
WIDE_TASK(apply_band)

double esra_joint_coarse_apply(struct joint_system *system)
{
    double norm = 0;
    esra_context_run(system->context, WIDE(system->context, apply_band), system, system->coarse.bands, NULL);
    for (int band = 0; band < system->coarse.bands; band++)
        norm += system->coarse.norm[band];
    return norm;
}
