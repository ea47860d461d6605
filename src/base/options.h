/* base/options.h - structs whose fields stand in a table, as esra_settings' do in settings.def: defaults and ranges. */
#ifndef ESRA_BASE_OPTIONS_H
#define ESRA_BASE_OPTIONS_H

#include <stdbool.h>

#include "base/status.h"

struct options {
    const esra_setting *rows;
    size_t count;
    size_t size; /* of the struct that they describe, whose first field is struct_size */
};

/* The field of a struct that a row describes. */
double esra_option_read(const void *all, const esra_setting *row);

/* Fills all of the struct: zeros, then the defaults. */
void esra_options_default(const struct options *options, void *all);

/* Fills the first struct_size bytes of a caller's struct, which may be older or newer than ours. */
void esra_options_hand_out(const struct options *options, const void *all, void *to, size_t struct_size);

/* all = what the caller set (NULL: nothing), defaults where its struct is older than ours; false where it was not
 * initialised. */
bool esra_options_take(const struct options *options, const void *caller, void *all);

/* Fails with the name, the value and the range of the first option that is out of it. */
esra_status esra_options_check(const struct options *options, const void *all, struct message *message);

#endif
