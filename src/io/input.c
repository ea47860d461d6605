/* io/input.c - a file, standard input or memory to read bytes from. Files are read where they stand (pread), so that
 * decoders may jump about; of a pipe, what was read is kept where a decoder may want it again. Bytes in memory are a
 * buffer that is full from the start and never filled again. */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes asked of the system at once: beyond 64 KiB larger reads gain nothing measurable. */
#define WINDOW ((size_t)64 << 10)

esra_status esra_input_open(struct input *input, const char *path, struct message *message)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat stat;
    *input = (struct input){.fd = STDIN_FILENO, .name = standard ? "standard input" : path, .pipe = true, .size = -1};
    if (!standard)
        input->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (input->fd < 0 || fstat(input->fd, &stat)) {
        int reason = errno;
        esra_input_close(input);
        return esra_fail(message, ESRA_NO_INPUT, "cannot read %s: %s", input->name, strerror(reason));
    }
    if (S_ISDIR(stat.st_mode)) {
        esra_input_close(input);
        return esra_fail(message, ESRA_NO_INPUT, "cannot read %s: it is a folder; name a file in it", input->name);
    }
    if (S_ISREG(stat.st_mode)) {
        off_t here = lseek(input->fd, 0, SEEK_CUR);
        input->pipe = false;
        input->start = here > 0 ? here : 0;
        input->size = input->start <= stat.st_size ? stat.st_size - input->start : 0;
    }
    return ESRA_OK;
}

void esra_input_bytes(struct input *input, const void *bytes, size_t size, const char *name)
{
    /* Nothing writes through it: only make_room() and fill() do, and neither is called. */
    *input = (struct input){.fd = -1,
                            .name = name,
                            .in_memory = true,
                            .size = (int64_t)size,
                            .buffer = (unsigned char *)bytes,
                            .buffered = size};
}

static esra_status fail_read(const struct input *input, struct message *message)
{
    return esra_fail(message, ESRA_IO_ERROR, "reading %s broke off: %s", input->name, strerror(errno));
}

/* Where a file ends the system need not be asked, and Emscripten's pread() must not be: it takes positions past 2 GiB
 * for negative ones. Files of size 0 may be a system's own, which are longer. */
static bool at_end(const struct input *input, size_t done)
{
    return !input->pipe && input->size > 0 && input->position >= input->size - (int64_t)done;
}

