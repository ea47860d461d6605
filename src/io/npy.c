/* io/npy.c - NumPy's .npy files (format 1.0 to 3.0): magic, version, header length, then a Python dictionary literal
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 480, 640), }
 *
 * padded with spaces, then the samples. Headers come from strangers: every step stays within the bytes read. */
#include "io/npy.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/input.h"

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6

/* NumPy itself refuses headers past 10,000 bytes; an honest one of eight dimensions has under 300. */
#define MAX_HEADER 10000

/* Samples read or written at once. */
#define CHUNK_SAMPLES 8192

/* Where the size of a stream is only claimed, memory grows with what has really come: room for this many at first. */
#define FIRST_SAMPLES ((size_t)1 << 20)

struct header {
    bool wide;       /* float64 */
    bool big_endian; /* bytes of the samples */
    bool fortran;
    int dimensions;
    size_t shape[NPY_MAX_DIMENSIONS];
    size_t count; /* samples */
};

/* ---- The header's text ---- */

struct cursor {
    const char *at, *end;
};

static void skip_space(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n' || *cursor->at == '\t'))
        cursor->at++;
}

/* Takes text if it comes next. */
static bool take(struct cursor *cursor, const char *text)
{
    size_t length = strlen(text);
    skip_space(cursor);
    if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, text, length) != 0)
        return false;
    cursor->at += length;
    return true;
}

/* Takes a quoted string that fits. */
static bool take_string(struct cursor *cursor, char *text, size_t size)
{
    skip_space(cursor);
    if (cursor->at == cursor->end || (*cursor->at != '\'' && *cursor->at != '"'))
        return false;
    char quote = *cursor->at++;
    size_t length = 0;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        if (length + 1 >= size)
            return false;
        text[length++] = *cursor->at++;
    }
    text[length] = '\0';
    return take(cursor, quote == '"' ? "\"" : "'");
}

static bool take_size(struct cursor *cursor, size_t *size)
{
    skip_space(cursor);
    const char *start = cursor->at;
    *size = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
        if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, (size_t)(*cursor->at - '0'), size))
            return false;
    return cursor->at > start;
}

static bool take_shape(struct cursor *cursor, struct header *header)
{
    if (!take(cursor, "("))
        return false;
    for (header->dimensions = 0; !take(cursor, ")");) {
        if (header->dimensions == NPY_MAX_DIMENSIONS || !take_size(cursor, &header->shape[header->dimensions++]))
            return false;
        if (!take(cursor, ",") && !(cursor->at < cursor->end && *cursor->at == ')'))
            return false;
    }
    return true;
}

static bool take_type(struct cursor *cursor, struct header *header, char *type, size_t size)
{
    if (!take_string(cursor, type, size))
        return false;
    bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    header->big_endian = type[0] == '>' || ((type[0] == '=' || type[0] == '|') && native_big);
    header->wide = type[0] && strcmp(type + 1, "f8") == 0;
    return true;
}

static bool take_order(struct cursor *cursor, struct header *header)
{
    header->fortran = take(cursor, "True");
    return header->fortran || take(cursor, "False");
}

/* The dictionary, its keys in any order but all three there, once each. */
static bool take_dictionary(struct cursor *cursor, struct header *header, char *type, size_t type_size)
{
    bool has_type = false, has_order = false, has_shape = false;
    if (!take(cursor, "{"))
        return false;
    while (!take(cursor, "}")) {
        char key[16];
        bool good = false;
        if (!take_string(cursor, key, sizeof key) || !take(cursor, ":"))
            return false;
        if (strcmp(key, "descr") == 0 && !has_type)
            good = has_type = take_type(cursor, header, type, type_size);
        else if (strcmp(key, "fortran_order") == 0 && !has_order)
            good = has_order = take_order(cursor, header);
        else if (strcmp(key, "shape") == 0 && !has_shape)
            good = has_shape = take_shape(cursor, header);
        if (!good)
            return false;
        if (!take(cursor, ",") && !(cursor->at < cursor->end && *cursor->at == '}'))
            return false;
    }
    skip_space(cursor);
    return has_type && has_order && has_shape && cursor->at == cursor->end;
}

static bool is_float(const char *type)
{
    return type[0] && strchr("<>=|", type[0]) && (strcmp(type + 1, "f4") == 0 || strcmp(type + 1, "f8") == 0);
}

static esra_status parse_header(struct header *header, const char *text, size_t length, const char *name,
                                struct message *message)
{
    char type[16] = "";
    struct cursor cursor = {text, text + length};
    if (!take_dictionary(&cursor, header, type, sizeof type))
        return esra_fail(message, ESRA_BAD_DATA, "%s has a header that is not NumPy's; save it again with numpy.save",
                         name);
    if (!is_float(type))
        return esra_fail(message, ESRA_BAD_DATA,
                         "%s holds samples of type %.15s, not float32 or float64; convert with .astype('float32')",
                         name, type);
    header->count = 1;
    size_t bytes;
    for (int n = 0; n < header->dimensions; n++) {
        if (header->shape[n] == 0)
            return esra_fail(message, ESRA_BAD_DATA, "%s is empty: dimension %d of its shape is 0", name, n + 1);
        if (!esra_size_multiply(header->count, header->shape[n], &header->count))
            return esra_fail(message, ESRA_BAD_DATA, "%s claims more samples than any machine can hold", name);
    }
    if (!esra_size_multiply(header->count, sizeof(double), &bytes) || bytes > PTRDIFF_MAX)
        return esra_fail(message, ESRA_BAD_DATA, "%s claims more samples than any machine can hold", name);
    return ESRA_OK;
}

