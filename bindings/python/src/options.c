/* options.c - the library's tables: what can be set, warnings and evidence, told to Python; and a struct's options set
 * by what Python passes. A new row of a table needs no line here. */
#include "binding.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* ---- From Python ---- */

static const esra_setting *find_row(const esra_setting *rows, size_t count, const char *name)
{
    for (const esra_setting *row = rows; row < rows + count; row++)
        if (strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* The library's own sentence, for what does not even fit the field. */
static bool fail_range(struct call *call, const esra_setting *row, PyObject *value)
{
    char range[64];
    snprintf(range, sizeof range, "[%.10g, %.10g]", row->lowest, row->highest);
    return call_fail(call, "%s is %R: it must lie in %s", row->name, value, range);
}

/* After a conversion that failed: a value of another type, or a number past all ranges. What else it may have raised,
 * such as an error of the value's own, is passed on. */
static bool fail_conversion(struct call *call, const esra_setting *row, PyObject *value, const char *wanted)
{
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        return fail_range(call, row, value);
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s is %R: %s is needed", row->name, value, wanted);
    return false;
}

static bool set_real(struct call *call, const esra_setting *row, PyObject *value, void *field)
{
    double real = PyFloat_AsDouble(value);
    if (real == -1 && PyErr_Occurred())
        return fail_conversion(call, row, value, "a number");
    if (!(real >= row->lowest && real <= row->highest))
        return fail_range(call, row, value);
    memcpy(field, &real, sizeof real);
    return true;
}

static bool set_whole(struct call *call, const esra_setting *row, PyObject *value, void *field)
{
    int overflow, whole;
    PyObject *index = PyNumber_Index(value);
    long long large = index ? PyLong_AsLongLongAndOverflow(index, &overflow) : -1;
    Py_XDECREF(index);
    if (!index || (large == -1 && PyErr_Occurred()))
        return fail_conversion(call, row, value, "a whole number");
    if (overflow || (double)large < row->lowest || (double)large > row->highest)
        return fail_range(call, row, value);
    whole = (int)large;
    memcpy(field, &whole, sizeof whole);
    return true;
}

/* The index of a word among those of "paper|fast"; -1: not there. */
static int word_index(const char *words, const char *word)
{
    size_t length = strlen(word);
    int index = 0;
    for (const char *at = words; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL, index++)
        if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == '\0') && !strchr(word, '|'))
            return index;
    return -1;
}

static bool set_choice(struct call *call, const esra_setting *row, PyObject *value, void *field)
{
    PyObject *bytes = PyUnicode_Check(value) ? PyUnicode_AsEncodedString(value, "utf-8", "surrogatepass") : NULL;
    const char *word = bytes ? PyBytes_AsString(bytes) : NULL;
    int index = word ? word_index(row->names, word) : -1;
    Py_XDECREF(bytes);
    if (index < 0 && PyErr_Occurred())
        return false;
    if (index < 0)
        return call_fail(call, "%s is %R: it must be one of %s", row->name, value, row->names);
    memcpy(field, &index, sizeof index);
    return true;
}

static bool set_seed(struct call *call, const esra_setting *row, PyObject *value, void *field)
{
    PyObject *index = PyNumber_Index(value);
    unsigned long long seed = index ? PyLong_AsUnsignedLongLong(index) : 0;
    Py_XDECREF(index);
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return fail_conversion(call, row, value, "a whole number");
    if (PyErr_Occurred()) {
        PyErr_Clear();
        return call_fail(call, "%s is %R: it must lie in [0, 2^64)", row->name, value);
    }
    memcpy(field, &seed, sizeof seed);
    return true;
}

static bool set_option(struct call *call, void *all, const esra_setting *row, PyObject *value)
{
    void *field = (char *)all + row->offset;
    switch (row->type) {
    case ESRA_TYPE_REAL: return set_real(call, row, value, field);
    case ESRA_TYPE_CHOICE: return set_choice(call, row, value, field);
    case ESRA_TYPE_SEED: return set_seed(call, row, value, field);
    case ESRA_TYPE_COUNT:
    case ESRA_TYPE_TOGGLE:
    case ESRA_TYPE_ONE_OF: break;
    }
    return set_whole(call, row, value, field);
}

