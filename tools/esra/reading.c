/* tools/esra/reading.c - what every command that reads photos takes. */
#include "reading.h"

#include <string.h>

enum exit_code reading_take(const struct reading *reading, const char *command, struct read_options *options)
{
    *options = (struct read_options)READ_OPTIONS_DEFAULT;
    if (reading->no_limits)
        options->limits = (struct limits)LIMITS_NONE;
    options->untrusted = reading->untrusted;
    if (reading->untrusted && !esra_photo_can_distrust())
        return complain(EXIT_USAGE, command,
                        "--untrusted: this esra was built without libseccomp; install libseccomp-dev "
                        "and build again");
    return EXIT_DONE;
}

static struct primaries own_primaries(const struct photo *photo)
{
    struct primaries own;
    memcpy(own.xyz, photo->primaries, sizeof own.xyz);
    return own;
}

esra_status reading_light(struct light *light, const struct photo *photo, int channels, struct message *message)
{
    struct primaries own = own_primaries(photo);
    bool fits = photo->curves && photo->curve_channels == channels && (channels == 1 || esra_primaries_usable(&own));
    return esra_light_choose(light, photo->icc.size > 0, channels, fits ? esra_photo_curve : NULL, photo, message);
}

struct primaries reading_primaries(const struct light *light, const struct photo *photo)
{
    return light->origin == LIGHT_PROFILE && photo->curve_channels == 3 ? own_primaries(photo)
                                                                        : (struct primaries)PRIMARIES_SRGB;
}
