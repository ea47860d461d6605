/* solve/joint_descend.c - preconditioned conjugate gradients on the frozen quadratic of the joint objective. */
#include <string.h>

#include "base/wide.h"
#include "solve/joint_apply.h"

/* The diagonal of N_l in row y. */
static void diagonal_row(const struct joint_system *system, int k, int y, float *out)
{
    int width = system->level->width[k];
    size_t start = (size_t)y * width;
    const float *down = system->edge[k][0] + start, *right = system->edge[k][1] + start;
    /* Never zero: a pixel without photos and edges keeps this. */
    float rho = 1e-6f + (float)system->ridge[k];
    for (int x = 0; x < width; x++)
        out[x] = rho + down[x] + right[x] + (x > 0 ? right[x - 1] : 0) + (y > 0 ? down[x - width] : 0);
}

/* Adds the squares of the four weights of S_i at a point times `value`, in the first colour, and the weights themselves
 * in the second. */
static void scatter_squares(const struct warp *warp, colours *strip, ptrdiff_t offset, struct warp_point point,
                            float value)
{
    float fx = warp_right(point), fy = warp_down(point);
    float left = 1 - fx, upper = 1 - fy;
    colours *at = strip + (point.index - offset);
    colours across[2] = {{left * left, left}, {fx * fx, fx}};
    colours above = {upper * upper * value, upper * value}, below = {fy * fy * value, fy * value};
    at[0] += across[0] * above;
    at[warp->right] += across[1] * above;
    at[warp->down] += across[0] * below;
    at[warp->down + warp->right] += across[1] * below;
}

/* The share of <r, z>, z = jacobi r, in the pixels from `start` on. */
static double norm_row(const struct joint_system *system, int k, size_t start)
{
    const colours *r = system->residual[k] + start;
    const float *jacobi = system->jacobi[k] + start;
    colours sum = {0};
    for (int x = 0; x < system->level->width[k]; x++)
        sum += jacobi[x] * (r[x] * r[x]);
    return colours_sum(sum);
}

static void diagonal_frame(void *work, int task, int worker)
{
    struct joint_system *system = work;
    const struct joint_level *level = system->level;
    struct joint_part part = esra_joint_part(system, task, worker, system->image[REFLECTED]);
    int width = level->width[TRANSMITTED];
    double norm = 0;
    for (int y = part.begin; y < part.end; y++) {
        size_t start = (size_t)y * width;
        float *diagonal = system->jacobi[TRANSMITTED] + start;
        diagonal_row(system, TRANSMITTED, y, diagonal);
        for (int i = 0; i < level->photos; i++) {
            float a = (float)system->mixing[i], b = (float)system->reflection_gain[i];
            const float *weight = level->weight[i] + start;
            const struct warp_point *points = joint_points(system, i, y, worker);
            for (int x = 0; x < width && system->confidence[i] > 0; x++) {
                diagonal[x] += a * a * weight[x];
                if (weight[x] != 0 && !joint_alone(system))
                    scatter_squares(&level->warp[i], part.strip, part.offset, points[x], b * b * weight[x]);
            }
        }
        for (int x = 0; x < width; x++)
            diagonal[x] = 1 / diagonal[x];
        norm += norm_row(system, TRANSMITTED, start);
    }
    system->partial[part.block][0] = norm;
}
WIDE_TASK(diagonal_frame)

static void clear_canvas(void *work, int task, int worker)
{
    const struct joint_system *system = work;
    size_t width = (size_t)system->level->width[REFLECTED];
    int begin, end;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    memset(system->image[REFLECTED] + begin * width, 0, (size_t)(end - begin) * width * sizeof(colours));
}

static void diagonal_canvas(void *work, int task, int worker)
{
    struct joint_system *system = work;
    int width = system->level->width[REFLECTED], begin, end;
    double norm = 0;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    for (int y = begin; y < end; y++) {
        size_t start = (size_t)y * width;
        float *diagonal = system->jacobi[REFLECTED] + start;
        colours *sum = system->image[REFLECTED] + start;
        if (!system->in_waves)
            memset(sum, 0, (size_t)width * sizeof *sum);
        esra_joint_gather_row(system, y, sum);
        diagonal_row(system, REFLECTED, y, diagonal);
        for (int x = 0; x < width; x++)
            diagonal[x] = 1 / (diagonal[x] + sum[x][0]);
        norm += norm_row(system, REFLECTED, start);
    }
    system->partial[system->level->blocks + task][0] = norm;
}
WIDE_TASK(diagonal_canvas)

