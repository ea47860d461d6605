/* base/options.c - structs whose fields stand in a table: defaults and ranges. */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

double esra_option_read(const void *all, const esra_setting *row)
{
    const char *field = (const char *)all + row->offset;
    double real;
    unsigned long long seed;
    int whole;
    if (row->type == ESRA_TYPE_REAL)
        return memcpy(&real, field, sizeof real), real;
    if (row->type == ESRA_TYPE_SEED)
        return memcpy(&seed, field, sizeof seed), (double)seed;
    return memcpy(&whole, field, sizeof whole), whole;
}

static void write_field(void *all, const esra_setting *row, double real)
{
    char *field = (char *)all + row->offset;
    unsigned long long seed = (unsigned long long)real;
    int whole = (int)real;
    if (row->type == ESRA_TYPE_REAL)
        memcpy(field, &real, sizeof real);
    else if (row->type == ESRA_TYPE_SEED)
        memcpy(field, &seed, sizeof seed);
    else
        memcpy(field, &whole, sizeof whole);
}

static void set_size(void *all, size_t size)
{
    memcpy(all, &size, sizeof size);
}

void esra_options_default(const struct options *options, void *all)
{
    memset(all, 0, options->size);
    set_size(all, options->size);
    for (size_t n = 0; n < options->count; n++)
        write_field(all, &options->rows[n], options->rows[n].default_value);
}

void esra_options_hand_out(const struct options *options, const void *all, void *to, size_t struct_size)
{
    size_t known = struct_size < options->size ? struct_size : options->size;
    memcpy(to, all, known);
    memset((char *)to + known, 0, struct_size - known);
    if (known >= sizeof known)
        set_size(to, known);
}

bool esra_options_take(const struct options *options, const void *caller, void *all)
{
    size_t callers = 0;
    esra_options_default(options, all);
    if (!caller)
        return true;
    memcpy(&callers, caller, sizeof callers);
    if (callers < sizeof callers)
        return false;
    memcpy(all, caller, callers < options->size ? callers : options->size);
    return true;
}

/* Whether "0|8|16" has the number. */
static bool is_among(double value, const char *numbers)
{
    for (const char *at = numbers; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strtod(at, NULL) == value)
            return true;
    return false;
}

esra_status esra_options_check(const struct options *options, const void *all, struct message *message)
{
    for (size_t n = 0; n < options->count; n++) {
        const esra_setting *row = &options->rows[n];
        double value = esra_option_read(all, row);
        if (!(value >= row->lowest && value <= row->highest))
            return esra_fail(message, ESRA_BAD_ARGUMENT, "%s is %.10g: it must lie in [%.10g, %.10g]", row->name, value,
                             row->lowest, row->highest);
        if (row->type == ESRA_TYPE_ONE_OF && !is_among(value, row->names))
            return esra_fail(message, ESRA_BAD_ARGUMENT, "%s is %.10g: it must be one of %s", row->name, value,
                             row->names);
    }
    return ESRA_OK;
}
