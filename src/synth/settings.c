/* synth/settings.c - what a scene can have: defaults and range checks, from synth.def. */
#include "synth/settings.h"

#include "base/options.h"

static const esra_setting rows[] = {
#define ESRA_REAL(field, default_, lowest, highest, unit, help)                                                        \
    {#field, ESRA_TYPE_REAL, offsetof(esra_synth_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_COUNT(field, default_, lowest, highest, unit, help)                                                       \
    {#field, ESRA_TYPE_COUNT, offsetof(esra_synth_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_TOGGLE(field, default_, help)                                                                             \
    {#field, ESRA_TYPE_TOGGLE, offsetof(esra_synth_settings, field), default_, 0, 1, "", NULL, help},
#define ESRA_ONE_OF(field, default_, highest, names, help)                                                             \
    {#field, ESRA_TYPE_ONE_OF, offsetof(esra_synth_settings, field), default_, 0, highest, "", names, help},
#define ESRA_SEED(field, default_, help)                                                                               \
    {#field, ESRA_TYPE_SEED, offsetof(esra_synth_settings, field), default_, 0, 0x1p64, "", NULL, help},
#include <esra/synth.def>
};

static const struct options table = {rows, sizeof rows / sizeof rows[0], sizeof(esra_synth_settings)};

const esra_setting *esra_synth_table(size_t *count)
{
    *count = table.count;
    return rows;
}

void esra_synth_settings_init(esra_synth_settings *settings, size_t struct_size)
{
    esra_synth_settings all;
    esra_options_default(&table, &all);
    esra_options_hand_out(&table, &all, settings, struct_size);
}

static esra_status check_range(struct message *message, const char *name, double value, double lowest, double highest)
{
    if (value >= lowest && value <= highest)
        return ESRA_OK;
    return esra_fail(message, ESRA_BAD_ARGUMENT, "%s is %g: with photos of this size it must lie in [%g, %g]", name,
                     value, lowest, highest);
}

esra_status esra_synth_settings_check(esra_synth_settings *out, const esra_synth_settings *caller,
                                      struct message *message)
{
    esra_status status;
    if (!esra_options_take(&table, caller, out))
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "the settings were not initialised: call esra_synth_settings_default() first");
    TRY(esra_options_check(&table, out, message));
    int shorter = out->width < out->height ? out->width : out->height;
    int larger = out->width > out->height ? out->width : out->height;
    /* Half a frame: beyond, photos would share nothing. */
    TRY(check_range(message, "shift_px", out->shift_px, 0, shorter / 2.));
    /* Shorter, and rays near the corners leave at more than 70 degrees. */
    if (out->depth && out->focal_px != 0)
        TRY(check_range(message, "focal_px", out->focal_px, larger / 5., 1e7));
done:
    return status;
}
