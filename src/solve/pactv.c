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
 * Iterations overlap, each one row behind the one before it: row y of L needs rows y-1 and y of z~, and the dual step
 * of row y-1 needs row y of L. So several run in one pass over memory, in place and with the bits they would have one
 * by one.
 *
 * It ends when L has changed by no more than `tolerance` relative to its norm in every one of the last k/4 iterations,
 * ten at the least. One small step is not enough: momentum makes the iterates swing, with a period that grows with k,
 * and at a turning point they seem to rest. */
#include "solve/pactv.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/diff.h"

/* Steps in a row that must be small. With a tenth step instead of one the error left at a tolerance of 1e-7 fell
 * threefold on small problems, with a quarter of all of them tenfold. */
#define CALM_LEAST 10
#define CALM_SHARE 4

/* Iterations that overlap at most: their rows stay in the second cache. */
#define OVERLAP 10

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

/* One of the iterations under way. */
struct iteration {
    float momentum; /* of the extrapolation after it */
    double moved[KERNEL_GROUP],
        norm[KERNEL_GROUP]; /* squared change and squared norm of L, by column modulo the group */
};

static double total(const double parts[KERNEL_GROUP])
{
    double sum = 0;
    for (int k = 0; k < KERNEL_GROUP; k++)
        sum += parts[k];
    return sum;
}

static struct pactv_row row_at(const struct pactv *prox, const struct iteration *it, int y)
{
    return (struct pactv_row){
        .d = plane_row(prox->d, y),
        .e_vertical = plane_row(prox->e_vertical, y),
        .e_horizontal = plane_row(prox->e_horizontal, y),
        .p_tilde_above = y > 0 ? plane_row(prox->p_tilde, y - 1) : prox->zeros,
        .p_tilde = plane_row(prox->p_tilde, y),
        .q_tilde = plane_row(prox->q_tilde, y),
        .p = plane_row(prox->p, y),
        .q = plane_row(prox->q, y),
        .layer = plane_row(prox->layer, y),
        .layer_below = y < prox->d.height - 1 ? plane_row(prox->layer, y + 1) : NULL,
        .beta = prox->beta,
        .step = 1 / (DIFF_NORM_SQUARED * prox->beta),
        .momentum = it->momentum,
    };
}

/* Sums go in float over the columns of a row that share a lane, then in double. */
static void recover_row(const struct pactv *prox, struct iteration *it, int y)
{
    struct pactv_row row = row_at(prox, it, y);
    prox->kernels->pactv_layer(&row, kernel_columns(prox->d.width));
    for (int k = 0; k < KERNEL_GROUP; k++) {
        it->moved[k] += (double)row.moved[k];
        it->norm[k] += (double)row.norm[k];
    }
}

/* Past the last column there is no difference. */
static void dual_row(const struct pactv *prox, const struct iteration *it, int y)
{
    struct pactv_row row = row_at(prox, it, y);
    prox->kernels->pactv_dual(&row, kernel_columns(prox->d.width));
    row.q[prox->d.width - 1] = row.q_tilde[prox->d.width - 1] = 0;
}

/* Row y of L, and the dual step of the row above; past the end, that of the last row. */
static void advance(const struct pactv *prox, struct iteration *it, int y)
{
    if (y >= 0 && y < prox->d.height)
        recover_row(prox, it, y);
    if (y >= 1 && y <= prox->d.height)
        dual_row(prox, it, y - 1);
}

static void iterate(const struct pactv *prox, struct iteration *its, int count)
{
    for (int front = 0; front < prox->d.height + count; front++)
        for (int n = 0; n < count; n++)
            advance(prox, &its[n], front - n);
}

/* t_{k+1} from t_k; returns the momentum of the extrapolation after iteration k. */
static float next_momentum(double *t)
{
    double next = (1 + sqrt(1 + 4 * *t * *t)) / 2;
    float momentum = (float)((*t - 1) / next);
    *t = next;
    return momentum;
}

/* z~ = z: the next iteration begins without momentum. */
static void drop_momentum(const struct pactv *prox)
{
    copy(prox->p_tilde, prox->p);
    copy(prox->q_tilde, prox->q);
}

static void start(const struct pactv *prox)
{
    if (!prox->warm_start) {
        clear(prox->p);
        clear(prox->q);
    }
    drop_momentum(prox);
}

/* L from z itself. */
static void finish(const struct pactv *prox)
{
    struct iteration last = {0};
    drop_momentum(prox);
    for (int y = 0; y < prox->d.height; y++)
        recover_row(prox, &last, y);
}

static bool at_rest(int k, int calm)
{
    return calm >= CALM_LEAST && calm >= k / CALM_SHARE;
}

/* Iterations that can be begun together without running past the end: the fewest after which PACTV may be at rest,
 * since after n calm ones more it is where calm + n >= (k + n)/CALM_SHARE. */
static int overlap(int k, int calm, int left)
{
    int first = CALM_LEAST - calm, second = (k - CALM_SHARE * calm) / (CALM_SHARE - 1);
    int soonest = first > second ? first : second;
    soonest = soonest < 1 ? 1 : soonest > OVERLAP ? OVERLAP : soonest;
    return soonest < left ? soonest : left;
}

/* <D L - E, z~ - z> over one row, z~ - z being what momentum adds to the last step. */
static double row_alignment(const struct pactv *prox, int y)
{
    struct iteration last = {0};
    struct pactv_row row = row_at(prox, &last, y);
    double sum = 0;
    for (int x = 0; row.layer_below && x < prox->d.width; x++)
        sum += (double)((row.layer_below[x] - row.layer[x] - row.e_vertical[x]) * (row.p_tilde[x] - row.p[x]));
    for (int x = 0; x < prox->d.width - 1; x++)
        sum += (double)((row.layer[x + 1] - row.layer[x] - row.e_horizontal[x]) * (row.q_tilde[x] - row.q[x]));
    return sum;
}

/* Whether the last step went uphill: -beta (D L - E) is H's gradient where it began (O'Donoghue & Candes 2015). */
static bool overshot(const struct pactv *prox)
{
    double sum = 0;
    for (int y = 0; y < prox->d.height; y++)
        sum += row_alignment(prox, y);
    return sum < 0;
}

int esra_pactv_solve(struct pactv *prox)
{
    int k = 0, calm = 0;
    double t = 1;
    start(prox);
    /* beta = 0, or so small that 1/beta is no number: no gradient term, and the dual is idle. */
    while (prox->beta >= FLT_MIN && k < prox->max_iterations && !at_rest(k, calm)) {
        struct iteration its[OVERLAP];
        int count = overlap(k, calm, prox->max_iterations - k);
        for (int n = 0; n < count; n++)
            its[n] = (struct iteration){.momentum = next_momentum(&t)};
        iterate(prox, its, count);
        for (int n = 0; n < count; n++, k++) {
            bool settled = sqrt(total(its[n].moved)) <= prox->tolerance * sqrt(total(its[n].norm));
            /* Before the first iteration the layer holds values of another problem: its change means nothing. */
            calm = k > 0 && settled ? calm + 1 : 0;
        }
        if (prox->interrupted && prox->interrupted(prox->context))
            break;
        if (prox->restart && overshot(prox)) {
            drop_momentum(prox);
            t = 1;
        }
    }
    finish(prox);
    return k;
}
