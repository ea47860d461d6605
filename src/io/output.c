/* io/output.c - bytes on their way into a file or memory. output_file.c has the files. */
#include "io/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Written at once: a tenth of a second on a slow disk. */
#define PIECE ((size_t)4 << 20)

void esra_output_memory(struct output *output)
{
    *output = (struct output){.fd = -1, .name = "memory", .in_memory = true};
}

static esra_status append(struct output *output, const void *bytes, size_t size, struct message *message)
{
    if (output->memory_room - output->memory_size < size) {
        size_t room = 2 * output->memory_room + size + 4096;
        unsigned char *larger = room > size ? realloc(output->memory, room) : NULL;
        if (!larger)
            return esra_fail_memory(message);
        output->memory = larger;
        output->memory_room = room;
    }
    memcpy(output->memory + output->memory_size, bytes, size);
    output->memory_size += size;
    return ESRA_OK;
}

esra_status esra_output_write(struct output *output, const void *bytes, size_t size, struct message *message)
{
    const char *from = bytes;
    if (output->in_memory)
        return append(output, bytes, size, message);
    while (size > 0) {
        if (output->enough && output->enough())
            return esra_fail(message, ESRA_IO_ERROR, "writing %s was interrupted", output->name);
        ssize_t written = write(output->fd, from, size < PIECE ? size : PIECE);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", output->name, strerror(errno));
        from += written;
        size -= (size_t)written;
    }
    return ESRA_OK;
}

struct bytes esra_output_take(struct output *output)
{
    struct bytes bytes = {output->memory, output->memory_size};
    output->memory = NULL;
    output->memory_size = output->memory_room = 0;
    return bytes;
}

void esra_output_discard(struct output *output)
{
    if (output->fd >= 0 && !output->standard)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    free(output->acl);
    free(output->memory);
    *output = (struct output){.fd = -1, .name = output->name};
}
