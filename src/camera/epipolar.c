/* camera/epipolar.c - which tracks agree with one motion of the camera, whatever their depths: a point x of the
 * reference is seen in the photo on its epipolar line F x, with one fundamental matrix F for all. F by eight points
 * (Hartley 1997) and RANSAC with local optimisation (Chum, Matas & Kittler 2003), Sampson's distance, and the truncated
 * cost of MSAC (Torr & Zisserman 2000). Its rank of two is not enforced: only distances from lines are asked for. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/linear.h"
#include "base/maths.h"
#include "base/random.h"
#include "camera/thresholds.h"
#include "camera/tracks.h"

#define SAMPLES 4000
/* RANSAC ends when a sample without outliers has been drawn with this certainty. */
#define MISS .001
/* Inliers: eight determine F; fewer than twice as many agree by chance. */
#define INLIERS_LEAST 16

struct epipolar {
    const struct tracks *tracks;
    int photo;
    double scale; /* px to units in which coordinates lie about -1..1 */
    uint64_t random;
};

/* (x, y, u, v) of a track, centred and scaled. */
static bool pair_of(const struct epipolar *e, int n, double pair[4])
{
    const struct sighting *a = track_at(e->tracks, n, e->tracks->reference), *b = track_at(e->tracks, n, e->photo);
    double cx = .5 * e->tracks->width, cy = .5 * e->tracks->height;
    pair[0] = (a->x - cx) * e->scale;
    pair[1] = (a->y - cy) * e->scale;
    pair[2] = (b->x - cx) * e->scale;
    pair[3] = (b->y - cy) * e->scale;
    return b->seen;
}

/* (u, v, 1) F (x, y, 1)' = row . F */
static void row_of(const double pair[4], double row[9])
{
    double x = pair[0], y = pair[1], u = pair[2], v = pair[3];
    memcpy(row, (double[9]){u * x, u * y, u, v * x, v * y, v, x, y, 1}, 9 * sizeof *row);
}

/* Sampson's distance from the epipolar line, squared, in units: (u'Fx)^2 over the square of its gradient. */
static double distance2(const double f[9], const double pair[4])
{
    double x = pair[0], y = pair[1], u = pair[2], v = pair[3];
    double a = f[0] * x + f[1] * y + f[2], b = f[3] * x + f[4] * y + f[5], c = f[6] * x + f[7] * y + f[8];
    double p = f[0] * u + f[3] * v + f[6], q = f[1] * u + f[4] * v + f[7], all = u * a + v * b + c;
    return all * all / (a * a + b * b + p * p + q * q + 1e-300);
}

/* The sum of squared distances over the squared tolerance, each at most 1; *inliers: how many lie within. */
static double cost_of(const struct epipolar *e, const double f[9], int *inliers)
{
    double limit = camera_thresholds.outlier_px * e->scale, cost = 0, pair[4];
    *inliers = 0;
    for (int n = 0; n < e->tracks->count; n++) {
        if (!pair_of(e, n, pair))
            continue;
        double share = distance2(f, pair) / (limit * limit);
        *inliers += share < 1;
        cost += fmin(share, 1);
    }
    return cost;
}

/* Complete pivoting: brings the largest of the entries that are left of eight rows to (k, k). */
static double pivot(double (*a)[9], int k, int *order)
{
    int row = k, column = k;
    for (int i = k; i < 8; i++)
        for (int j = k; j < 9; j++)
            if (fabs(a[i][j]) > fabs(a[row][column]))
                row = i, column = j;
    for (int j = 0; j < 9; j++) {
        double swap = a[k][j];
        a[k][j] = a[row][j];
        a[row][j] = swap;
    }
    for (int i = 0; i < 8; i++) {
        double swap = a[i][k];
        a[i][k] = a[i][column];
        a[i][column] = swap;
    }
    int swap = order[k];
    order[k] = order[column];
    order[column] = swap;
    return a[k][k];
}

