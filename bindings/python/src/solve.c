/* solve.c - solve(): the paper's problem. Python passes the arrays to be filled. */
#include "binding.h"

static bool take_problem(struct call *call, esra_problem *problem, PyObject *mixtures, PyObject *given)
{
    double *mixing = NULL;
    Py_ssize_t m = PySequence_Size(mixtures);
    if (m < 0 || (m > 1000000 && !call_fail(call, "there are %zd mixtures: a million at most", m)))
        return false;
    problem->photos = (int)m;
    problem->mixtures = images_take(call, mixtures, m, false, "mixtures");
    bool good = problem->mixtures && numbers_wish(call, &mixing, given, "mixing", m, false) &&
                images_wish(call, &problem->gradients, given, "gradients", 2 * (m + 1), false) &&
                images_wish(call, &problem->weights, given, "weights", m, false) &&
                images_wish(call, &problem->start_layers, given, "start_layers", m + 1, false) &&
                images_wish(call, &problem->start_duals, given, "start_duals", 2 * (m + 1), false);
    problem->mixing = mixing;
    return good;
}

static bool take_room(struct call *call, esra_result *result, PyObject *room, Py_ssize_t m)
{
    return images_wish(call, &result->layers, room, "layers", m + 1, true) &&
           images_wish(call, &result->duals, room, "duals", 2 * (m + 1), true);
}

/* solve(mixtures, given, settings, room, progress): fills the room, returns the info. */
FUNCTION(binding_solve)
{
    struct call call = {.state = PyModule_GetState(module)};
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    esra_info info = ESRA_INFO_INIT;
    esra_settings settings;
    PyObject *mixtures, *given, *options, *room;
    esra_settings_default(&settings);
    if (!PyArg_ParseTuple(arguments, "OO!O!O!O", &mixtures, &PyDict_Type, &given, &PyDict_Type, &options, &PyDict_Type,
                          &room, &call.progress) ||
        !settings_take(&call, &settings, options) || !take_problem(&call, &problem, mixtures, given) ||
        !take_room(&call, &result, room, problem.photos))
        return call_end(&call, NULL);
    esra_solver *solver = call_solver(&call);
    if (!solver)
        return call_end(&call, NULL);
    call_release_python(&call);
    esra_status status = esra_solver_run(solver, &problem, &settings, &result, &info);
    bool good = call_done(&call, status, esra_solver_message(solver));
    esra_solver_free(&solver);
    return call_end(&call, good ? info_to_dictionary(&info) : NULL);
}
