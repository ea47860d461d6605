/* fields.c - the library's structs as dictionaries, by tables of their fields. */
#include "binding.h"

#include <string.h>

static PyObject *to_object(const void *all, const struct field *field)
{
    const char *at = (const char *)all + field->offset;
    int whole;
    long long large;
    double real;
    const char *text;
    switch (field->type) {
    case FIELD_INT: return memcpy(&whole, at, sizeof whole), PyLong_FromLong(whole);
    case FIELD_LONG_LONG: return memcpy(&large, at, sizeof large), PyLong_FromLongLong(large);
    case FIELD_REAL: return memcpy(&real, at, sizeof real), PyFloat_FromDouble(real);
    case FIELD_TEXT: return memcpy(&text, at, sizeof text), PyUnicode_FromString(text ? text : "");
    }
    return NULL;
}

PyObject *fields_to_dictionary(const void *all, const struct field *fields)
{
    PyObject *dictionary = PyDict_New();
    for (const struct field *field = fields; dictionary && field->name; field++) {
        PyObject *value = to_object(all, field);
        bool good = value && PyDict_SetItemString(dictionary, field->name, value) == 0;
        Py_XDECREF(value);
        if (!good)
            Py_CLEAR(dictionary);
    }
    return dictionary;
}

PyObject *info_to_dictionary(const esra_info *info)
{
    static const struct field fields[] = {
        FIELD_OF(esra_info, objective, REAL),
        FIELD_OF(esra_info, bound, REAL),
        FIELD_OF(esra_info, gap, REAL),
        FIELD_OF(esra_info, iterations, INT),
        FIELD_OF(esra_info, inner_iterations, LONG_LONG),
        FIELD_OF(esra_info, threads, INT),
        FIELD_OF(esra_info, seconds, REAL),
        FIELD_OF(esra_info, stage, TEXT),
        FIELD_OF(esra_info, certificate_seconds, REAL),
        FIELD_OF(esra_info, remaining_seconds, REAL),
        {NULL, FIELD_INT, 0},
    };
    PyObject *dictionary = fields_to_dictionary(info, fields);
    PyObject *outcome = dictionary ? PyUnicode_FromString(esra_outcome_name(info->outcome)) : NULL;
    if (!outcome || PyDict_SetItemString(dictionary, "outcome", outcome) != 0)
        Py_CLEAR(dictionary);
    Py_XDECREF(outcome);
    return dictionary;
}
