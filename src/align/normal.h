/* align/normal.h - normal equations of a small change of a homography.
 *
 * A pixel x is first moved by a small homography of centred coordinates X = (x - cx)/s, Y = (y - cy)/s:
 *
 *     X' = ((1 + p2) X + p3 Y + p0)/d,  Y' = (p4 X + (1 + p5) Y + p1)/d,  d = 1 + p6 X + p7 Y
 *
 * so that p0,p1 are a shift, p0..p5 an affine map, all eight a homography: the models of motion are prefixes. With gx, gy
 * the derivatives along X and Y of a field, its change is gx M1 p + gy M2 p to first order,
 *
 *     M1 = (1, 0, X, Y, 0, 0, -X^2, -XY),   M2 = (0, 1, 0, 0, X, Y, -XY, -Y^2).
 *
 * Every entry of the 8x8 matrix sum w (gx M1 + gy M2)'(gx M1 + gy M2) is a moment sum w g g X^i Y^j, i + j <= 4. Along a
 * row Y is fixed: only powers of X are summed pixel by pixel. */
#ifndef ESRA_ALIGN_NORMAL_H
#define ESRA_ALIGN_NORMAL_H

#include "base/transform.h"

enum motion { MOTION_TRANSLATION = 2, MOTION_AFFINE = 6, MOTION_HOMOGRAPHY = 8 }; /* the number of its parameters */

#define NORMAL_PARAMETERS 8

/* Sums along one row: of xx = w gx gx, xy = w gx gy, yy = w gy gy times X^0..X^4, of x = w gx r, y = w gy r times
 * X^0..X^2. */
struct normal_row {
    double xx[5], xy[5], yy[5], x[3], y[3];
};

/* The same sums over many rows, times powers of Y: [power of X][power of Y]. */
struct normal {
    double xx[5][5], xy[5][5], yy[5][5], x[3][3], y[3][3];
};

/* A pixel's share, given X and its five products. */
static inline void normal_add_pixel(struct normal_row *row, double X, double xx, double xy, double yy, double x, double y)
{
    double power = 1;
    for (int k = 0; k < 3; k++, power *= X) {
        row->x[k] += power * x;
        row->y[k] += power * y;
        row->xx[k] += power * xx;
        row->xy[k] += power * xy;
        row->yy[k] += power * yy;
    }
    for (int k = 3; k < 5; k++, power *= X) {
        row->xx[k] += power * xx;
        row->xy[k] += power * xy;
        row->yy[k] += power * yy;
    }
}

void esra_normal_add_row(struct normal *normal, const struct normal_row *row, double Y);

void esra_normal_add(struct normal *normal, const struct normal *more);

/* p = the least squares solution of (gx M1 + gy M2) p = -r in the first `motion` parameters, the others 0; false where
 * the equations do not determine it. */
bool esra_normal_solve(const struct normal *normal, enum motion motion, double *p);

/* The small homography of centred coordinates, as one of pixel coordinates. */
struct transform esra_normal_step(const double *p, double cx, double cy, double s);

#endif
