/* align/consensus.c - the motions that many matches agree on: RANSAC with local optimisation (Chum, Matas & Kittler
 * 2003), one motion after the other.
 *
 * Between handheld photos a homography is close to a similarity, which two matches determine; four would be needed for
 * the homography itself, and with one match in ten belonging to the fainter layer two random ones agree a hundred times
 * as often as four. So two matches give a rough similarity with a wide tolerance, and its inliers give the affine map
 * and the homography with narrowing ones. */
#include "align/consensus.h"

#include <math.h>

#include "align/thresholds.h"
#include "base/linear.h"
#include "base/random.h"

/* At 3 % inliers a sample of two is good once in 1100: 3000 samples miss one time in 15, and such a layer does not
 * matter. */
#define SAMPLES 3000

struct search {
    const struct match *matches;
    int count, width, height;
    double limit_px;
    uint64_t random;
};

static bool agrees(const struct match *m, const struct transform *t, double tolerance_px)
{
    double u, v, reach = tolerance_px * m->spread;
    if (!transform_apply(t, m->x, m->y, &u, &v))
        return false;
    return (u - m->u) * (u - m->u) + (v - m->v) * (v - m->v) < reach * reach;
}

static int count_inliers(const struct search *s, const struct transform *t, double tolerance_px)
{
    int inliers = 0;
    for (int n = 0; n < s->count; n++)
        inliers += agrees(&s->matches[n], t, tolerance_px);
    return inliers;
}

/* The similarity u + iv = a (x + iy) + b through two matches, in complex numbers; false where they are one. */
static bool similarity_of(const struct match *p, const struct match *q, struct transform *t)
{
    double dx = q->x - p->x, dy = q->y - p->y, du = q->u - p->u, dv = q->v - p->v, length2 = dx * dx + dy * dy;
    if (!(length2 > 0))
        return false;
    double real = (du * dx + dv * dy) / length2, imaginary = (dv * dx - du * dy) / length2;
    *t = (struct transform){{real, -imaginary, p->u - real * p->x + imaginary * p->y, imaginary, real,
                             p->v - imaginary * p->x - real * p->y, 0, 0, 1}};
    return true;
}

static bool sample(struct search *s, enum motion motion, struct transform *t)
{
    const struct match *p = &s->matches[random_below(&s->random, s->count)];
    const struct match *q = &s->matches[random_below(&s->random, s->count)];
    *t = esra_transform_shift(p->u - p->x, p->v - p->y);
    if (motion > MOTION_TRANSLATION && !similarity_of(p, q, t))
        return false;
    return esra_transform_plausible(t, s->width, s->height, s->limit_px);
}

/* Least squares over the inliers of *t, weighted by 1/spread^2, of the linear equations
 *     d u = (1 + p2) X + p3 Y + p0,  d v = p4 X + (1 + p5) Y + p1,  d = 1 + p6 X + p7 Y
 * in coordinates centred and scaled by half the width. */
static bool fit(const struct search *s, enum motion motion, double tolerance_px, struct transform *t)
{
    double cx = .5 * s->width, cy = .5 * s->height, scale = .5 * s->width, p[NORMAL_PARAMETERS] = {0};
    double matrix[NORMAL_PARAMETERS * NORMAL_PARAMETERS] = {0};
    int inliers = 0;
    for (int n = 0; n < s->count; n++) {
        const struct match *m = &s->matches[n];
        if (!agrees(m, t, tolerance_px))
            continue;
        double x = (m->x - cx) / scale, y = (m->y - cy) / scale, u = (m->u - cx) / scale, v = (m->v - cy) / scale;
        double first[NORMAL_PARAMETERS] = {1, 0, x, y, 0, 0, -x * u, -y * u};
        double second[NORMAL_PARAMETERS] = {0, 1, 0, 0, x, y, -x * v, -y * v}, w = 1 / (m->spread * m->spread);
        for (int a = 0; a < (int)motion; a++) {
            for (int b = 0; b < (int)motion; b++)
                matrix[a * motion + b] += w * (first[a] * first[b] + second[a] * second[b]);
            p[a] += w * (first[a] * (u - x) + second[a] * (v - y));
        }
        inliers++;
    }
    if (inliers < (int)motion / 2 + 1 || !esra_linear_solve(matrix, p, motion))
        return false;
    *t = esra_normal_step(p, cx, cy, scale);
    return esra_transform_plausible(t, s->width, s->height, s->limit_px);
}

static enum motion at_most(enum motion a, enum motion b)
{
    return a < b ? a : b;
}

/* Local optimisation: affine first, then the whole motion, with tolerances narrowing to the exact one; keeps *t where a
 * fit fails. Returns the number of inliers. */
static int optimise(const struct search *s, enum motion motion, struct transform *t)
{
    const double rough = align_thresholds.consensus_rough_px, exact = align_thresholds.consensus_exact_px;
    const double tolerance[] = {rough, .9 * rough, 2 * exact, 4 * exact / 3, exact, exact};
    for (int k = 0; k < 6; k++) {
        struct transform better = *t;
        if (fit(s, at_most(motion, k < 2 ? MOTION_AFFINE : MOTION_HOMOGRAPHY), tolerance[k], &better))
            *t = better;
    }
    return count_inliers(s, t, exact);
}

/* The motion with most inliers over SAMPLES samples; each sample with more rough inliers than any before is optimised.
 */
static bool find_one(struct search *s, enum motion motion, struct transform *best)
{
    int rough = 0, exact = 0;
    for (int k = 0; k < SAMPLES && s->count >= align_thresholds.consensus_support; k++) {
        struct transform t;
        if (!sample(s, motion, &t))
            continue;
        int inliers = count_inliers(s, &t, align_thresholds.consensus_rough_px);
        if (inliers <= rough)
            continue;
        rough = inliers;
        inliers = optimise(s, motion, &t);
        if (inliers > exact) {
            exact = inliers;
            *best = t;
        }
    }
    return exact >= align_thresholds.consensus_support;
}

int esra_consensus(struct matches *matches, const struct consensus_options *options, struct transform *found)
{
    struct search s = {matches->data, matches->count, options->width, options->height, options->limit_px, 1};
    int count = 0;
    while (count < options->most && find_one(&s, options->motion, &found[count])) {
        int left = 0;
        for (int n = 0; n < s.count; n++)
            if (!agrees(&matches->data[n], &found[count], 2 * align_thresholds.consensus_exact_px))
                matches->data[left++] = matches->data[n];
        matches->count = s.count = left;
        count++;
    }
    return count;
}
