/* io/input.h - a file or standard input to read bytes from. */
#ifndef ESRA_IO_INPUT_H
#define ESRA_IO_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct input {
    int fd;
    const char *name; /* as the user gave it; "standard input" for "-" */
    int64_t left;     /* bytes still to come in a regular file; -1 where that is not known */
};

/* path "-" is standard input. */
esra_status esra_input_open(struct input *input, const char *path, struct message *message);

/* Exactly size bytes, or ESRA_BAD_DATA where the file ends before. */
esra_status esra_input_read(struct input *input, void *bytes, size_t size, struct message *message);

/* True where nothing follows. */
bool esra_input_at_end(struct input *input);

void esra_input_close(struct input *input);

#endif
