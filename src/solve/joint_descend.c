/* solve/joint_descend.c - preconditioned conjugate gradients on the frozen quadratic of the joint objective. */
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

/* Adds the squares of the four weights of S_i at pixel n times `value`, in the first colour. */
static void scatter_squares(const struct warp *warp, colours *strip, ptrdiff_t offset, size_t n, float value)
{
    struct warp_point point = warp->points[n];
    float fx = point.fx * WARP_FRACTION, fy = point.fy * WARP_FRACTION;
    float left = (1 - fx) * (1 - fx), right = fx * fx, upper = (1 - fy) * (1 - fy) * value, lower = fy * fy * value;
    colours *at = strip + (point.index - offset);
    at[0][0] += left * upper;
    at[warp->right][0] += right * upper;
    at[warp->down][0] += left * lower;
    at[warp->down + warp->right][0] += right * lower;
}

static void diagonal_frame(void *work, int task, int worker)
{
    struct joint_system *system = work;
    const struct joint_level *level = system->level;
    int width = level->width[TRANSMITTED], begin, end;
    ptrdiff_t offset = (ptrdiff_t)system->strip_low[task] * level->width[REFLECTED];
    (void)worker;
    joint_block(level, TRANSMITTED, task, &begin, &end);
    if (!joint_alone(system))
        esra_joint_clear_strip(system, task);
    for (int y = begin; y < end; y++) {
        size_t start = (size_t)y * width;
        float *diagonal = system->jacobi[TRANSMITTED] + start;
        diagonal_row(system, TRANSMITTED, y, diagonal);
        for (int i = 0; i < level->photos; i++) {
            float a = (float)system->mixing[i], b = (float)system->reflection_gain[i];
            const float *weight = level->weight[i] + start;
            for (int x = 0; x < width && system->confidence[i] > 0; x++) {
                diagonal[x] += a * a * weight[x];
                if (weight[x] != 0 && !joint_alone(system))
                    scatter_squares(&level->warp[i], system->strip[task], offset, start + x, b * b * weight[x]);
            }
        }
        for (int x = 0; x < width; x++)
            diagonal[x] = 1 / diagonal[x];
    }
}
WIDE_TASK(diagonal_frame)

static void diagonal_canvas(void *work, int task, int worker)
{
    struct joint_system *system = work;
    int width = system->level->width[REFLECTED], begin, end;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    for (int y = begin; y < end; y++) {
        size_t start = (size_t)y * width;
        float *diagonal = system->jacobi[REFLECTED] + start;
        colours *sum = system->image[REFLECTED] + start;
        for (int x = 0; x < width; x++)
            sum[x] = (colours){0};
        esra_joint_gather_row(system, y, sum);
        diagonal_row(system, REFLECTED, y, diagonal);
        for (int x = 0; x < width; x++)
            diagonal[x] = 1 / (diagonal[x] + sum[x][0]);
    }
}

struct step {
    struct joint_system *system;
    float length; /* of the step, or beta */
};

/* layers += length p, r -= length q; the shares of <r, z>, z = jacobi r. */
static void take_step(void *work, int task, int worker)
{
    const struct step *step = work;
    struct joint_system *system = step->system;
    int blocks = system->level->blocks, k = task / blocks, width = system->level->width[k], begin, end;
    const colours *p = system->direction[k], *q = system->image[k];
    const float *jacobi = system->jacobi[k];
    colours *layer = system->level->layer[k], *r = system->residual[k];
    double sum = 0;
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (int y = begin; y < end; y++) {
        colours row = {0};
        for (size_t n = (size_t)y * width; n < (size_t)(y + 1) * width; n++) {
            layer[n] += step->length * p[n];
            r[n] -= step->length * q[n];
            row += jacobi[n] * (r[n] * r[n]);
        }
        sum += colours_sum(row);
    }
    system->partial[task][0] = sum;
}
WIDE_TASK(take_step)

/* p = z + beta p */
static void turn(void *work, int task, int worker)
{
    const struct step *step = work;
    struct joint_system *system = step->system;
    int blocks = system->level->blocks, k = task / blocks, begin, end;
    size_t width = (size_t)system->level->width[k];
    colours *p = system->direction[k];
    const colours *r = system->residual[k];
    const float *jacobi = system->jacobi[k];
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (size_t n = (size_t)begin * width; n < (size_t)end * width; n++)
        p[n] = jacobi[n] * r[n] + step->length * p[n];
}
WIDE_TASK(turn)

/* p = q = 0: a step along it only measures <r, z>. */
static void clear_direction(void *work, int task, int worker)
{
    struct joint_system *system = work;
    int blocks = system->level->blocks, k = task / blocks, begin, end;
    size_t width = (size_t)system->level->width[k];
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (size_t n = (size_t)begin * width; n < (size_t)end * width; n++)
        system->direction[k][n] = system->image[k][n] = (colours){0};
}

static double walk(struct joint_system *system, double length)
{
    struct step step = {system, (float)length};
    esra_joint_run(system, WIDE(system->context, take_step), &step, system->layers);
    return esra_joint_total(system, 0);
}

int esra_joint_descend(struct joint_system *system, int iterations, double tolerance)
{
    esra_joint_run(system, WIDE(system->context, diagonal_frame), system, 1);
    if (!joint_alone(system))
        esra_joint_run(system, diagonal_canvas, system, 1);
    esra_joint_run(system, clear_direction, system, system->layers);
    double norm = walk(system, 0), first = norm, before = norm;
    int k = 0;
    while (k < iterations && norm > tolerance * tolerance * first && norm > 0 &&
           !esra_context_stopping(system->context)) {
        struct step step = {system, k > 0 ? (float)(norm / before) : 0};
        esra_joint_run(system, WIDE(system->context, turn), &step, system->layers);
        esra_joint_apply(system);
        double curvature = esra_joint_total(system, 0);
        if (!(curvature > 0))
            break;
        before = norm;
        norm = walk(system, before / curvature);
        k++;
    }
    return k;
}
