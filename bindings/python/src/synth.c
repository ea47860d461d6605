/* synth.c - synth(): photos through glass whose truth is known. Python passes the arrays to be filled. */
#include "binding.h"

/* A scene to be made: two pictures, depths of them, and room for the answer. */
struct scene {
    esra_image pictures[2], depths[2];
    esra_synth_settings settings;
    esra_synth_result result;
};

static bool take_settings(struct call *call, struct scene *s, PyObject *options)
{
    size_t count;
    const esra_setting *rows = esra_synth_table(&count);
    esra_synth_settings_default(&s->settings);
    s->settings.progress = call_progress;
    s->settings.user = call;
    return options_take(call, &s->settings, rows, count, options);
}

static bool take_depths(struct call *call, struct scene *s, PyObject *given)
{
    bool good = image_wish(call, &s->depths[0], given, "transmitted_depth", false) &&
                image_wish(call, &s->depths[1], given, "reflected_depth", false);
    s->settings.transmitted_depth = s->depths[0].data ? &s->depths[0] : NULL;
    s->settings.reflected_depth = s->depths[1].data ? &s->depths[1] : NULL;
    return good;
}

static bool take_room(struct call *call, struct scene *s, PyObject *room)
{
    esra_synth_result *r = &s->result;
    Py_ssize_t m = s->settings.photos;
    double *cameras = NULL;
    *r = (esra_synth_result)ESRA_SYNTH_RESULT_INIT;
    bool good = images_wish(call, &r->photos, room, "photos", m, true) &&
                image_wish(call, &r->transmitted, room, "transmitted", true) &&
                image_wish(call, &r->reflected, room, "reflected", true) &&
                transforms_wish(call, &r->transmitted_motion, room, "transmitted_motion", m, true) &&
                transforms_wish(call, &r->reflected_motion, room, "reflected_motion", m, true) &&
                numbers_wish(call, &r->mixing, room, "mixing", m, true) &&
                numbers_wish(call, &r->reflection_gain, room, "reflection_gain", m, true) &&
                numbers_wish(call, &cameras, room, "cameras", 12 * m, true) &&
                image_wish(call, &r->transmitted_inverse, room, "transmitted_inverse", true) &&
                image_wish(call, &r->reflected_inverse, room, "reflected_inverse", true);
    r->cameras = (esra_camera *)(void *)cameras; /* a rotation and a translation: twelve doubles and nothing else */
    return good;
}

/* synth(transmitted, reflected, depths, options, room, progress): fills the room, returns the focal length in px. */
FUNCTION(binding_synth)
{
    struct call call = {.state = PyModule_GetState(module)};
    struct scene s = {0};
    PyObject *t, *r, *depths, *options, *room;
    if (!PyArg_ParseTuple(arguments, "OOO!O!O!O", &t, &r, &PyDict_Type, &depths, &PyDict_Type, &options, &PyDict_Type,
                          &room, &call.progress) ||
        !image_take(&call, &s.pictures[0], t, false, "the transmitted picture") ||
        !image_take(&call, &s.pictures[1], r, false, "the reflected picture") || !take_settings(&call, &s, options) ||
        !take_depths(&call, &s, depths) || !take_room(&call, &s, room))
        return call_end(&call, NULL);
    call_release_python(&call);
    esra_status status = esra_synth(&s.pictures[0], &s.pictures[1], &s.settings, &s.result);
    bool good = call_done(&call, status, s.result.message);
    return call_end(&call, good ? PyFloat_FromDouble(s.result.focal_px) : NULL);
}
