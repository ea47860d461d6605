/* names.c - words for the values of the public enums, from the tables of esra.h and warnings.def. */
#include <esra/esra.h>

#define NAME(value, word)                                                                                              \
    case value: return word;

const char *esra_motion_name(esra_motion motion)
{
    switch (motion) {
        ESRA_MOTIONS(NAME)
    }
    return "unknown motion";
}

const char *esra_light_name(esra_light light)
{
    switch (light) {
        ESRA_LIGHTS(NAME)
    }
    return "unknown light";
}

const char *esra_effort_name(esra_effort effort)
{
    switch (effort) {
        ESRA_EFFORTS(NAME)
    }
    return "unknown effort";
}

const char *esra_method_name(esra_method method)
{
    switch (method) {
        ESRA_METHODS(NAME)
    }
    return "unknown method";
}

const esra_warning_row *esra_warning_table(size_t *count)
{
    static const esra_warning_row table[] = {
#define ESRA_WARNING(name, bit, id, text, advice) {1u << bit, id, text, advice},
#include <esra/warnings.def>
    };
    *count = sizeof table / sizeof table[0];
    return table;
}
