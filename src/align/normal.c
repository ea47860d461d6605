/* align/normal.c - normal equations of a small change of a homography. */
#include "align/normal.h"

#include "base/linear.h"

/* The entries of M1 and M2: sign X^i Y^j, sign 0 where there is none. */
struct monomial {
    int sign, i, j;
};

static const struct monomial m1[NORMAL_PARAMETERS] = {{1, 0, 0}, {0, 0, 0}, {1, 1, 0},  {1, 0, 1},
                                                      {0, 0, 0}, {0, 0, 0}, {-1, 2, 0}, {-1, 1, 1}};
static const struct monomial m2[NORMAL_PARAMETERS] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 0},  {0, 0, 0},
                                                      {1, 1, 0}, {1, 0, 1}, {-1, 1, 1}, {-1, 0, 2}};

void esra_normal_add_row(struct normal *normal, const struct normal_row *row, double Y)
{
    double power = 1;
    for (int j = 0; j < 5; j++, power *= Y)
        for (int i = 0; i < 5; i++) {
            normal->xx[i][j] += power * row->power[i].square[0];
            normal->xy[i][j] += power * row->power[i].mixed[0];
            normal->yy[i][j] += power * row->power[i].square[1];
            if (i < 3 && j < 3) {
                normal->x[i][j] += power * row->power[i].cross[0];
                normal->y[i][j] += power * row->power[i].cross[1];
            }
        }
}

void esra_normal_add(struct normal *normal, const struct normal *more)
{
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            normal->xx[i][j] += more->xx[i][j];
            normal->xy[i][j] += more->xy[i][j];
            normal->yy[i][j] += more->yy[i][j];
            if (i < 3 && j < 3) {
                normal->x[i][j] += more->x[i][j];
                normal->y[i][j] += more->y[i][j];
            }
        }
}

static double product(double moments[5][5], struct monomial a, struct monomial b)
{
    return a.sign * b.sign * (a.sign && b.sign ? moments[a.i + b.i][a.j + b.j] : 0);
}

bool esra_normal_solve(const struct normal *normal, enum motion motion, double *p)
{
    struct normal n = *normal;
    double matrix[NORMAL_PARAMETERS * NORMAL_PARAMETERS], trace = 0;
    for (int a = 0; a < (int)motion; a++)
        for (int b = 0; b < (int)motion; b++)
            matrix[a * motion + b] = product(n.xx, m1[a], m1[b]) + product(n.xy, m1[a], m2[b]) +
                                     product(n.xy, m2[a], m1[b]) + product(n.yy, m2[a], m2[b]);
    for (int a = 0; a < (int)motion; a++)
        trace += matrix[a * motion + a];
    /* A millionth of the mean eigenvalue: far below what noise leaves of the determined parameters, and enough to hold
     * still those that nothing determines. */
    for (int a = 0; a < (int)motion; a++)
        matrix[a * motion + a] += 1e-6 * trace / (int)motion;
    for (int a = 0; a < NORMAL_PARAMETERS; a++) {
        double x = m1[a].sign * n.x[m1[a].i][m1[a].j], y = m2[a].sign * n.y[m2[a].i][m2[a].j];
        p[a] = a < (int)motion ? -(x + y) : 0;
    }
    return esra_linear_solve(matrix, p, motion);
}

struct transform esra_normal_step(const double *p, double cx, double cy, double s)
{
    struct transform to = {{s, 0, cx, 0, s, cy, 0, 0, 1}}, from = {{1 / s, 0, -cx / s, 0, 1 / s, -cy / s, 0, 0, 1}};
    struct transform step = {{1 + p[2], p[3], p[0], p[4], 1 + p[5], p[1], p[6], p[7], 1}};
    step = esra_transform_compose(&step, &from);
    return esra_transform_compose(&to, &step);
}
