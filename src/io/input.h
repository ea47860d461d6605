/* io/input.h - a file, standard input or memory to read bytes from. */
#ifndef ESRA_IO_INPUT_H
#define ESRA_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct input {
    int fd;              /* -1: the bytes are in memory */
    const char *name;    /* as the user gave it; "standard input" for "-" */
    bool in_memory;      /* buffer is lent by the caller, and holds the whole input */
    bool pipe;           /* or a device: bytes come once, in order */
    bool keep;           /* of a pipe, remember all that was read, so that esra_input_seek() can go back */
    int64_t keep_limit;  /* bytes of a pipe to remember at most; 0: no limit */
    int64_t start, size; /* where in the file the input begins, and its bytes from there; size -1: not known (pipe) */
    int64_t position;
    unsigned char *buffer; /* the bytes [buffer_at, buffer_at + buffered) of the input */
    int64_t buffer_at;
    size_t buffered, room;
};

/* path "-" is standard input. */
esra_status esra_input_open(struct input *input, const char *path, struct message *message);

/* Bytes in memory, which must stay there until esra_input_close(); name is for messages. */
void esra_input_bytes(struct input *input, const void *bytes, size_t size, const char *name);

/* Exactly size bytes, or ESRA_BAD_DATA where the file ends before. */
esra_status esra_input_read(struct input *input, void *bytes, size_t size, struct message *message);

/* Up to size bytes; *got is less only at the end. */
esra_status esra_input_take(struct input *input, void *bytes, size_t size, size_t *got, struct message *message);

/* Lends the next bytes without copying and goes past them: *count of them, at least 1 except at the end. They stay
 * valid until the next call. */
esra_status esra_input_borrow(struct input *input, const unsigned char **bytes, size_t *count, struct message *message);

/* Any position is fine in a file, also past its end; in a pipe going back needs `keep`, and going forward reads. */
esra_status esra_input_seek(struct input *input, int64_t position, struct message *message);

/* Finds the size of a pipe that is kept, by reading it to its end; nothing to do for a file. */
esra_status esra_input_measure(struct input *input, struct message *message);

/* Refuses to keep more bytes than keep_limit. */
esra_status esra_input_check_kept(const struct input *input, int64_t bytes, struct message *message);

/* Bytes still to come; -1 where that is not known. */
int64_t esra_input_left(const struct input *input);

void esra_input_close(struct input *input);

#endif