bool options_take(struct call *call, void *all, const esra_setting *rows, size_t count, PyObject *dictionary)
{
    PyObject *key, *value;
    Py_ssize_t at = 0;
    bool good = true;
    if (!PyDict_Check(dictionary))
        return call_fail(call, "options are a dictionary");
    while (good && PyDict_Next(dictionary, &at, &key, &value)) {
        PyObject *bytes = PyUnicode_AsUTF8String(key), *owned = value;
        const esra_setting *row = bytes ? find_row(rows, count, PyBytes_AsString(bytes)) : NULL;
        Py_INCREF(owned);
        good = row ? set_option(call, all, row, owned) : bytes && call_fail(call, "there is no option %R", key);
        Py_DECREF(owned);
        Py_XDECREF(bytes);
    }
    return good;
}

bool settings_take(struct call *call, esra_settings *settings, PyObject *dictionary)
{
    size_t count;
    const esra_setting *rows = esra_settings_table(&count);
    return options_take(call, settings, rows, count, dictionary);
}

/* ---- To Python ---- */

/* The value of a row's field, as it stands in a struct that has the defaults. */
static PyObject *default_of(const void *all, const esra_setting *row)
{
    struct field field = {row->name, row->type == ESRA_TYPE_REAL ? FIELD_REAL : FIELD_INT, row->offset};
    field.type = row->type == ESRA_TYPE_SEED ? FIELD_LONG_LONG : field.type;
    const struct field fields[] = {field, {NULL, FIELD_INT, 0}};
    PyObject *dictionary = fields_to_dictionary(all, fields);
    PyObject *value = dictionary ? PyDict_GetItemString(dictionary, row->name) : NULL;
    Py_XINCREF(value);
    Py_XDECREF(dictionary);
    return value;
}

static PyObject *row_to_tuple(const void *defaults, const esra_setting *row)
{
    static const char *const types[] = {
        [ESRA_TYPE_REAL] = "real",     [ESRA_TYPE_COUNT] = "count",   [ESRA_TYPE_TOGGLE] = "toggle",
        [ESRA_TYPE_CHOICE] = "choice", [ESRA_TYPE_ONE_OF] = "one of", [ESRA_TYPE_SEED] = "seed"};
    PyObject *value = default_of(defaults, row);
    return value ? Py_BuildValue("(ssNddszs)", row->name, types[row->type], value, row->lowest, row->highest, row->unit,
                                 row->names, row->help)
                 : NULL;
}

/* Appends the item, whose reference it takes; a list that failed before stays NULL. */
static void append(PyObject **list, PyObject *item)
{
    if (*list && (!item || PyList_Append(*list, item) != 0))
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

static PyObject *rows_to_list(const void *defaults, const esra_setting *rows, size_t count)
{
    PyObject *list = PyList_New(0);
    for (const esra_setting *row = rows; list && row < rows + count; row++)
        append(&list, row_to_tuple(defaults, row));
    return list;
}

static PyObject *settings_to_list(bool separating)
{
    esra_settings settings;
    size_t count;
    const esra_setting *rows = esra_settings_table(&count);
    if (separating)
        esra_settings_for_separation(&settings);
    else
        esra_settings_default(&settings);
    return rows_to_list(&settings, rows, count);
}

static PyObject *photos_to_list(void)
{
    esra_photos photos;
    size_t count;
    const esra_setting *rows = esra_photos_table(&count);
    esra_photos_default(&photos);
    return rows_to_list(&photos, rows, count);
}

static PyObject *synth_to_list(void)
{
    esra_synth_settings synth;
    size_t count;
    const esra_setting *rows = esra_synth_table(&count);
    esra_synth_settings_default(&synth);
    return rows_to_list(&synth, rows, count);
}

static PyObject *warnings_to_list(void)
{
    size_t count;
    const esra_warning_row *rows = esra_warning_table(&count);
    PyObject *list = PyList_New(0);
    for (const esra_warning_row *row = rows; list && row < rows + count; row++)
        append(&list, Py_BuildValue("(Isss)", row->bit, row->id, row->text, row->advice));
    return list;
}

static PyObject *evidence_to_list(void)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    PyObject *list = PyList_New(0);
    for (const esra_evidence_row *row = rows; list && row < rows + count; row++)
        append(&list, Py_BuildValue("(ssi)", row->name, row->meaning, row->of_photo));
    return list;
}

FUNCTION(binding_tables)
{
    (void)module;
    if (!PyArg_ParseTuple(arguments, ""))
        return NULL;
    return Py_BuildValue("{sNsNsNsNsNsN}", "solve", settings_to_list(false), "separate", settings_to_list(true),
                         "photos", photos_to_list(), "synth", synth_to_list(), "warnings", warnings_to_list(),
                         "evidence", evidence_to_list());
}
