/* camera/pair.h - two surfaces seen through each other, the scene and what the glass mirrors: a pair of labels for
 * every block of pixels of a cost volume. */
#ifndef ESRA_CAMERA_PAIR_H
#define ESRA_CAMERA_PAIR_H

#include "camera/sweep.h"

enum { PAIR_FARTHER, PAIR_NEARER, PAIR_SURFACES };

struct pair {
    int block_px;                        /* side of a block, in px of the sweep */
    int width, height;                   /* in blocks */
    struct image inverse[PAIR_SURFACES]; /* w of either surface, a sample a block */
};

/* The two surfaces of least
 *
 *     sum_n min(C_n(p_b), C_n(q_b)) + sum_{b,c beside} B (s(p_b - p_c) + s(q_b - q_c)),
 *     s(d) = min(small |d|, large/2),
 *
 * n the pixels of block b, C the costs, B the side of a block: where R shines through T a pixel's gradients mostly
 * belong to one of them. Where s is linear, exchanging p and q in a place never lowers the cost: so
 * p is the farther surface everywhere. Minimised by sequential tree-reweighted message passing (Kolmogorov 2006). */
esra_status esra_pair_find(struct pair *pair, const struct sweep *sweep, const uint8_t *volume,
                           struct context *context);

/* Harmless on a zeroed one. */
void esra_pair_free(struct pair *pair);

#endif
