/* synth/settings.h - what a scene can have, complete and in range. */
#ifndef ESRA_SYNTH_SETTINGS_H
#define ESRA_SYNTH_SETTINGS_H

#include "base/status.h"

/* *out = what the caller set (NULL: nothing), defaults where its struct is older than ours. Fails with the name, the
 * value and the range of the first setting that is out of it. */
esra_status esra_synth_settings_check(esra_synth_settings *out, const esra_synth_settings *caller,
                                      struct message *message);

#endif
