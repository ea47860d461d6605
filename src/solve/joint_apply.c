/* solve/joint_apply.c - the frozen quadratic's operator
 *
 *     A (p_T, p_R) = (sum_i a_i u_i + N_T p_T,  sum_i b_i S_i'u_i + N_R p_R),     u_i = omega_i (a_i p_T + b_i S_i p_R)
 *     N_l = lambda_l D' eta_l D + nu delta_l + rho_l
 *
 * in two sweeps: over the frame, where u_i is made and scattered, and over the canvas, where the strips meet. In waves
 * u_i is scattered onto N_R p_R, which a sweep before them has made. */
#include "solve/joint_apply.h"

#include <string.h>

#include "base/wide.h"

/* Where no photo sees a pixel and its edges are weak, A must still be invertible: five orders below one photo. */
#define RIDGE 1e-6f

static const colours dark_colours[16] = {
    {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {1, 0, 1, 0}, {0, 1, 1, 0}, {1, 1, 1, 0},
    {0, 0, 0, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 1, 1}, {0, 1, 1, 1}, {1, 1, 1, 1},
};

void esra_joint_run(struct joint_system *system, pool_task *run, void *work, int layers)
{
    if (system->level->blocks > 1)
        esra_context_run(system->context, run, work, layers * system->level->blocks, NULL);
    else
        for (int layer = 0; layer < layers; layer++)
            run(work, layer, 0);
}

void esra_joint_run_frame(struct joint_system *system, pool_task *run, void *work)
{
    system->first = 0;
    if (joint_alone(system) || system->waves == 1) {
        esra_joint_run(system, run, work, 1);
        return;
    }
    for (int wave = 0; wave < system->waves; wave++) {
        esra_context_run(system->context, run, work, system->wave_end[wave] - system->first, NULL);
        system->first = system->wave_end[wave];
    }
}

/* One pass over the row, the flux between two pixels made once. Past the last row and before the first the neighbour is
 * the pixel itself, and nothing flows. */
void esra_joint_smooth_row(const struct joint_system *system, int k, const colours *v, int y, colours *out)
{
    int width = system->level->width[k], height = system->level->height[k];
    size_t start = (size_t)y * width;
    ptrdiff_t above = y > 0 ? width : 0, below = y < height - 1 ? width : 0;
    const colours *row = v + start;
    const float *down = system->edge[k][0] + start, *right = system->edge[k][1] + start;
    const uint8_t *dark = system->dark[k] + start;
    float nu = (float)system->negative, rho = RIDGE + (float)system->ridge[k];
    colours from_left = {0};
    for (int x = 0; x < width; x++) {
        colours here = row[x], to_right = {0}, sum = (rho + nu * dark_colours[dark[x]]) * here + from_left;
        if (x < width - 1)
            to_right = right[x] * (row[x + 1] - here);
        sum -= to_right;
        sum -= down[x] * (row[x + below] - here);
        out[x] = sum + down[x - above] * (here - row[x - above]);
        from_left = to_right;
    }
}

void esra_joint_gather_row(const struct joint_system *system, int y, colours *sum)
{
    int width = system->level->width[REFLECTED];
    for (int block = 0; !system->in_waves && block < system->level->blocks; block++) {
        if (y < system->strip_low[block] || y >= system->strip_high[block])
            continue;
        const colours *row = system->strip[block] + (size_t)(y - system->strip_low[block]) * width;
        for (int x = 0; x < width; x++)
            sum[x] += row[x];
    }
}

struct joint_part esra_joint_part(struct joint_system *system, int task, int worker, colours *canvas)
{
    struct joint_part part = {.block = system->order[system->first + task], .worker = worker};
    size_t rows = (size_t)(system->strip_high[part.block] - system->strip_low[part.block]),
           width = (size_t)system->level->width[REFLECTED];
    joint_block(system->level, TRANSMITTED, part.block, &part.begin, &part.end);
    part.offset = (ptrdiff_t)(width * (size_t)system->strip_low[part.block]);
    if (joint_alone(system))
        return part;
    part.strip = system->in_waves ? canvas + part.offset : system->strip[part.block];
    if (!system->in_waves)
        memset(part.strip, 0, rows * width * sizeof(colours));
    return part;
}

/* Photo i's part of one row of the frame. */
static void apply_photo(struct joint_system *system, int i, const struct joint_part *part, int y)
{
    const struct joint_level *level = system->level;
    const struct warp *warp = &level->warp[i];
    size_t start = (size_t)y * level->width[TRANSMITTED];
    system->kernels.photo(&(struct photo_row){
        .width = level->width[TRANSMITTED],
        .a = (float)system->mixing[i],
        .b = (float)system->reflection_gain[i],
        .weight = level->weight[i] + start,
        .points = joint_points(system, i, y, part->worker),
        .right = warp->right,
        .down = warp->down,
        .p = (const float *)(system->direction[TRANSMITTED] + start),
        .q = (float *)(system->image[TRANSMITTED] + start),
        .offset = part->offset,
        .canvas = (const float *)(system->direction[REFLECTED] + part->offset),
        .strip = (float *)part->strip,
    });
}

/* The same where R is zero. */
static void apply_alone(struct joint_system *system, int i, int y)
{
    const struct joint_level *level = system->level;
    int width = level->width[TRANSMITTED];
    size_t start = (size_t)y * width;
    float square = (float)(system->mixing[i] * system->mixing[i]);
    const float *weight = level->weight[i] + start;
    const colours *p = system->direction[TRANSMITTED] + start;
    colours *q = system->image[TRANSMITTED] + start;
    for (int x = 0; x < width; x++)
        q[x] += (square * weight[x]) * p[x];
}

static double dot_row(const colours *p, const colours *q, int width)
{
    colours sum = {0};
    for (int x = 0; x < width; x++)
        sum += p[x] * q[x];
    return colours_sum(sum);
}

static void apply_frame(void *work, int task, int worker)
{
    struct joint_system *system = work;
    struct joint_part part = esra_joint_part(system, task, worker, system->image[REFLECTED]);
    int width = system->level->width[TRANSMITTED];
    double sum = 0;
    for (int y = part.begin; y < part.end; y++) {
        size_t start = (size_t)y * width;
        colours *q = system->image[TRANSMITTED] + start;
        esra_joint_smooth_row(system, TRANSMITTED, system->direction[TRANSMITTED], y, q);
        for (int i = 0; i < system->level->photos; i++)
            if (system->confidence[i] > 0 && joint_alone(system))
                apply_alone(system, i, y);
            else if (system->confidence[i] > 0)
                apply_photo(system, i, &part, y);
        sum += dot_row(system->direction[TRANSMITTED] + start, q, width);
    }
    system->partial[part.block][0] = sum;
}
WIDE_TASK(apply_frame)

static void begin_canvas(void *work, int task, int worker)
{
    struct joint_system *system = work;
    int begin, end;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    for (int y = begin; y < end; y++)
        esra_joint_smooth_row(system, REFLECTED, system->direction[REFLECTED], y,
                              system->image[REFLECTED] + (size_t)y * system->level->width[REFLECTED]);
}
WIDE_TASK(begin_canvas)

static void apply_canvas(void *work, int task, int worker)
{
    struct joint_system *system = work;
    int width = system->level->width[REFLECTED], begin, end;
    double sum = 0;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    for (int y = begin; y < end; y++) {
        size_t start = (size_t)y * width;
        colours *q = system->image[REFLECTED] + start;
        if (!system->in_waves)
            esra_joint_smooth_row(system, REFLECTED, system->direction[REFLECTED], y, q);
        esra_joint_gather_row(system, y, q);
        sum += dot_row(system->direction[REFLECTED] + start, q, width);
    }
    system->partial[system->level->blocks + task][0] = sum;
}
WIDE_TASK(apply_canvas)

void esra_joint_apply(struct joint_system *system)
{
    if (system->in_waves && !joint_alone(system))
        esra_joint_run(system, WIDE(system->context, begin_canvas), system, 1);
    esra_joint_run_frame(system, WIDE(system->context, apply_frame), system);
    if (!joint_alone(system))
        esra_joint_run(system, WIDE(system->context, apply_canvas), system, 1);
}

double esra_joint_layer_total(const struct joint_system *system, int k, int which)
{
    int blocks = system->level->blocks;
    double sum = 0;
    for (int block = k * blocks; block < (k + 1) * blocks; block++)
        sum += system->partial[block][which];
    return sum;
}

double esra_joint_total(const struct joint_system *system, int which)
{
    double sum = 0;
    for (int k = 0; k < system->layers; k++)
        sum += esra_joint_layer_total(system, k, which);
    return sum;
}
