/* settings.c - defaults and range checks, all from settings.def. */
#include "settings.h"

#include <string.h>

static const esra_setting table[] = {
#define ESRA_REAL(field, default_, lowest, highest, unit, help) \
    {#field, ESRA_TYPE_REAL, offsetof(esra_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_COUNT(field, default_, lowest, highest, unit, help) \
    {#field, ESRA_TYPE_COUNT, offsetof(esra_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_TOGGLE(field, default_, help) \
    {#field, ESRA_TYPE_TOGGLE, offsetof(esra_settings, field), default_, 0, 1, "", NULL, help},
#define ESRA_CHOICE(field, default_, last, names, help) \
    {#field, ESRA_TYPE_CHOICE, offsetof(esra_settings, field), default_, 0, last, "", names, help},
#include <esra/settings.def>
};

#define ROWS (sizeof table / sizeof table[0])

const esra_setting *esra_settings_table(size_t *count)
{
    *count = ROWS;
    return table;
}

static double read_field(const esra_settings *settings, const esra_setting *row)
{
    const char *field = (const char *)settings + row->offset;
    double real;
    int whole;
    if (row->type == ESRA_TYPE_REAL)
        return memcpy(&real, field, sizeof real), real;
    return memcpy(&whole, field, sizeof whole), whole;
}

static void write_default(esra_settings *settings, const esra_setting *row)
{
    char *field = (char *)settings + row->offset;
    double real = row->default_value;
    int whole = (int)row->default_value;
    if (row->type == ESRA_TYPE_REAL)
        memcpy(field, &real, sizeof real);
    else
        memcpy(field, &whole, sizeof whole);
}

/* A caller built against another header has a struct of another size. */
static void hand_out(esra_settings *settings, size_t struct_size, esra_settings *all)
{
    if (struct_size > sizeof *all) {
        memset((char *)settings + sizeof *all, 0, struct_size - sizeof *all);
        struct_size = sizeof *all;
    }
    all->struct_size = struct_size;
    memcpy(settings, all, struct_size);
}

static void set_defaults(esra_settings *all)
{
    memset(all, 0, sizeof *all);
    for (size_t n = 0; n < ROWS; n++)
        write_default(all, &table[n]);
}

void esra_settings_init(esra_settings *settings, size_t struct_size)
{
    esra_settings all;
    set_defaults(&all);
    hand_out(settings, struct_size, &all);
}

void esra_settings_separation_init(esra_settings *settings, size_t struct_size)
{
    esra_settings all;
    set_defaults(&all);
#define ESRA_SEPARATING(field, value) all.field = value;
#include <esra/settings.def>
    hand_out(settings, struct_size, &all);
}

esra_status esra_settings_check(esra_settings *out, const esra_settings *caller, struct message *message)
{
    esra_settings_default(out);
    if (caller && caller->struct_size < sizeof caller->struct_size)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "settings were not initialised: call esra_settings_default() first");
    if (caller)
        memcpy(out, caller, caller->struct_size < sizeof *out ? caller->struct_size : sizeof *out);
    for (size_t n = 0; n < ROWS; n++) {
        const esra_setting *row = &table[n];
        double value = read_field(out, row);
        if (!(value >= row->lowest && value <= row->highest))
            return esra_fail(message, ESRA_BAD_ARGUMENT, "%s is %.10g: it must lie in [%.10g, %.10g]", row->name, value,
                             row->lowest, row->highest);
    }
    return ESRA_OK;
}
