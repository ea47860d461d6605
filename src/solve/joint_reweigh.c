/* solve/joint_reweigh.c - freezes the weights of the joint objective at the present layers: F, the residual of the
 * normal equations and the diagonal that preconditions them. All is scaled by c, the number of channels. */
#include <math.h>

#include "base/maths.h"
#include "base/wide.h"
#include "solve/joint_apply.h"

/* Without layers to look at, the edges' weight is that of a usual gradient. */
#define COLD_EDGE 0.02

struct reweigh {
    struct joint_system *system;
    bool cold;
};

/* eta from the squares of one difference, and its share of F. */
static float edge_weight(const struct joint_system *system, colours difference, double *value)
{
    float e = (float)system->edge_scale;
    float root = sqrtf(colours_sum(difference * difference) / (float)system->level->channels + e * e);
    *value += root - e;
    return 1 / root;
}

static uint8_t dark_bits(colours v)
{
    return (uint8_t)((v[0] < 0) | (v[1] < 0) << 1 | (v[2] < 0) << 2 | (v[3] < 0) << 3);
}

static double dark_value(colours v)
{
    double sum = 0;
    for (int c = 0; c < COLOURS; c++)
        sum += v[c] < 0 ? (double)v[c] * v[c] : 0;
    return sum;
}

/* Row y of layer k: edges, dark pixels, and their part of F. */
static double prior_row(struct joint_system *system, int k, int y)
{
    int width = system->level->width[k], height = system->level->height[k];
    size_t start = (size_t)y * width;
    const colours *row = system->level->layer[k] + start;
    float *down = system->edge[k][0] + start, *right = system->edge[k][1] + start;
    uint8_t *dark = system->dark[k] + start;
    float lambda = (float)system->lambda[k];
    double edges = 0, below = 0, squares = 0;
    for (int x = 0; x < width; x++) {
        down[x] = y < height - 1 ? lambda * edge_weight(system, row[x + width] - row[x], &edges) : 0;
        right[x] = x < width - 1 ? lambda * edge_weight(system, row[x + 1] - row[x], &edges) : 0;
        dark[x] = dark_bits(row[x]);
        if (dark[x])
            below += dark_value(row[x]);
        if (system->ridge[k] > 0)
            squares += (double)colours_sum(row[x] * row[x]);
    }
    double quadratic = system->negative * below + system->ridge[k] * squares;
    return system->lambda[k] * edges + quadratic / (2 * system->level->channels);
}

static void cold_row(struct joint_system *system, int k, int y)
{
    int width = system->level->width[k];
    float weight = (float)(system->lambda[k] / COLD_EDGE);
    for (size_t n = (size_t)y * width; n < (size_t)(y + 1) * width; n++) {
        system->edge[k][0][n] = system->edge[k][1][n] = weight;
        system->dark[k][n] = 0;
    }
}

/* Row y of |D T - E|: adds lambda_E eta_E to T's edges and leaves lambda_E eta_E E where the steps of conjugate
 * gradients keep their vectors later, down in `direction` and right in `image`. */
static double expected_row(struct joint_system *system, int y, bool cold)
{
    const struct joint_level *level = system->level;
    int width = level->width[TRANSMITTED], height = level->height[TRANSMITTED];
    size_t start = (size_t)y * width;
    const colours *row = level->layer[TRANSMITTED] + start;
    colours *flux[2] = {system->direction[TRANSMITTED] + start, system->image[TRANSMITTED] + start};
    float lambda = (float)system->lambda_expected;
    double edges = 0;
    for (int direction = 0; direction < 2; direction++) {
        const colours *expected = level->expected[direction] + start;
        float *edge = system->edge[TRANSMITTED][direction] + start;
        int next = direction ? 1 : width;
        for (int x = 0; x < width; x++) {
            flux[direction][x] = (colours){0};
            if (direction ? x == width - 1 : y == height - 1)
                continue;
            float eta = edge_weight(system, row[x + next] - row[x] - expected[x], &edges);
            float weight = lambda * (cold ? (float)(1 / COLD_EDGE) : eta);
            edge[x] += weight;
            flux[direction][x] = weight * expected[x];
        }
    }
    return cold ? 0 : system->lambda_expected * edges;
}

/* Adds row y of D' lambda_E eta_E E. */
static void pull_row(const struct joint_system *system, int y, colours *r)
{
    int width = system->level->width[TRANSMITTED];
    const colours *down = system->direction[TRANSMITTED] + (size_t)y * width;
    const colours *right = system->image[TRANSMITTED] + (size_t)y * width;
    for (int x = 0; x < width; x++)
        r[x] -= down[x] + right[x];
    for (int x = 1; x < width; x++)
        r[x] += right[x - 1];
    for (int x = 0; y > 0 && x < width; x++)
        r[x] += down[x - width];
}

static void prior_rows(void *work, int task, int worker)
{
    const struct reweigh *reweigh = work;
    struct joint_system *system = reweigh->system;
    int blocks = system->level->blocks, k = task / blocks, begin, end;
    double sum = 0;
    (void)worker;
    joint_block(system->level, k, task % blocks, &begin, &end);
    for (int y = begin; y < end; y++) {
        if (reweigh->cold)
            cold_row(system, k, y);
        else
            sum += prior_row(system, k, y);
        if (k == TRANSMITTED && system->level->expected[0])
            sum += expected_row(system, y, reweigh->cold);
    }
    system->partial[task][0] = sum;
}
WIDE_TASK(prior_rows)

