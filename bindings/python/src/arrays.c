/* arrays.c - arrays that Python lends by the buffer protocol. Who lends them may be mistaken, or lie: everything that
 * can be checked is, before anything is read. */
#include "binding.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Sides past it would overflow the library's counts. */
#define SIDE_MOST (INT_MAX / 2)

static size_t kind_size(char kind)
{
    return kind == 'B' ? 1 : kind == 'H' ? 2 : kind == 'f' ? 4 : 8;
}

/* The letter of a format such as "f", "@f" or, where that is this machine's order, "<f"; 0 of any other. */
static char kind_of(const Py_buffer *buffer)
{
    const char *format = buffer->format ? buffer->format : "B";
    const uint16_t one = 1;
    const char order = *(const char *)&one ? '<' : '>';
    if (*format == '@' || *format == '=' || *format == order)
        format++;
    bool known = *format && strchr("BHfd", *format) && format[1] == '\0';
    return known && buffer->itemsize == (Py_ssize_t)kind_size(*format) ? *format : 0;
}

/* The number of bytes is that of the shape. Without strides its rows follow one another, as ctypes has its arrays. */
static bool is_consistent(const Py_buffer *buffer)
{
    Py_ssize_t bytes = buffer->itemsize;
    if (!buffer->shape || buffer->suboffsets || bytes < 1)
        return false;
    for (int n = 0; n < buffer->ndim; n++)
        if (buffer->shape[n] < 0 || __builtin_mul_overflow(bytes, buffer->shape[n], &bytes))
            return false;
    return bytes == buffer->len && (buffer->buf || bytes == 0);
}

static bool fail_lie(struct call *call, const char *name)
{
    return call_fail(call, "%s contradicts itself: its shape and its number of bytes do not agree", name);
}

/* check(object, name): raises where its buffer contradicts itself, which NumPy would not notice. What has no buffer is
 * no matter of ours. */
FUNCTION(binding_check)
{
    struct call call = {.state = PyModule_GetState(module)};
    PyObject *object;
    const char *name;
    if (!PyArg_ParseTuple(arguments, "Os", &object, &name))
        return NULL;
    if (!PyObject_CheckBuffer(object))
        return Py_NewRef(Py_None);
    Py_buffer *buffer = call_hold_buffer(&call);
    bool good = buffer && PyObject_GetBuffer(object, buffer, PyBUF_FULL_RO) == 0 &&
                ((buffer->ndim > 0 && is_consistent(buffer)) || fail_lie(&call, name));
    return call_end(&call, good ? Py_NewRef(Py_None) : NULL);
}

/* Where there is but one, the step to the next means nothing. */
static ptrdiff_t step(const Py_buffer *buffer, int n)
{
    return n < buffer->ndim && buffer->shape[n] > 1 ? buffer->strides[n] : 0;
}

static bool check_shape(struct call *call, const Py_buffer *buffer, const char *name)
{
    if (buffer->ndim != 2 && buffer->ndim != 3)
        return call_fail(call, "%s has %d dimension(s): (h, w) or (h, w, channels) is needed", name, buffer->ndim);
    if (!buffer->strides || !is_consistent(buffer))
        return fail_lie(call, name);
    for (int n = 0; n < buffer->ndim; n++)
        if (buffer->shape[n] > SIDE_MOST)
            return call_fail(call, "%s is too large: no side may exceed %d", name, SIDE_MOST);
    return true;
}

bool array_take(struct call *call, struct array *array, PyObject *object, const char *kinds, bool writable,
                const char *name)
{
    Py_buffer *buffer = call_hold_buffer(call);
    if (!buffer || PyObject_GetBuffer(object, buffer, writable ? PyBUF_RECORDS : PyBUF_RECORDS_RO) != 0)
        return false;
    char kind = kind_of(buffer);
    if (!kind || !strchr(kinds, kind))
        return call_fail(call, "%s holds samples of format '%.20s', which cannot be used here", name,
                         buffer->format ? buffer->format : "B");
    if (!check_shape(call, buffer, name))
        return false;
    *array = (struct array){.data = buffer->buf,
                            .kind = kind,
                            .height = (int)buffer->shape[0],
                            .width = (int)buffer->shape[1],
                            .channels = buffer->ndim == 3 ? (int)buffer->shape[2] : 1,
                            .row_step = step(buffer, 0),
                            .column_step = step(buffer, 1),
                            .channel_step = step(buffer, 2)};
    return true;
}

