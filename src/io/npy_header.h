/* io/npy_header.h - the head of a .npy file. */
#ifndef ESRA_IO_NPY_HEADER_H
#define ESRA_IO_NPY_HEADER_H

#include "io/npy.h"

struct npy_header {
    bool wide;       /* float64 */
    bool big_endian; /* bytes of the samples */
    bool fortran;
    int dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
    size_t count; /* samples */
};

/* Reads it from the input's first byte on. The shape has no side of 0, and as many doubles fit in memory's addresses.
 */
esra_status esra_npy_read_header(struct npy_header *header, struct input *input, struct message *message);

/* Of float32 in C order. */
esra_status esra_npy_write_header(struct output *output, int dimensions, const size_t *shape, struct message *message);

#endif
