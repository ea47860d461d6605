/* module.c - the module esra._esra: its functions and its exceptions. The package's Python half is its only caller. */
#include "binding.h"

static PyMethodDef functions[] = {
    {"tables", binding_tables, METH_VARARGS, NULL}, {"check", binding_check, METH_VARARGS, NULL},
    {"load", binding_load, METH_VARARGS, NULL},     {"save", binding_save, METH_VARARGS, NULL},
    {"mix", binding_mix, METH_VARARGS, NULL},       {"separate", binding_separate, METH_VARARGS, NULL},
    {"align", binding_align, METH_VARARGS, NULL},   {"solve", binding_solve, METH_VARARGS, NULL},
    {"synth", binding_synth, METH_VARARGS, NULL},   {"compare", binding_compare, METH_VARARGS, NULL},
    {"plan", binding_plan, METH_VARARGS, NULL},     {NULL, NULL, 0, NULL},
};

static int visit_state(PyObject *module, visitproc visit, void *arg)
{
    struct state *state = PyModule_GetState(module);
    if (state) {
        Py_VISIT(state->error);
        Py_VISIT(state->out_of_memory);
    }
    return 0;
}

static int clear_state(PyObject *module)
{
    struct state *state = PyModule_GetState(module);
    if (state) {
        Py_CLEAR(state->error);
        Py_CLEAR(state->out_of_memory);
    }
    return 0;
}

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,          .m_name = "esra._esra", .m_doc = "libesra, for the package esra alone.",
    .m_size = sizeof(struct state), .m_methods = functions, .m_traverse = visit_state,
    .m_clear = clear_state,
};

static bool add_exceptions(PyObject *module, struct state *state)
{
    state->error = PyErr_NewExceptionWithDoc("esra.Error", "What is wrong with the arrays or options, and what to do.",
                                             PyExc_ValueError, NULL);
    PyObject *bases = state->error ? PyTuple_Pack(2, state->error, PyExc_MemoryError) : NULL;
    if (bases)
        state->out_of_memory =
            PyErr_NewExceptionWithDoc("esra.OutOfMemory", "There is not enough memory.", bases, NULL);
    Py_XDECREF(bases);
    return state->out_of_memory && PyModule_AddObjectRef(module, "Error", state->error) == 0 &&
           PyModule_AddObjectRef(module, "OutOfMemory", state->out_of_memory) == 0;
}

PyMODINIT_FUNC PyInit__esra(void);
PyMODINIT_FUNC PyInit__esra(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module && (!add_exceptions(module, PyModule_GetState(module)) ||
                   PyModule_AddStringConstant(module, "version", esra_version()) != 0))
        Py_CLEAR(module);
    return module;
}
