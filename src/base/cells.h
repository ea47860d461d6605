/* base/cells.h - two sizes of an image whose pixels are cells: a coarse cell is two fine ones along each axis, the last
 * one by itself where the length is odd. */
#ifndef ESRA_BASE_CELLS_H
#define ESRA_BASE_CELLS_H

/* Of the fine cells 2x and 2x + 1 of coarse cell x the second, or the first once more where there is none. */
static inline int cell_second(int x, int fine_length)
{
    return 2 * x + 1 < fine_length ? 2 * x + 1 : 2 * x;
}

/* Bilinear prolongation: the middle of fine cell x lies a quarter of a coarse cell beside the middle of coarse cell
 * x/2, and gets 3/4 of that and 1/4 of its neighbour on that side, which this is; the border is repeated. */
static inline int cell_beside(int x, int coarse_length)
{
    int side = x / 2 + (x % 2 ? 1 : -1);
    return side < 0 ? 0 : side >= coarse_length ? coarse_length - 1 : side;
}

#endif