static bool in_step(const struct array *array)
{
    const ptrdiff_t size = sizeof(float);
    return (uintptr_t)array->data % sizeof(float) == 0 && array->row_step % size == 0 &&
           array->column_step % size == 0 && array->channel_step % size == 0;
}

bool image_take(struct call *call, esra_image *image, PyObject *object, bool writable, const char *name)
{
    const ptrdiff_t size = sizeof(float);
    struct array array = {0};
    if (!array_take(call, &array, object, "f", writable, name))
        return false;
    if (!in_step(&array))
        return call_fail(call, "%s does not lie at whole float32 samples: copy it", name);
    *image = (esra_image){.data = (float *)(void *)array.data,
                          .width = array.width,
                          .height = array.height,
                          .channels = array.channels,
                          .column_stride = array.column_step / size,
                          .row_stride = array.row_step / size,
                          .channel_stride = array.channel_step / size};
    return true;
}

esra_image *images_take(struct call *call, PyObject *sequence, Py_ssize_t count, bool writable, const char *name)
{
    Py_ssize_t given = PySequence_Size(sequence);
    bool good = given >= 0 && (given == count || call_fail(call, "%s are %zd, and %zd are needed", name, given, count));
    esra_image *images = good ? call_allocate(call, (size_t)count, sizeof *images) : NULL;
    for (Py_ssize_t n = 0; images && n < count; n++) {
        PyObject *item = PySequence_GetItem(sequence, n);
        good = item && image_take(call, &images[n], item, writable, name);
        Py_XDECREF(item);
        if (!good)
            return NULL;
    }
    return images;
}

double *numbers_take(struct call *call, PyObject *object, Py_ssize_t count, bool writable, const char *name)
{
    Py_buffer *buffer = call_hold_buffer(call);
    int wanted = PyBUF_ND | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (!buffer || PyObject_GetBuffer(object, buffer, wanted) != 0)
        return NULL;
    bool good = kind_of(buffer) == 'd' && count <= PY_SSIZE_T_MAX / 8 && buffer->len == 8 * count && buffer->buf &&
                (uintptr_t)buffer->buf % sizeof(double) == 0;
    if (!good)
        call_fail(call, "%s: %zd numbers of float64 are needed", name, count);
    return good ? buffer->buf : NULL;
}

/* Borrowed. */
static PyObject *find(PyObject *dictionary, const char *name)
{
    PyObject *value = PyDict_GetItemString(dictionary, name);
    return value == Py_None ? NULL : value;
}

bool image_wish(struct call *call, esra_image *image, PyObject *dictionary, const char *name, bool writable)
{
    PyObject *object = find(dictionary, name);
    return !object || image_take(call, image, object, writable, name);
}

bool images_wish(struct call *call, const esra_image **images, PyObject *dictionary, const char *name, Py_ssize_t count,
                 bool writable)
{
    PyObject *object = find(dictionary, name);
    *images = object ? images_take(call, object, count, writable, name) : NULL;
    return !object || *images;
}

bool numbers_wish(struct call *call, double **numbers, PyObject *dictionary, const char *name, Py_ssize_t count,
                  bool writable)
{
    PyObject *object = find(dictionary, name);
    *numbers = object ? numbers_take(call, object, count, writable, name) : NULL;
    return !object || *numbers;
}

/* A transform is nine doubles and nothing else. */
bool transforms_wish(struct call *call, esra_transform **transforms, PyObject *dictionary, const char *name,
                     Py_ssize_t count, bool writable)
{
    double *numbers;
    bool good = numbers_wish(call, &numbers, dictionary, name, 9 * count, writable);
    *transforms = (esra_transform *)(void *)numbers;
    return good;
}
