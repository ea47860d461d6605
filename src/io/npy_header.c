/* io/npy_header.c - the head of a .npy file: magic, version, header length, then a Python dictionary literal
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 480, 640), }
 *
 * padded with spaces. Headers come from strangers: every step stays within the bytes read. */
#include "io/npy_header.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6

/* NumPy itself refuses headers past 10,000 bytes; an honest one of eight dimensions has under 300. */
#define MAX_HEADER 10000

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

static bool take_shape(struct cursor *cursor, struct npy_header *header)
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

static bool take_type(struct cursor *cursor, struct npy_header *header, char *type, size_t size)
{
    if (!take_string(cursor, type, size))
        return false;
    bool native_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    header->big_endian = type[0] == '>' || ((type[0] == '=' || type[0] == '|') && native_big);
    header->wide = type[0] && strcmp(type + 1, "f8") == 0;
    return true;
}

static bool take_order(struct cursor *cursor, struct npy_header *header)
{
    header->fortran = take(cursor, "True");
    return header->fortran || take(cursor, "False");
}

/* The dictionary, its keys in any order but all three there, once each. */
static bool take_dictionary(struct cursor *cursor, struct npy_header *header, char *type, size_t type_size)
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

static esra_status parse_header(struct npy_header *header, const char *text, size_t length, const char *name,
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

esra_status esra_npy_read_header(struct npy_header *header, struct input *input, struct message *message)
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
done:
    return status;
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

esra_status esra_npy_write_header(struct output *output, int dimensions, const size_t *shape, struct message *message)
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