static esra_status read_header(struct header *header, struct input *input, struct message *message)
{
    unsigned char start[MAGIC_SIZE + 2], size_bytes[4] = {0};
    char text[MAX_HEADER];
    esra_status status;
    TRY(esra_input_read(input, start, sizeof start, message));
    if (memcmp(start, MAGIC, MAGIC_SIZE) != 0)
        return esra_fail(message, ESRA_BAD_DATA, "%s is not a .npy file; save the array with numpy.save", input->name);
    if (start[MAGIC_SIZE] < 1 || start[MAGIC_SIZE] > 3)
        return esra_fail(message, ESRA_BAD_DATA, "%s is .npy version %d, and versions 1 to 3 are known; save it again",
                         input->name, start[MAGIC_SIZE]);
    TRY(esra_input_read(input, size_bytes, start[MAGIC_SIZE] == 1 ? 2 : 4, message));
    size_t length =
        (size_t)size_bytes[0] | (size_t)size_bytes[1] << 8 | (size_t)size_bytes[2] << 16 | (size_t)size_bytes[3] << 24;
    if (length > MAX_HEADER)
        return esra_fail(message, ESRA_BAD_DATA, "%s claims a header of %zu bytes, over the limit of %d", input->name,
                         length, MAX_HEADER);
    TRY(esra_input_read(input, text, length, message));
    TRY(parse_header(header, text, length, input->name, message));
fail:
    return status;
}

/* ---- The samples ---- */

/* count samples from file to memory order. */
static void decode_samples(float *to, const unsigned char *from, size_t count, const struct header *header)
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

static esra_status read_samples(float **data, const struct header *header, struct input *input, struct message *message)
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
static esra_status check_size(const struct header *header, const struct input *input, struct message *message)
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

static esra_status take_head(struct npy_array *array, struct header *header, struct input *input, int64_t most_samples,
                             struct message *message)
{
    esra_status status;
    *array = (struct npy_array){0};
    *header = (struct header){0};
    TRY(read_header(header, input, message));
    if (header->count > (uint64_t)most_samples)
        TRY(esra_fail(message, ESRA_OVER_LIMIT,
                      "%s claims %zu samples, over the limit of %lld; if it can be trusted, lift it with --no-limits",
                      input->name, header->count, (long long)most_samples));
    TRY(check_size(header, input, message));
    array->dimensions = header->dimensions;
    memcpy(array->shape, header->shape, sizeof array->shape);
    set_strides(array, header->fortran);
fail:
    return status;
}

esra_status esra_npy_read_head(struct npy_array *array, struct input *input, int64_t most_samples,
                               struct message *message)
{
    struct header header;
    return take_head(array, &header, input, most_samples, message);
}

esra_status esra_npy_read_input(struct npy_array *array, struct input *input, int64_t most_samples,
                                struct message *message)
{
    esra_status status;
    struct header header;
    TRY(take_head(array, &header, input, most_samples, message));
    TRY(read_samples(&array->data, &header, input, message));
    if (!esra_input_at_end(input))
        TRY(esra_fail(message, ESRA_BAD_DATA, "%s goes on after its array; give one array alone", input->name));
    return ESRA_OK;
fail:
    esra_npy_free(array);
    return status;
}

esra_status esra_npy_read(struct npy_array *array, const char *path, struct message *message)
{
    struct input input;
    *array = (struct npy_array){0};
    esra_status status = esra_input_open(&input, path, message);
    if (status == ESRA_OK)
        status = esra_npy_read_input(array, &input, INT64_MAX, message);
    esra_input_close(&input);
    return status;
}

void esra_npy_free(struct npy_array *array)
{
    free(array->data);
    *array = (struct npy_array){0};
}

void esra_npy_describe(const struct npy_array *array, char *text, size_t size)
{
    size_t used = 0;
    for (int n = 0; n <= array->dimensions && used < size; n++) {
        int wrote = n < array->dimensions ? snprintf(text + used, size - used, "%s%zu", n ? ", " : "(", array->shape[n])
                                          : snprintf(text + used, size - used, "%s",
                                                     n == 0   ? "()"
                                                     : n == 1 ? ",)"
                                                              : ")");
        used += (size_t)wrote;
    }
}

static esra_status write_header(struct output *output, int dimensions, const size_t *shape, struct message *message)
{
    char text[512] = {0};
    struct npy_array as_array = {.dimensions = dimensions};
    char tuple[256];
    memcpy(as_array.shape, shape, (size_t)dimensions * sizeof *shape);
    esra_npy_describe(&as_array, tuple, sizeof tuple);
    int length = snprintf(text + 10, sizeof text - 10, "{'descr': '%cf4', 'fortran_order': False, 'shape': %s, }",
                          __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<', tuple);
    /* Samples begin at a multiple of 64 bytes; the byte before them is a newline. */
    size_t total = ((size_t)length + 10 + 1 + 63) / 64 * 64;
    memset(text + 10 + length, ' ', total - 10 - (size_t)length);
    text[total - 1] = '\n';
    memcpy(text, MAGIC "\x01\x00", 8);
    text[8] = (char)((total - 10) & 0xff);
    text[9] = (char)((total - 10) >> 8);
    return esra_output_write(output, text, total, message);
}

esra_status esra_npy_write(struct output *output, const float *data, int dimensions, const size_t *shape,
                           struct message *message)
{
    size_t count = 1;
    esra_status status = write_header(output, dimensions, shape, message);
    for (int n = 0; n < dimensions; n++)
        count *= shape[n];
    return status == ESRA_OK ? esra_output_write(output, data, count * sizeof *data, message) : status;
}
