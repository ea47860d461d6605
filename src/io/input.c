/* io/input.c - a file or standard input to read bytes from. */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

esra_status esra_input_open(struct input *input, const char *path, struct message *message)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat stat;
    *input = (struct input){.fd = STDIN_FILENO, .name = standard ? "standard input" : path, .left = -1};
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
        input->left = here >= 0 && here <= stat.st_size ? stat.st_size - here : 0;
    }
    return ESRA_OK;
}

/* As read(2), but repeated after signals and short counts; fewer than size bytes only at the end, -1 on error. */
static ssize_t read_fully(int fd, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(fd, (char *)bytes + done, size - done);
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

esra_status esra_input_read(struct input *input, void *bytes, size_t size, struct message *message)
{
    ssize_t got = read_fully(input->fd, bytes, size);
    if (got < 0)
        return esra_fail(message, ESRA_IO_ERROR, "reading %s broke off: %s", input->name, strerror(errno));
    if (input->left >= 0)
        input->left -= got;
    if ((size_t)got < size)
        return esra_fail(message, ESRA_BAD_DATA, "%s is truncated: it ends %zu byte(s) too soon; make it again",
                         input->name, size - (size_t)got);
    return ESRA_OK;
}

bool esra_input_at_end(struct input *input)
{
    char byte;
    return read_fully(input->fd, &byte, 1) == 0;
}

void esra_input_close(struct input *input)
{
    if (input->fd > STDIN_FILENO)
        close(input->fd);
    input->fd = -1;
}
