/* ops/diff.h - forward differences D and their adjoint, the operator the paper calls L(p,q).
 *
 *     (D L).p[y][x] = L[y+1][x] - L[y][x],  y < height - 1        (D L).q[y][x] = L[y][x+1] - L[y][x],  x < width - 1
 *     (D'(p,q))[y][x] = p[y-1][x] - p[y][x] + q[y][x-1] - q[y][x],  differences that do not exist being zero
 *
 * p and q are kept in planes of the image's size. The last row of p and the last column of q stand for no difference:
 * the forward operator sets them to zero, the adjoint does not read them. */
#ifndef ESRA_OPS_DIFF_H
#define ESRA_OPS_DIFF_H

#include "base/plane.h"

/* |D L|^2 <= 8 |L|^2: each of the four neighbours adds at most (a-b)^2 <= 2 a^2 + 2 b^2. */
#define DIFF_NORM_SQUARED 8

void esra_diff_forward(struct plane layer, struct plane p, struct plane q);

void esra_diff_adjoint(struct plane p, struct plane q, struct plane out);

/* One row of the adjoint: p_above is NULL in the first row, p in the last. */
void esra_diff_adjoint_row(const float *p_above, const float *p, const float *q, float *out, int width);

/* Differences of the image whose pixels are means of 2x2 of another's, from that one's; both sides halved, rounded up.
 * Coarse pixels y and y+1 are apart by the mean over their two columns of (d[2y] + 2 d[2y+1] + d[2y+2])/2, those past
 * the border being zero; where the number of columns is odd the last counts twice. */
void esra_diff_halve(struct plane p, struct plane q, struct plane half_p, struct plane half_q);

#endif
