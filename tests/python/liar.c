/* tests/python/liar.c - a Python module whose Liar lends 48 bytes, and says of them whatever its maker wants:
 *
 *     Liar(format, itemsize, shape, strides, length, suboffsets=None, data=True)
 *
 * Shape, strides or suboffsets None: it lends none, and with data False no bytes. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define DIMENSIONS 8

struct liar {
    PyObject_HEAD float data[12];
    char format[8];
    Py_ssize_t itemsize, length, shape[DIMENSIONS], strides[DIMENSIONS], suboffsets[DIMENSIONS];
    int dimensions, has_shape, has_strides, has_suboffsets, has_data;
};

/* How many numbers there are, -1 where that is not possible; of None, none. */
static int take(PyObject *tuple, Py_ssize_t *to, int *has)
{
    *has = tuple != Py_None;
    Py_ssize_t count = *has ? PyTuple_Size(tuple) : 0;
    for (Py_ssize_t n = 0; n < count && n < DIMENSIONS; n++)
        to[n] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, n));
    return PyErr_Occurred() || count > DIMENSIONS ? -1 : (int)count;
}

static int liar_init(PyObject *self, PyObject *arguments, PyObject *keywords)
{
    static const char *const names[] = {"format", "itemsize", "shape", "strides", "length", "suboffsets", "data", NULL};
    struct liar *liar = (struct liar *)self;
    PyObject *shape, *strides, *suboffsets = Py_None;
    const char *format;
    liar->has_data = 1;
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "snOOn|Op", (char **)(void *)names, &format, &liar->itemsize,
                                     &shape, &strides, &liar->length, &suboffsets, &liar->has_data))
        return -1;
    snprintf(liar->format, sizeof liar->format, "%s", format);
    int a = take(shape, liar->shape, &liar->has_shape), b = take(strides, liar->strides, &liar->has_strides);
    liar->dimensions = a > b ? a : b;
    return a < 0 || b < 0 || take(suboffsets, liar->suboffsets, &liar->has_suboffsets) < 0 ? -1 : 0;
}

static int lend(PyObject *self, Py_buffer *view, int flags)
{
    struct liar *liar = (struct liar *)self;
    (void)flags;
    Py_INCREF(self);
    *view = (Py_buffer){.obj = self,
                        .buf = liar->has_data ? liar->data : NULL,
                        .len = liar->length,
                        .itemsize = liar->itemsize,
                        .format = liar->format,
                        .ndim = liar->dimensions,
                        .shape = liar->has_shape ? liar->shape : NULL,
                        .strides = liar->has_strides ? liar->strides : NULL,
                        .suboffsets = liar->has_suboffsets ? liar->suboffsets : NULL};
    return 0;
}

static PyBufferProcs lending = {.bf_getbuffer = lend};

static PyTypeObject type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "liar.Liar",
    .tp_basicsize = sizeof(struct liar),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = liar_init,
    .tp_as_buffer = &lending,
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "liar", .m_size = -1};

PyMODINIT_FUNC PyInit_liar(void);
PyMODINIT_FUNC PyInit_liar(void)
{
    PyObject *module = PyType_Ready(&type) == 0 ? PyModule_Create(&definition) : NULL;
    if (module && PyModule_AddObjectRef(module, "Liar", (PyObject *)&type) != 0)
        Py_CLEAR(module);
    return module;
}
