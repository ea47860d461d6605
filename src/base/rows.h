/* base/rows.h - images are worked on in blocks of rows whose size does not depend on the number of threads, so that
 * sums over blocks, added in order, have the same bits on any machine. */
#ifndef ESRA_BASE_ROWS_H
#define ESRA_BASE_ROWS_H

#define BLOCK_ROWS 16

static inline int rows_blocks(int height)
{
    return (height + BLOCK_ROWS - 1) / BLOCK_ROWS;
}

static inline int rows_begin(int block)
{
    return block * BLOCK_ROWS;
}

static inline int rows_end(int block, int height)
{
    return (block + 1) * BLOCK_ROWS < height ? (block + 1) * BLOCK_ROWS : height;
}

#endif
