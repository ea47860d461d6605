/* tools/esra/reading.h - what every command that reads photos takes, and the colours of what it reads. */
#ifndef ESRA_TOOL_READING_H
#define ESRA_TOOL_READING_H

#include "colour/light.h"
#include "colour/primaries.h"
#include "command.h"
#include "io/photo.h"

struct reading {
    bool no_limits, untrusted;
};

/* Two rows of a table of options; AT is the offset of the struct reading among them. */
#define READING_OPTIONS(AT)                                                                                            \
    {"no-limits",                                                                                                      \
     0,                                                                                                                \
     OPTION_FLAG,                                                                                                      \
     NULL,                                                                                                             \
     (AT) + offsetof(struct reading, no_limits),                                                                       \
     false,                                                                                                            \
     "accept photos of any size, number and amount of metadata"},                                                      \
    {                                                                                                                  \
        "untrusted", 0, OPTION_FLAG, NULL, (AT) + offsetof(struct reading, untrusted), false,                          \
            "decode each photo in a sandboxed process that can read that file and nothing else"                        \
    }

/* EXIT_USAGE, said in a line, where this build cannot do what is asked for. */
enum exit_code reading_take(const struct reading *reading, const char *command, struct read_options *options);

/* The light of a photo by the profile that was read with one of so many channels. */
esra_status reading_light(struct light *light, const struct photo *photo, int channels, struct message *message);

/* The primaries that go with it: the profile's own where its curves are used, else sRGB's. */
struct primaries reading_primaries(const struct light *light, const struct photo *photo);

#endif