struct step {
    struct joint_system *system;
    float length; /* of the step along p */
    float beta;   /* what is kept of p as it turns */
    bool first;   /* there is no p yet */
};

/* r -= length q; the shares of <r, z>. */
static void take_step(void *work, int task, int worker)
{
    const struct step *step = work;
    struct joint_system *system = step->system;
    int blocks = system->level->blocks, k = task / blocks, width = system->level->width[k], begin, end;
    const colours *q = system->image[k];
    const float *jacobi = system->jacobi[k];
    colours *r = system->residual[k];
    double sum = 0;
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (int y = begin; y < end; y++) {
        colours row = {0};
        for (size_t n = (size_t)y * width; n < (size_t)(y + 1) * width; n++) {
            r[n] -= step->length * q[n];
            row += jacobi[n] * (r[n] * r[n]);
        }
        sum += colours_sum(row);
    }
    system->partial[task][0] = sum;
}
WIDE_TASK(take_step)

/* layers += length p, for which a pass of its own would read p once more; p = z + beta p. */
static void turn(void *work, int task, int worker)
{
    const struct step *step = work;
    struct joint_system *system = step->system;
    int blocks = system->level->blocks, k = task / blocks, width = system->level->width[k], begin, end;
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (int y = begin; y < end; y++) {
        size_t start = (size_t)y * (size_t)width;
        colours *p = system->direction[k] + start, *layer = system->level->layer[k] + start;
        const colours *r = system->residual[k] + start;
        const float *jacobi = system->jacobi[k] + start;
        for (int x = 0; step->first && x < width; x++)
            p[x] = jacobi[x] * r[x];
        for (int x = 0; !step->first && x < width; x++) {
            layer[x] += step->length * p[x];
            p[x] = jacobi[x] * r[x] + step->beta * p[x];
        }
        if (system->coarse.wanted)
            joint_coarse_add(&system->coarse, k, y, width, p);
    }
}
WIDE_TASK(turn)

/* layers += length p, where no other direction follows. */
static void end_step(void *work, int task, int worker)
{
    const struct step *step = work;
    const struct joint_system *system = step->system;
    int blocks = system->level->blocks, k = task / blocks, begin, end;
    size_t width = (size_t)system->level->width[k];
    const colours *p = system->direction[k];
    colours *layer = system->level->layer[k];
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (size_t n = (size_t)begin * width; n < (size_t)end * width; n++)
        layer[n] += step->length * p[n];
}
WIDE_TASK(end_step)

/* <r, z>, of which the blocks have the diagonal's part. */
static double norm_of(struct joint_system *system)
{
    return esra_joint_total(system, 0) + (system->coarse.wanted ? esra_joint_coarse_apply(system) : 0);
}

/* The preconditioner, and <r, z> to begin with. */
static double begin_descent(struct joint_system *system)
{
    if (system->in_waves && !joint_alone(system))
        esra_joint_run(system, clear_canvas, system, 1);
    esra_joint_run_frame(system, WIDE(system->context, diagonal_frame), system);
    if (!joint_alone(system))
        esra_joint_run(system, WIDE(system->context, diagonal_canvas), system, 1);
    if (system->coarse.wanted)
        esra_joint_coarse_prepare(system);
    return norm_of(system);
}

int esra_joint_descend(struct joint_system *system, int iterations, double tolerance)
{
    double norm = begin_descent(system), first = norm;
    struct step step = {.system = system, .first = true};
    int k = 0;
    while (k < iterations && norm > tolerance * tolerance * first && norm > 0 &&
           !esra_context_stopping(system->context)) {
        esra_joint_run(system, WIDE(system->context, turn), &step, system->layers);
        step.length = 0;
        esra_joint_apply(system);
        double curvature = esra_joint_total(system, 0), before = norm;
        if (!(curvature > 0))
            break;
        step.length = (float)(norm / curvature);
        esra_joint_run(system, WIDE(system->context, take_step), &step, system->layers);
        norm = norm_of(system);
        step.beta = (float)(norm / before);
        step.first = false;
        k++;
    }
    if (step.length != 0)
        esra_joint_run(system, WIDE(system->context, end_step), &step, system->layers);
    return k;
}
