/* settings.h - the settings of a run, complete and in range. */
#ifndef ESRA_SETTINGS_H
#define ESRA_SETTINGS_H

#include "base/status.h"

/* *out = what the caller set (NULL: nothing), defaults where its struct is older than ours. Fails with the name, the
 * value and the range of the first setting that is out of it. */
esra_status esra_settings_check(esra_settings *out, const esra_settings *caller, struct message *message);

/* Fails likewise where an option of photos.def is out of its range. */
esra_status esra_photos_check(const esra_photos *photos, struct message *message);

#endif
