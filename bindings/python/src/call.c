/* call.c - one call from Python: what it holds, how it fails, and how the library works meanwhile without Python. */
#include "binding.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct held {
    struct held *next;
    Py_buffer buffer; /* of no object: this is a block, whose bytes follow */
};

/* So that the block after it may hold anything. */
#define HELD_SIZE ((sizeof(struct held) + 15) / 16 * 16)

/* How often to ask for signals where Python itself is told nothing: it may be busy, and to take it from another thread
 * lasts some milliseconds. A tenth of the second within which Ctrl-C is to stop. */
#define HEAR_EVERY_S 0.1

PyObject *call_end(struct call *call, PyObject *answer)
{
    while (call->held) {
        struct held *held = call->held;
        call->held = held->next;
        PyBuffer_Release(&held->buffer);
        free(held);
    }
    return answer;
}

bool call_fail(struct call *call, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyErr_FormatV(call->state->error, format, arguments);
    va_end(arguments);
    return false;
}

bool call_check(struct call *call, esra_status status, const char *text)
{
    if (status == ESRA_OK)
        return true;
    PyErr_SetString(status == ESRA_OUT_OF_MEMORY ? call->state->out_of_memory : call->state->error, text);
    return false;
}

void *call_allocate(struct call *call, size_t count, size_t size)
{
    struct held *held = NULL;
    if (size == 0 || count <= (PY_SSIZE_T_MAX - HELD_SIZE) / size)
        held = calloc(1, HELD_SIZE + count * size);
    if (!held) {
        call_check(call, ESRA_OUT_OF_MEMORY, "out of memory");
        return NULL;
    }
    held->next = call->held;
    call->held = held;
    return (char *)held + HELD_SIZE;
}

Py_buffer *call_hold_buffer(struct call *call)
{
    char *block = call_allocate(call, 0, 1);
    return block ? &((struct held *)(block - HELD_SIZE))->buffer : NULL;
}

void call_release_python(struct call *call)
{
    call->thread = PyEval_SaveThread();
}

void call_take_python(struct call *call)
{
    PyEval_RestoreThread(call->thread);
    call->thread = NULL;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* True where it wants the run to stop. */
static bool tell(struct call *call, const esra_info *so_far)
{
    PyObject *info = info_to_dictionary(so_far);
    PyObject *answer = info ? PyObject_CallFunctionObjArgs(call->progress, info, NULL) : NULL;
    int enough = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    Py_XDECREF(info);
    call->raised = call->raised || enough < 0;
    return enough > 0;
}

int call_progress(void *user, const esra_info *so_far)
{
    struct call *call = user;
    bool told = call->progress && call->progress != Py_None, enough = false;
    double now = now_s();
    if (call->raised)
        return -1;
    if (!told && now - call->heard_s < HEAR_EVERY_S)
        return 0;
    call->heard_s = now;
    call_take_python(call);
    call->raised = PyErr_CheckSignals() != 0;
    if (told && !call->raised)
        enough = tell(call, so_far);
    call_release_python(call);
    return call->raised ? -1 : enough;
}

esra_solver *call_solver(struct call *call)
{
    esra_solver *solver;
    esra_status status = esra_solver_create(&solver);
    if (!call_check(call, status, esra_solver_message(solver)))
        return NULL;
    esra_solver_set_progress(solver, call_progress, call);
    return solver;
}

bool call_done(struct call *call, esra_status status, const char *message)
{
    call_take_python(call);
    return !call->raised && call_check(call, status, message);
}
