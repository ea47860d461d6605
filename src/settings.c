/* settings.c - defaults and range checks, from settings.def and photos.def. */
#include "settings.h"

#include "base/options.h"

static const esra_setting rows[] = {
#define ESRA_REAL(field, default_, lowest, highest, unit, help)                                                        \
    {#field, ESRA_TYPE_REAL, offsetof(esra_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_COUNT(field, default_, lowest, highest, unit, help)                                                       \
    {#field, ESRA_TYPE_COUNT, offsetof(esra_settings, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_TOGGLE(field, default_, help)                                                                             \
    {#field, ESRA_TYPE_TOGGLE, offsetof(esra_settings, field), default_, 0, 1, "", NULL, help},
#define ESRA_CHOICE(field, default_, last, names, help)                                                                \
    {#field, ESRA_TYPE_CHOICE, offsetof(esra_settings, field), default_, 0, last, "", names, help},
#include <esra/settings.def>
};

static const struct options table = {rows, sizeof rows / sizeof rows[0], sizeof(esra_settings)};

const esra_setting *esra_settings_table(size_t *count)
{
    *count = table.count;
    return rows;
}

void esra_settings_init(esra_settings *settings, size_t struct_size)
{
    esra_settings all;
    esra_options_default(&table, &all);
    esra_options_hand_out(&table, &all, settings, struct_size);
}

void esra_settings_separation_init(esra_settings *settings, size_t struct_size)
{
    esra_settings all;
    esra_options_default(&table, &all);
#define ESRA_SEPARATING(field, value) all.field = value;
#include <esra/settings.def>
    esra_options_hand_out(&table, &all, settings, struct_size);
}

esra_status esra_settings_check(esra_settings *out, const esra_settings *caller, struct message *message)
{
    if (!esra_options_take(&table, caller, out))
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "settings were not initialised: call esra_settings_default() first");
    return esra_options_check(&table, out, message);
}

/* ---- Options of photos ---- */

static const esra_setting photos_rows[] = {
#define ESRA_COUNT(field, default_, lowest, highest, unit, help)                                                       \
    {#field, ESRA_TYPE_COUNT, offsetof(esra_photos, field), default_, lowest, highest, unit, NULL, help},
#define ESRA_TOGGLE(field, default_, help)                                                                             \
    {#field, ESRA_TYPE_TOGGLE, offsetof(esra_photos, field), default_, 0, 1, "", NULL, help},
#define ESRA_CHOICE(field, default_, last, names, help)                                                                \
    {#field, ESRA_TYPE_CHOICE, offsetof(esra_photos, field), default_, 0, last, "", names, help},
#include <esra/photos.def>
};

static const struct options photos_table = {photos_rows, sizeof photos_rows / sizeof photos_rows[0],
                                            sizeof(esra_photos)};

const esra_setting *esra_photos_table(size_t *count)
{
    *count = photos_table.count;
    return photos_rows;
}

void esra_photos_init(esra_photos *photos, size_t struct_size)
{
    esra_photos all;
    esra_options_default(&photos_table, &all);
    esra_options_hand_out(&photos_table, &all, photos, struct_size);
}

esra_status esra_photos_check(const esra_photos *photos, struct message *message)
{
    return esra_options_check(&photos_table, photos, message);
}
