/* io/npy.h - NumPy's .npy files: float32 or float64 in, float32 out. */
#ifndef ESRA_IO_NPY_H
#define ESRA_IO_NPY_H

#include "io/input.h"
#include "io/output.h"

#define NPY_MAX_DIMENSIONS 8

struct npy_array {
    float *data;
    int dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
    ptrdiff_t stride[NPY_MAX_DIMENSIONS]; /* in floats */
};

/* Asked before memory is taken for samples, of an array whose data is still NULL: anything but ESRA_OK, the message
 * set, ends the reading. */
typedef esra_status npy_accept(void *user, const struct npy_array *head);

/* Reads a whole file ("-": standard input) that holds one array, in either byte order and either memory order. accept
 * may be NULL. */
esra_status esra_npy_read(struct npy_array *array, const char *path, npy_accept *accept, void *user,
                          struct message *message);

/* The same from an input that is open and stands at the array's first byte; more samples than told are refused before
 * accept is asked. */
esra_status esra_npy_read_input(struct npy_array *array, struct input *input, int64_t most_samples, npy_accept *accept,
                                void *user, struct message *message);

/* The shape alone, data NULL; otherwise as above. */
esra_status esra_npy_read_head(struct npy_array *array, struct input *input, int64_t most_samples,
                               struct message *message);

void esra_npy_free(struct npy_array *array);

/* Writes an array in C order. */
esra_status esra_npy_write(struct output *output, const float *data, int dimensions, const size_t *shape,
                           struct message *message);

/* "(3, 480, 640)" into text, for messages. */
void esra_npy_describe(const struct npy_array *array, char *text, size_t size);

#endif
