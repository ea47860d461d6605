/* solve/pactv.c - the proximal step of ESRA, one layer at a time: box-constrained total variation around an extracted
 * gradient field, by fast gradient projection on its dual (Beck & Teboulle 2009; paper, section 2, algorithm 2).
 *
 * The dual is: minimise over |p|,|q| <= 1
 *
 *     H(p,q) = 1/2 (|v|^2 - |v - P(v)|^2) + beta <(p,q), E>,   v = d - beta D'(p,q),  P = clip to [0,1],
 *     grad H = -beta D P(v) + beta E,   Lipschitz constant at most 8 beta^2,
 *
 * and its solution gives the layer L = P(v). One iteration, with z~ the extrapolated dual:
 *
 *     z_k = clip(z~ + (D L - E)/(8 beta), -1, 1),   L = P(d - beta D' z~)
 *     z~  = z_k + (t_k - 1)/t_{k+1} (z_k - z_{k-1}),   t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2
 *
 * It ends when L has changed by no more than `tolerance` relative to its norm in every one of the last k/4 iterations,
 * ten at the least. One small step is not enough: momentum makes the iterates swing, with a period that grows with k,
 * and at a turning point they seem to rest. */
#include "solve/pactv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/diff.h"

#define LANES 8

#define MIN_CALM 10
#define CALM_SHARE 4

static float clip(float x, float lowest, float highest)
{
    x = x < lowest ? lowest : x;
    return x > highest ? highest : x;
}

static void clear(struct plane plane)
{
    for (int y = 0; y < plane.height; y++)
        memset(plane_row(plane, y), 0, (size_t)plane.width * sizeof(float));
}

static void copy(struct plane to, struct plane from)
{
    for (int y = 0; y < to.height; y++)
        memcpy(plane_row(to, y), plane_row(from, y), (size_t)to.width * sizeof(float));
}

/* prox->row = P(d - beta D'(p,q)) in row y. */
static void recover_row(const struct pactv *prox, struct plane p, struct plane q, int y)
{
    int width = prox->d.width, height = prox->d.height;
    float *restrict row = prox->row;
    const float *d = plane_row(prox->d, y);
    esra_diff_adjoint_row(y > 0 ? plane_row(p, y - 1) : NULL, y < height - 1 ? plane_row(p, y) : NULL, plane_row(q, y),
                          row, width);
    for (int x = 0; x < width; x++)
        row[x] = clip(d[x] - prox->beta * row[x], 0, 1);
}

/* Squared change and squared norm, in double, over lanes that are added in a fixed order. */
struct change {
    double moved[LANES], norm[LANES];
};

static void store_row(struct change *change, const float *restrict row, float *restrict layer, int width)
{
    for (int x = 0; x < width; x += LANES) {
        int lanes = width - x < LANES ? width - x : LANES;
        for (int k = 0; k < lanes; k++) {
            double now = row[x + k], step = now - layer[x + k];
            change->moved[k] += step * step;
            change->norm[k] += now * now;
        }
    }
    memcpy(layer, row, (size_t)width * sizeof *layer);
}

static bool settled(const struct change *change, double tolerance)
{
    double moved = 0, norm = 0;
    for (int k = 0; k < LANES; k++) {
        moved += change->moved[k];
        norm += change->norm[k];
    }
    return sqrt(moved) <= tolerance * sqrt(norm);
}

/* The dual step of n differences from `here` to `there`. */
static void step_row(float *restrict z, float *restrict zt, const float *here, const float *there, const float *extracted,
                     float step, float momentum, int n)
{
    for (int x = 0; x < n; x++) {
        float next = clip(zt[x] + step * (there[x] - here[x] - extracted[x]), -1, 1);
        zt[x] = next + momentum * (next - z[x]);
        z[x] = next;
    }
}

static void dual_row(const struct pactv *prox, int y, float momentum)
{
    float step = 1 / (DIFF_NORM_SQUARED * prox->beta);
    const float *row = plane_row(prox->layer, y);
    int width = prox->d.width;
    if (y < prox->d.height - 1)
        step_row(plane_row(prox->p, y), plane_row(prox->pt, y), row, plane_row(prox->layer, y + 1),
                 plane_row(prox->e_vertical, y), step, momentum, width);
    step_row(plane_row(prox->q, y), plane_row(prox->qt, y), row, row + 1, plane_row(prox->e_horizontal, y), step, momentum,
             width - 1);
}

/* One iteration in one sweep: row y of L needs row y-1 of p~ as it was, and the dual step of row y-1 needs row y of L,
 * so the dual follows one row behind. */
static struct change iterate(const struct pactv *prox, float momentum)
{
    struct change change = {{0}, {0}};
    for (int y = 0; y < prox->d.height; y++) {
        recover_row(prox, prox->pt, prox->qt, y);
        store_row(&change, prox->row, plane_row(prox->layer, y), prox->d.width);
        if (y > 0)
            dual_row(prox, y - 1, momentum);
    }
    dual_row(prox, prox->d.height - 1, momentum);
    return change;
}

static void recover(const struct pactv *prox)
{
    for (int y = 0; y < prox->d.height; y++) {
        recover_row(prox, prox->p, prox->q, y);
        memcpy(plane_row(prox->layer, y), prox->row, (size_t)prox->d.width * sizeof(float));
    }
}

int esra_pactv_solve(struct pactv *prox)
{
    int k = 0, calm = 0;
    if (!prox->warm_start) {
        clear(prox->p);
        clear(prox->q);
    }
    copy(prox->pt, prox->p);
    copy(prox->qt, prox->q);
    /* beta = 0, or so small that 1/beta is no number: no gradient term, and the dual is idle. */
    for (double t = 1; prox->beta >= FLT_MIN && k < prox->max_iterations;) {
        double t_next = (1 + sqrt(1 + 4 * t * t)) / 2;
        struct change change = iterate(prox, (float)((t - 1) / t_next));
        t = t_next;
        k++;
        /* What stood in the layer before the first iteration is left over from another problem. */
        calm = k > 1 && settled(&change, prox->tolerance) ? calm + 1 : 0;
        if ((calm >= MIN_CALM && calm >= k / CALM_SHARE) || (prox->interrupted && prox->interrupted(prox->context)))
            break;
    }
    recover(prox);
    return k;
}
