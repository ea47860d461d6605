/* align/normal.h - normal equations of a small change of a homography, for Gauss-Newton steps.
 *
 * A pixel x is first moved by a small homography of centred coordinates X = (x - cx)/s, Y = (y - cy)/s:
 *
 *     X' = ((1 + p2) X + p3 Y + p0)/d,  Y' = (p4 X + (1 + p5) Y + p1)/d,  d = 1 + p6 X + p7 Y
 *
 * so that p0,p1 are a shift, p0..p5 an affine map, all eight a homography: the models of motion are prefixes. With gx,
 * gy the derivatives along X and Y of a field, its change is gx M1 p + gy M2 p to first order,
 *
 *     M1 = (1, 0, X, Y, 0, 0, -X^2, -XY),   M2 = (0, 1, 0, 0, X, Y, -XY, -Y^2).
 *
 * Every entry of the 8x8 matrix sum w (gx M1 + gy M2)'(gx M1 + gy M2) is a moment sum w g g X^i Y^j, i + j <= 4. Along
 * a row Y is fixed: only powers of X are summed pixel by pixel. */
#ifndef ESRA_ALIGN_NORMAL_H
#define ESRA_ALIGN_NORMAL_H

#include "base/transform.h"

enum motion { MOTION_TRANSLATION = 2, MOTION_AFFINE = 6, MOTION_HOMOGRAPHY = 8 }; /* the number of its parameters */

#define NORMAL_PARAMETERS 8

typedef double normal_pair __attribute__((vector_size(16)));

/* A pixel's products, or their sums along a row. */
struct normal_products {
    normal_pair square; /* w gx gx, w gy gy */
    normal_pair mixed;  /* w gx gy, 0 */
    normal_pair cross;  /* w gx r, w gy r */
};

/* Sums along one row, times X^0..X^4; of cross only the first three are used. */
struct normal_row {
    struct normal_products power[5];
};

/* The same sums over many rows, times powers of Y: [power of X][power of Y]. */
struct normal {
    double xx[5][5], xy[5][5], yy[5][5], x[3][3], y[3][3];
};

static inline void normal_add_pixel(struct normal_row *row, double X, struct normal_products p)
{
    for (int k = 0; k < 5; k++) {
        row->power[k].square += p.square;
        row->power[k].mixed += p.mixed;
        if (k < 3)
            row->power[k].cross += p.cross;
        p.square *= X;
        p.mixed *= X;
        p.cross *= X;
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