/* Up to size bytes from the system at the input's position, repeated after signals and short counts; -1 on error. */
static ssize_t read_fully(const struct input *input, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size && !at_end(input, done)) {
        char *to = (char *)bytes + done;
        ssize_t got = input->pipe
                          ? read(input->fd, to, size - done)
                          : pread(input->fd, to, size - done, (off_t)(input->start + input->position + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

esra_status esra_input_check_kept(const struct input *input, int64_t bytes, struct message *message)
{
    if (!input->keep_limit || bytes <= input->keep_limit)
        return ESRA_OK;
    return esra_fail(message, ESRA_OVER_LIMIT,
                     "%s goes on past %lld MiB, all of which would be kept in memory; save it to a file", input->name,
                     (long long)(input->keep_limit >> 20));
}

static esra_status make_room(struct input *input, size_t room, struct message *message)
{
    esra_status status = esra_input_check_kept(input, room > WINDOW ? (int64_t)(room - WINDOW) : 0, message);
    if (status != ESRA_OK || room <= input->room)
        return status;
    if (room < 2 * input->room)
        room = 2 * input->room;
    unsigned char *larger = realloc(input->buffer, room);
    if (!larger)
        return esra_fail_memory(message);
    input->buffer = larger;
    input->room = room;
    return ESRA_OK;
}

/* Reads the next window into the buffer: after the bytes kept of a pipe, otherwise in place of the old ones. */
static esra_status fill(struct input *input, struct message *message)
{
    bool append = input->pipe && input->keep;
    size_t start = append ? input->buffered : 0;
    esra_status status = make_room(input, start + WINDOW, message);
    if (status != ESRA_OK)
        return status;
    ssize_t got = read_fully(input, input->buffer + start, WINDOW);
    if (got < 0)
        return fail_read(input, message);
    if (!append)
        input->buffer_at = input->position;
    input->buffered = start + (size_t)got;
    return ESRA_OK;
}

/* Bytes of the buffer from the position on. */
static size_t at_hand(const struct input *input)
{
    int64_t offset = input->position - input->buffer_at;
    return offset >= 0 && offset < (int64_t)input->buffered ? input->buffered - (size_t)offset : 0;
}

esra_status esra_input_borrow(struct input *input, const unsigned char **bytes, size_t *count, struct message *message)
{
    if (at_hand(input) == 0 && !input->in_memory) {
        esra_status status = fill(input, message);
        if (status != ESRA_OK)
            return status;
    }
    *count = at_hand(input);
    *bytes = *count ? input->buffer + (input->position - input->buffer_at) : NULL;
    input->position += (int64_t)*count;
    return ESRA_OK;
}

/* Large reads of which nothing is kept bypass the buffer. */
static esra_status take_directly(struct input *input, void *bytes, size_t size, size_t *got, struct message *message)
{
    ssize_t count = read_fully(input, bytes, size);
    if (count < 0)
        return fail_read(input, message);
    *got = (size_t)count;
    input->position += count;
    if (input->pipe)
        input->buffered = 0;
    return ESRA_OK;
}

esra_status esra_input_take(struct input *input, void *bytes, size_t size, size_t *got, struct message *message)
{
    *got = 0;
    while (*got < size) {
        const unsigned char *from = NULL;
        size_t count = 0, wanted = size - *got;
        bool direct = at_hand(input) == 0 && wanted >= WINDOW && !(input->pipe && input->keep) && !input->in_memory;
        esra_status status = direct ? take_directly(input, (char *)bytes + *got, wanted, &count, message)
                                    : esra_input_borrow(input, &from, &count, message);
        if (status != ESRA_OK)
            return status;
        if (count == 0)
            break;
        if (!direct && count > wanted) {
            input->position -= (int64_t)(count - wanted);
            count = wanted;
        }
        if (!direct)
            memcpy((char *)bytes + *got, from, count);
        *got += count;
    }
    return ESRA_OK;
}

esra_status esra_input_read(struct input *input, void *bytes, size_t size, struct message *message)
{
    size_t got;
    esra_status status = esra_input_take(input, bytes, size, &got, message);
    if (status == ESRA_OK && got < size)
        return esra_fail(message, ESRA_BAD_DATA, "%s is truncated: it ends %zu byte(s) too soon; make it again",
                         input->name, size - got);
    return status;
}

/* In a pipe, seeking forward reads; it stops at the end of the input. */
esra_status esra_input_seek(struct input *input, int64_t position, struct message *message)
{
    if (input->pipe && position > input->buffer_at + (int64_t)input->buffered) {
        input->position = input->buffer_at + (int64_t)input->buffered;
        while (input->position < position) {
            const unsigned char *bytes;
            size_t count;
            esra_status status = esra_input_borrow(input, &bytes, &count, message);
            if (status != ESRA_OK)
                return status;
            if (count == 0)
                return ESRA_OK;
        }
    }
    input->position = position;
    return ESRA_OK;
}

esra_status esra_input_measure(struct input *input, struct message *message)
{
    int64_t here = input->position;
    if (!input->pipe || input->size >= 0)
        return ESRA_OK;
    esra_status status = esra_input_seek(input, INT64_MAX, message);
    if (status == ESRA_OK)
        input->size = input->position;
    input->position = here;
    return status;
}

int64_t esra_input_left(const struct input *input)
{
    if (input->size < 0)
        return -1;
    return input->position < input->size ? input->size - input->position : 0;
}

void esra_input_close(struct input *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    input->fd = -1;
    if (!input->in_memory)
        free(input->buffer);
    input->buffer = NULL;
    input->buffered = input->room = 0;
}
