/* io/npy.c - NumPy's .npy files (format 1.0 to 3.0): the header of npy_header.c, then the samples. */
#include "io/npy.h"

#include <stdlib.h>
#include <string.h>

#include "io/npy_header.h"

/* Samples read or written at once. */
#define CHUNK_SAMPLES 8192

/* Where the size of a stream is only claimed, memory grows with what has really come: room for this many at first. */
#define FIRST_SAMPLES ((size_t)1 << 20)

/* count samples from file to memory order. */
static void decode_samples(float *to, const unsigned char *from, size_t count, const struct npy_header *header)
{
    bool swap = header->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    for (size_t k = 0; k < count && header->wide; k++) {
        uint64_t bits;
        double value;
        memcpy(&bits, from + 8 * k, sizeof bits);
        bits = swap ? __builtin_bswap64(bits) : bits;
        memcpy(&value, &bits, sizeof value);
        to[k] = (float)value;
    }
    for (size_t k = 0; k < count && !header->wide; k++) {
        uint32_t bits;
        memcpy(&bits, from + 4 * k, sizeof bits);
        bits = swap ? __builtin_bswap32(bits) : bits;
        memcpy(to + k, &bits, sizeof bits);
    }
}

static bool grow(float **data, size_t *room, size_t limit)
{
    size_t next = *room > limit / 2 ? limit : *room * 2;
    float *larger = realloc(*data, next * sizeof **data);
    if (!larger)
        return false;
    *data = larger;
    *room = next;
    return true;
}

static esra_status read_samples(float **data, const struct npy_header *header, struct input *input,
                                struct message *message)
{
    size_t size = header->wide ? 8 : 4;
    size_t room = esra_input_left(input) >= 0 || header->count < FIRST_SAMPLES ? header->count : FIRST_SAMPLES;
    unsigned char chunk[CHUNK_SAMPLES * 8];
    *data = malloc(room * sizeof **data);
    if (!*data)
        return esra_fail_memory(message);
    for (size_t done = 0; done < header->count;) {
        size_t n = header->count - done < CHUNK_SAMPLES ? header->count - done : CHUNK_SAMPLES;
        esra_status status = esra_input_read(input, chunk, n * size, message);
        if (status != ESRA_OK)
            return status;
        while (room < done + n)
            if (!grow(data, &room, header->count))
                return esra_fail_memory(message);
        decode_samples(*data + done, chunk, n, header);
        done += n;
    }
    return ESRA_OK;
}

/* A regular file must hold exactly what its header says; found out before memory is taken. */
static esra_status check_size(const struct npy_header *header, const struct input *input, struct message *message)
{
    int64_t needed = (int64_t)(header->count * (header->wide ? 8 : 4));
    int64_t left = esra_input_left(input);
    if (left < 0 || left == needed)
        return ESRA_OK;
    return esra_fail(message, ESRA_BAD_DATA,
                     "%s is %s: its header promises %lld byte(s) of samples, %lld are there; make it again",
                     input->name, left < needed ? "truncated" : "too long", (long long)needed, (long long)left);
}

static void set_strides(struct npy_array *array, bool fortran)
{
    ptrdiff_t stride = 1;
    for (int n = 0; n < array->dimensions; n++) {
        int dimension = fortran ? n : array->dimensions - 1 - n;
        array->stride[dimension] = stride;
        stride *= (ptrdiff_t)array->shape[dimension];
    }
}

static esra_status take_head(struct npy_array *array, struct npy_header *header, struct input *input,
                             int64_t most_samples, struct message *message)
{
    esra_status status;
    *array = (struct npy_array){0};
    *header = (struct npy_header){0};
    TRY(esra_npy_read_header(header, input, message));
    if (header->count > (uint64_t)most_samples)
        TRY(esra_fail(message, ESRA_OVER_LIMIT,
                      "%s claims %zu samples, over the limit of %lld; if it can be trusted, lift it with --no-limits",
                      input->name, header->count, (long long)most_samples));
    TRY(check_size(header, input, message));
    array->dimensions = header->dimensions;
    memcpy(array->shape, header->shape, sizeof array->shape);
    set_strides(array, header->fortran);
done:
    return status;
}

esra_status esra_npy_read_head(struct npy_array *array, struct input *input, int64_t most_samples,
                               struct message *message)
{
    struct npy_header header;
    return take_head(array, &header, input, most_samples, message);
}

/* One array is a file's whole content. */
static esra_status check_end(struct input *input, struct message *message)
{
    char byte;
    size_t got;
    esra_status status = esra_input_take(input, &byte, 1, &got, message);
    if (status == ESRA_OK && got > 0)
        return esra_fail(message, ESRA_BAD_DATA, "%s goes on after its array; give one array alone", input->name);
    return status;
}

esra_status esra_npy_read_input(struct npy_array *array, struct input *input, int64_t most_samples, npy_accept *accept,
                                void *user, struct message *message)
{
    esra_status status;
    struct npy_header header;
    TRY(take_head(array, &header, input, most_samples, message));
    if (accept)
        TRY(accept(user, array));
    TRY(read_samples(&array->data, &header, input, message));
    TRY(check_end(input, message));
    return ESRA_OK;
done:
    esra_npy_free(array);
    return status;
}

esra_status esra_npy_read(struct npy_array *array, const char *path, npy_accept *accept, void *user,
                          struct message *message)
{
    struct input input;
    *array = (struct npy_array){0};
    esra_status status = esra_input_open(&input, path, message);
    if (status == ESRA_OK)
        status = esra_npy_read_input(array, &input, INT64_MAX, accept, user, message);
    esra_input_close(&input);
    return status;
}

void esra_npy_free(struct npy_array *array)
{
    free(array->data);
    *array = (struct npy_array){0};
}

esra_status esra_npy_write(struct output *output, const float *data, int dimensions, const size_t *shape,
                           struct message *message)
{
    size_t count = 1;
    esra_status status = esra_npy_write_header(output, dimensions, shape, message);
    for (int n = 0; n < dimensions; n++)
        count *= shape[n];
    return status == ESRA_OK ? esra_output_write(output, data, count * sizeof *data, message) : status;
}