/* log of a product of many factors >= 1: one logarithm for as many as the double's range holds. */
struct long_product {
    double product, logarithm;
};

static void multiply(struct long_product *p, double factor)
{
    p->product *= factor;
    if (p->product > 1e100) {
        p->logarithm += esra_log(p->product);
        p->product = 1;
    }
}

/* Shares of struct joint_value in one block. */
struct share {
    double data, seen, square, trusted;
};

/* Photo i in one row: omega_i, its part of F, and its part of the residual. */
static void weigh_photo(const struct reweigh *reweigh, int i, const struct joint_part *part, int y, struct share *share)
{
    struct joint_system *system = reweigh->system;
    const struct joint_level *level = system->level;
    const struct warp *warp = &level->warp[i];
    int width = level->width[TRANSMITTED];
    float a = (float)system->mixing[i], b = (float)system->reflection_gain[i];
    float per_channel = 1 / (float)level->channels,
          per_scale = 1 / (float)(system->robust_scale * system->robust_scale),
          confidence = (float)system->confidence[i];
    struct long_product product = {1, 0};
    double half_weighted = 0;
    const struct warp_point *points = joint_points(system, i, y, part->worker);
    for (int x = 0; x < width; x++) {
        size_t n = (size_t)y * width + x;
        float w = points[x].index < 0 ? 0 : joint_mask(level, i, n);
        level->weight[i][n] = w;
        if (w == 0)
            continue;
        colours r = joint_photo(level, i, n) - a * level->layer[TRANSMITTED][n];
        if (!joint_alone(system))
            r -= b * warp_sample(warp, level->layer[REFLECTED], points[x]);
        float square = colours_sum(r * r) * per_channel, factor = 1 + square * per_scale;
        if (w == 1)
            multiply(&product, factor);
        else
            half_weighted += w * esra_log((double)factor);
        float omega = reweigh->cold ? w : w / factor;
        float weight = confidence * omega;
        level->weight[i][n] = weight;
        system->residual[TRANSMITTED][n] += a * weight * r;
        if (!joint_alone(system))
            warp_scatter(warp, part->strip, part->offset, points[x], b * weight * r);
        share->seen += w;
        share->square += omega * square;
        share->trusted += omega;
    }
    share->data += system->robust_scale * system->robust_scale / 2 *
                   (system->confidence[i] * (product.logarithm + esra_log(product.product) + half_weighted));
}

static void weigh_frame(void *work, int task, int worker)
{
    const struct reweigh *reweigh = work;
    struct joint_system *system = reweigh->system;
    struct joint_part part = esra_joint_part(system, task, worker, system->residual[REFLECTED]);
    int width = system->level->width[TRANSMITTED];
    struct share share = {0};
    for (int y = part.begin; y < part.end; y++) {
        colours *r = system->residual[TRANSMITTED] + (size_t)y * width;
        esra_joint_smooth_row(system, TRANSMITTED, system->level->layer[TRANSMITTED], y, r);
        for (int x = 0; x < width; x++)
            r[x] = -r[x];
        if (system->level->expected[0])
            pull_row(system, y, r);
        for (int i = 0; i < system->level->photos; i++)
            weigh_photo(reweigh, i, &part, y, &share);
    }
    system->partial[part.block][0] = share.data;
    system->partial[part.block][1] = share.seen;
    system->partial[part.block][2] = share.square;
    system->partial[part.block][3] = share.trusted;
}
WIDE_TASK(weigh_frame)

/* In waves before the frame, else after it. */
static void weigh_canvas(void *work, int task, int worker)
{
    const struct reweigh *reweigh = work;
    struct joint_system *system = reweigh->system;
    int width = system->level->width[REFLECTED], begin, end;
    (void)worker;
    joint_block(system->level, REFLECTED, task, &begin, &end);
    for (int y = begin; y < end; y++) {
        colours *r = system->residual[REFLECTED] + (size_t)y * width;
        esra_joint_smooth_row(system, REFLECTED, system->level->layer[REFLECTED], y, r);
        for (int x = 0; x < width; x++)
            r[x] = -r[x];
        esra_joint_gather_row(system, y, r);
    }
    for (int which = 0; which < 4; which++)
        system->partial[system->level->blocks + task][which] = 0;
}
WIDE_TASK(weigh_canvas)

struct joint_value esra_joint_reweigh(struct joint_system *system, bool cold)
{
    struct reweigh reweigh = {system, cold};
    struct joint_value value = {0};
    esra_joint_run(system, WIDE(system->context, prior_rows), &reweigh, system->layers);
    for (int k = 0; k < system->layers; k++)
        value.prior[k] = esra_joint_layer_total(system, k, 0);
    if (system->in_waves && !joint_alone(system))
        esra_joint_run(system, WIDE(system->context, weigh_canvas), &reweigh, 1);
    esra_joint_run_frame(system, WIDE(system->context, weigh_frame), &reweigh);
    if (!system->in_waves && !joint_alone(system))
        esra_joint_run(system, WIDE(system->context, weigh_canvas), &reweigh, 1);
    value.data = esra_joint_total(system, 0);
    value.seen = esra_joint_total(system, 1);
    value.square = esra_joint_total(system, 2);
    value.trusted = esra_joint_total(system, 3);
    value.objective = value.data + value.prior[TRANSMITTED] + value.prior[REFLECTED];
    return value;
}
