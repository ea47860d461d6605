/* binding.h - what the files of the Python module share. The module stands on esra.h alone and on CPython's limited
 * API, so that one build serves every Python from 3.11 on; NumPy is the Python half's affair (bindings/python/esra):
 * here are only arrays that someone lends by the buffer protocol, and whose word is not taken for anything. */
#ifndef ESRA_BINDING_H
#define ESRA_BINDING_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <stdbool.h>

#include <esra/esra.h>

/* ---- One call from Python (call.c) ---- */

/* The module's own objects. */
struct state {
    PyObject *error;         /* esra.Error, a ValueError */
    PyObject *out_of_memory; /* esra.OutOfMemory, an Error and a MemoryError */
};

/* Something to be given back when the call ends: a buffer, or a block of memory, which follows it. */
struct held;

/* What one call from Python holds until it ends; begins as {.state = PyModule_GetState(module)}. */
struct call {
    struct state *state;
    struct held *held;
    PyObject *progress;    /* to be called with what esra_progress is, as a dictionary; NULL or None: nobody */
    PyThreadState *thread; /* while the library works, and other threads may run Python */
    double heard_s;        /* when signals were last asked for */
    bool raised;           /* by a signal or by `progress`: the exception is set, the layers are unwanted */
};

/* Gives back all that the call holds, and passes on its answer: NULL where an exception is set. */
PyObject *call_end(struct call *call, PyObject *answer);

/* Raises esra.Error; false, so that a check can end with it. As PyErr_Format(). */
bool call_fail(struct call *call, const char *format, ...);

/* True for ESRA_OK; otherwise raises what suits the status, with this text. */
bool call_check(struct call *call, esra_status status, const char *text);

/* A zeroed block that lives as long as the call; NULL with an exception where there is none. */
void *call_allocate(struct call *call, size_t count, size_t size);

/* A buffer to be filled by PyObject_GetBuffer(), released when the call ends; NULL with an exception. */
Py_buffer *call_hold_buffer(struct call *call);

/* Between these two other threads may run Python, and this one may not. */
void call_release_python(struct call *call);
void call_take_python(struct call *call);

/* An esra_progress, `user` the call. Asks whether Ctrl-C was pressed, and tells call->progress. */
int call_progress(void *user, const esra_info *so_far);

/* A solver that reports to the call; NULL with an exception. To be freed with esra_solver_free(). */
esra_solver *call_solver(struct call *call);

/* Takes Python back after the library's work; true where there is an answer, otherwise an exception is set. */
bool call_done(struct call *call, esra_status status, const char *message);

/* ---- Arrays that were lent (arrays.c) ---- */

/* Kinds of samples are told by their letters in the struct module: B uint8, H uint16, f float32, d float64. */
struct array {
    char *data;
    char kind;
    int height, width, channels;                   /* an array without a third dimension has one channel */
    ptrdiff_t row_step, column_step, channel_step; /* in bytes */
};

/* Takes an array of shape (h, w) or (h, w, c) whose kind is one of these letters; `name` is what messages call it. The
 * call gives it back. False with an exception. */
bool array_take(struct call *call, struct array *array, PyObject *object, const char *kinds, bool writable,
                const char *name);

/* The same as a view of float32 samples; not of data that is out of step with them. */
bool image_take(struct call *call, esra_image *image, PyObject *object, bool writable, const char *name);

/* Views of a sequence of so many arrays; NULL with an exception. */
esra_image *images_take(struct call *call, PyObject *sequence, Py_ssize_t count, bool writable, const char *name);

/* So many float64 numbers, one after the other; NULL with an exception. */
double *numbers_take(struct call *call, PyObject *object, Py_ssize_t count, bool writable, const char *name);

/* The same of what a dictionary has under this name; where it has nothing, or None, nothing is taken and all is well.
 */
bool image_wish(struct call *call, esra_image *image, PyObject *dictionary, const char *name, bool writable);
bool images_wish(struct call *call, const esra_image **images, PyObject *dictionary, const char *name, Py_ssize_t count,
                 bool writable);
bool numbers_wish(struct call *call, double **numbers, PyObject *dictionary, const char *name, Py_ssize_t count,
                  bool writable);
bool transforms_wish(struct call *call, esra_transform **transforms, PyObject *dictionary, const char *name,
                     Py_ssize_t count, bool writable);

/* ---- Structs and tables (fields.c, options.c) ---- */

enum field_type { FIELD_INT, FIELD_LONG_LONG, FIELD_REAL, FIELD_TEXT };

struct field {
    const char *name;
    enum field_type type;
    size_t offset;
};
#define FIELD_OF(struct_, name, type)                                                                                  \
    {                                                                                                                  \
#name, FIELD_##type, offsetof(struct_, name)                                                                   \
    }

/* A dictionary of the struct's fields; the last of `fields` has no name. */
PyObject *fields_to_dictionary(const void *all, const struct field *fields);
PyObject *info_to_dictionary(const esra_info *info);

/* Sets the struct's options by a dictionary of names and values, all within their ranges. False with an exception. */
bool options_take(struct call *call, void *all, const esra_setting *rows, size_t count, PyObject *dictionary);
bool settings_take(struct call *call, esra_settings *settings, PyObject *dictionary);

/* ---- The module's functions ---- */

#define FUNCTION(name) PyObject *name(PyObject *module, PyObject *arguments)
FUNCTION(binding_tables);
FUNCTION(binding_check);
FUNCTION(binding_load);
FUNCTION(binding_save);
FUNCTION(binding_mix);
FUNCTION(binding_separate);
FUNCTION(binding_align);
FUNCTION(binding_solve);
FUNCTION(binding_synth);
FUNCTION(binding_compare);
FUNCTION(binding_plan);

#endif