/* f with a f = 0, by Gaussian elimination; false where more than one direction has that to working precision. */
static bool null_vector(double (*a)[9], double f[9])
{
    int order[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    double solved[9];
    for (int k = 0; k < 8; k++) {
        double p = pivot(a, k, order);
        if (!(fabs(p) > 1e-12))
            return false;
        for (int i = k + 1; i < 8; i++)
            for (int j = 8; j >= k; j--)
                a[i][j] -= a[i][k] / p * a[k][j];
    }
    solved[8] = 1;
    for (int k = 7; k >= 0; k--) {
        double sum = 0;
        for (int j = k + 1; j < 9; j++)
            sum += a[k][j] * solved[j];
        solved[k] = -sum / a[k][k];
    }
    for (int k = 0; k < 9; k++)
        f[order[k]] = solved[k];
    return true;
}

/* F through eight random tracks. */
static bool sample(struct epipolar *e, double f[9])
{
    double rows[8][9], pair[4];
    for (int k = 0, tries = 0; k < 8; tries++) {
        if (tries == 200)
            return false;
        if (pair_of(e, random_below(&e->random, e->tracks->count), pair))
            row_of(pair, rows[k++]);
    }
    return null_vector(rows, f);
}

static void scale_to_unit(double f[9])
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += f[k] * f[k];
    for (int k = 0; k < 9; k++)
        f[k] /= sqrt(sum);
}

/* The f of length 1 with least sum (row . f)^2 over the inliers of f: the eigenvector of the least eigenvalue of the
 * normal matrix, by inverse iteration from f. */
static bool refit(const struct epipolar *e, double f[9])
{
    double normal[81] = {0}, limit = camera_thresholds.outlier_px * e->scale, trace = 0, pair[4], row[9];
    for (int n = 0; n < e->tracks->count; n++) {
        if (!pair_of(e, n, pair) || !(distance2(f, pair) < limit * limit))
            continue;
        row_of(pair, row);
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++)
                normal[9 * i + j] += row[i] * row[j];
    }
    for (int k = 0; k < 9; k++)
        trace += normal[10 * k];
    for (int k = 0; k < 9; k++)
        normal[10 * k] += 1e-12 * trace;
    for (int step = 0; step < 6; step++) {
        double matrix[81];
        memcpy(matrix, normal, sizeof matrix);
        scale_to_unit(f);
        if (!esra_linear_solve(matrix, f, 9))
            return false;
    }
    return true;
}

/* Refits while that lowers the cost. */
static double optimise(const struct epipolar *e, double f[9], double cost, int *inliers)
{
    for (int step = 0; step < 4; step++) {
        double better[9];
        int count;
        memcpy(better, f, sizeof better);
        if (!refit(e, better))
            break;
        double lower = cost_of(e, better, &count);
        if (!(lower < cost))
            break;
        cost = lower;
        *inliers = count;
        memcpy(f, better, sizeof better);
    }
    return cost;
}

/* Samples after which one without outliers has been drawn with certainty 1 - MISS. */
static double samples_needed(int inliers, int all)
{
    double good = esra_pow((double)inliers / all, 8);
    return good < 1 ? esra_log(MISS) / esra_log1p(-good) : 1;
}

static int count_seen(const struct tracks *tracks, int photo)
{
    int seen = 0;
    for (int n = 0; n < tracks->count; n++)
        seen += track_at(tracks, n, photo)->seen;
    return seen;
}

void esra_tracks_check(const struct tracks *tracks, int photo)
{
    struct epipolar e = {tracks, photo, 2. / fmax(tracks->width, tracks->height), (uint64_t)photo + 1};
    int all = count_seen(tracks, photo), inliers = 0, most = 0;
    double best[9] = {0}, least = INFINITY, f[9], pair[4], limit = camera_thresholds.outlier_px * e.scale;
    if (all < INLIERS_LEAST)
        return;
    for (int k = 0; k < SAMPLES && k < samples_needed(most, all); k++) {
        if (!sample(&e, f))
            continue;
        double cost = cost_of(&e, f, &inliers);
        if (!(cost < least))
            continue;
        least = optimise(&e, f, cost, &inliers);
        most = inliers;
        memcpy(best, f, sizeof best);
    }
    for (int n = 0; n < tracks->count && most >= INLIERS_LEAST; n++)
        if (pair_of(&e, n, pair) && !(distance2(best, pair) < limit * limit))
            track_at(tracks, n, photo)->seen = false;
}
