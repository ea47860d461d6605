/* separate.c - separate() and align(): photos in, layers and motions out. Python passes the arrays to be filled. */
#include "binding.h"

/* One separation: what is passed in, and what comes back. */
struct separation {
    Py_ssize_t count; /* of the photos */
    esra_photos photos;
    esra_settings settings;
    esra_separation result;
    esra_info info;
};

static const struct field facts_fields[] = {
    FIELD_OF(esra_photo_facts, aligned, INT),
    FIELD_OF(esra_photo_facts, explained, REAL),
    FIELD_OF(esra_photo_facts, explained_reflected, REAL),
    FIELD_OF(esra_photo_facts, overlap, REAL),
    FIELD_OF(esra_photo_facts, apart_px, REAL),
    {NULL, FIELD_INT, 0},
};

static const struct field result_fields[] = {
    FIELD_OF(esra_separation, warnings, INT),
    FIELD_OF(esra_separation, joint_objective, REAL),
    FIELD_OF(esra_separation, joint_residual, REAL),
    FIELD_OF(esra_separation, align_s, REAL),
    FIELD_OF(esra_separation, joint_s, REAL),
    FIELD_OF(esra_separation, solve_s, REAL),
    FIELD_OF(esra_separation, total_s, REAL),
    FIELD_OF(esra_separation, joint_trusted, REAL),
    FIELD_OF(esra_separation, in_roots, INT),
    FIELD_OF(esra_separation, prediction_error, REAL),
    FIELD_OF(esra_separation, prediction_base, REAL),
    FIELD_OF(esra_separation, scale, REAL),
    FIELD_OF(esra_separation, exchange_probability, REAL),
    FIELD_OF(esra_separation, taken_off, REAL),
    {NULL, FIELD_INT, 0},
};

/* The photos, and what the caller knows of them already. */
static bool take_photos(struct call *call, struct separation *s, PyObject *photos, PyObject *given)
{
    esra_transform *transmitted = NULL, *reflected = NULL;
    double *mixing = NULL;
    Py_ssize_t m = s->count;
    s->photos.photos = (int)m;
    s->photos.images = images_take(call, photos, m, false, "photos");
    bool good = s->photos.images && transforms_wish(call, &transmitted, given, "transmitted", m, false) &&
                transforms_wish(call, &reflected, given, "reflected", m, false) &&
                numbers_wish(call, &mixing, given, "mixing", m, false) &&
                images_wish(call, &s->photos.gradients, given, "gradients", 2 * (m + 1), false);
    s->photos.transmitted = transmitted;
    s->photos.reflected = reflected;
    s->photos.mixing = mixing;
    return good;
}

/* How many numbers of evidence there are of the whole, or of each photo. */
static Py_ssize_t evidence_rows(bool of_photo)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    Py_ssize_t found = 0;
    for (size_t n = 0; n < count; n++)
        found += (rows[n].of_photo != 0) == of_photo;
    return found;
}

/* Where the answer goes. */
static bool take_room(struct call *call, struct separation *s, PyObject *room)
{
    esra_separation *r = &s->result;
    Py_ssize_t m = s->count;
    r->facts = call_allocate(call, (size_t)m, sizeof *r->facts);
    r->info = &s->info;
    return r->facts && image_wish(call, &r->transmitted, room, "transmitted", true) &&
           images_wish(call, &r->reflected, room, "reflected", m, true) &&
           image_wish(call, &r->confidence, room, "confidence", true) &&
           transforms_wish(call, &r->transmitted_motion, room, "transmitted_motion", m, true) &&
           transforms_wish(call, &r->reflected_motion, room, "reflected_motion", m, true) &&
           numbers_wish(call, &r->mixing, room, "mixing", m, true) &&
           numbers_wish(call, &r->reflection_gain, room, "reflection_gain", m, true) &&
           numbers_wish(call, &r->evidence, room, "evidence", evidence_rows(false), true) &&
           numbers_wish(call, &r->photo_evidence, room, "photo_evidence", m * evidence_rows(true), true);
}

static bool take_arguments(struct call *call, struct separation *s, PyObject *arguments)
{
    PyObject *photos, *given, *options, *settings, *room;
    size_t count;
    const esra_setting *rows = esra_photos_table(&count);
    if (!PyArg_ParseTuple(arguments, "OO!O!O!O!O", &photos, &PyDict_Type, &given, &PyDict_Type, &options, &PyDict_Type,
                          &settings, &PyDict_Type, &room, &call->progress))
        return false;
    s->count = PySequence_Size(photos);
    if (s->count < 0)
        return false;
    if (s->count > 1000000)
        return call_fail(call, "there are %zd photos: a million at most", s->count);
    s->info = (esra_info)ESRA_INFO_INIT;
    s->result = (esra_separation)ESRA_SEPARATION_INIT;
    esra_photos_default(&s->photos);
    esra_settings_for_separation(&s->settings);
    return options_take(call, &s->photos, rows, count, options) && settings_take(call, &s->settings, settings) &&
           take_photos(call, s, photos, given) && take_room(call, s, room);
}

typedef esra_status library_call(esra_solver *, const esra_photos *, const esra_settings *, esra_separation *);

static bool run(struct call *call, struct separation *s, library_call *work)
{
    esra_solver *solver = call_solver(call);
    if (!solver)
        return false;
    call_release_python(call);
    esra_status status = work(solver, &s->photos, &s->settings, &s->result);
    bool good = call_done(call, status, esra_solver_message(solver));
    esra_solver_free(&solver);
    return good;
}

static PyObject *facts_to_list(const struct separation *s)
{
    PyObject *list = PyList_New(s->count);
    for (Py_ssize_t i = 0; list && i < s->count; i++) {
        PyObject *facts = fields_to_dictionary(&s->result.facts[i], facts_fields);
        if (!facts || PyList_SetItem(list, i, facts) != 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *to_dictionary(const struct separation *s)
{
    PyObject *result = fields_to_dictionary(&s->result, result_fields);
    PyObject *rest =
        Py_BuildValue("{sNsNssss}", "info", info_to_dictionary(&s->info), "facts", facts_to_list(s), "method",
                      esra_method_name(s->result.method), "motion", esra_motion_name(s->result.motion));
    if (!rest || !result || PyDict_Update(result, rest) != 0)
        Py_CLEAR(result);
    Py_XDECREF(rest);
    return result;
}

static PyObject *separate(PyObject *module, PyObject *arguments, library_call *work)
{
    struct call call = {.state = PyModule_GetState(module)};
    struct separation s = {0};
    bool good = take_arguments(&call, &s, arguments) && run(&call, &s, work);
    return call_end(&call, good ? to_dictionary(&s) : NULL);
}

/* separate(photos, given, options, settings, room, progress): fills the room, returns the rest as a dictionary. */
FUNCTION(binding_separate)
{
    return separate(module, arguments, esra_solver_separate);
}

FUNCTION(binding_align)
{
    return separate(module, arguments, esra_solver_align);
}
