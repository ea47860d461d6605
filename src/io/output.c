/* io/output.c - a file that appears whole or not at all. */
#define _GNU_SOURCE
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names tried for a temporary before giving up: more than one only where others leave theirs behind. */
#define MAX_NAMES 1000

static esra_status fail_create(const struct output *output, int reason, struct message *message)
{
    if (reason == ENOMEM)
        return esra_fail_memory(message);
    return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write %s: %s", output->name, strerror(reason));
}

static mode_t mask(void)
{
    mode_t current = umask(0);
    umask(current);
    return current;
}

/* Fresh text, or NULL. */
static char *folder_of(const char *path)
{
    char *copy = strdup(path);
    char *folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

/* "folder/.file.esra-PID-N": hidden, in the same folder and so on the same file system. */
static char *temporary_name(const char *path, int number)
{
    char *text = NULL, *copy = strdup(path), *folder = folder_of(path);
    if (copy && folder && asprintf(&text, "%s/.%s.esra-%ld-%d", folder, basename(copy), (long)getpid(), number) < 0)
        text = NULL;
    free(copy);
    free(folder);
    return text;
}

/* A temporary without a name cannot be left behind, whatever happens. Linking it into place needs /proc. */
static int open_nameless(const char *path)
{
    int fd = -1;
#ifdef O_TMPFILE
    char *folder = folder_of(path);
    if (folder && access("/proc/self/fd", X_OK) == 0)
        fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
#else
    (void)path;
#endif
    return fd;
}

static int open_named(struct output *output)
{
    for (int n = 0; n < MAX_NAMES; n++) {
        output->temporary = temporary_name(output->path, n);
        if (!output->temporary)
            return -1;
        int fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0)
            return fd;
        int reason = errno;
        free(output->temporary);
        output->temporary = NULL;
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
    return -1;
}

/* Sets path, exists and mode for a file that is to be replaced or made; opens at once what cannot be replaced. */
static esra_status find_target(struct output *output, struct message *message)
{
    struct stat stat_;
    char *real = realpath(output->name, NULL);
    if (!real && errno != ENOENT)
        return fail_create(output, errno, message);
    if (!real && lstat(output->name, &stat_) == 0)
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write %s: it is a link to a file that does not exist",
                         output->name);
    output->exists = real != NULL;
    output->path = real ? real : strdup(output->name);
    output->mode = 0666 & ~mask();
    if (!output->path)
        return esra_fail_memory(message);
    if (!output->exists)
        return ESRA_OK;
    if (stat(output->path, &stat_))
        return fail_create(output, errno, message);
    if (S_ISDIR(stat_.st_mode))
        return fail_create(output, EISDIR, message);
    if (access(output->path, W_OK))
        return fail_create(output, errno, message);
    output->mode = stat_.st_mode & 07777;
    if (!S_ISREG(stat_.st_mode)) {
        output->fd = open(output->path, O_WRONLY | O_CLOEXEC);
        free(output->path);
        output->path = NULL;
        if (output->fd < 0)
            return fail_create(output, errno, message);
    }
    return ESRA_OK;
}

esra_status esra_output_open(struct output *output, const char *name, struct message *message)
{
    esra_status status;
    *output = (struct output){.fd = -1, .name = name};
    if (strcmp(name, "-") == 0) {
        output->name = "standard output";
        output->fd = STDOUT_FILENO;
        return ESRA_OK;
    }
    TRY(find_target(output, message));
    if (output->fd < 0)
        output->fd = open_nameless(output->path);
    if (output->fd < 0)
        output->fd = open_named(output);
    if (output->fd >= 0)
        return ESRA_OK;
    status = fail_create(output, errno, message);
fail:
    esra_output_discard(output);
    return status;
}

esra_status esra_output_write(struct output *output, const void *bytes, size_t size, struct message *message)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t written = write(output->fd, from, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", output->name, strerror(errno));
        from += written;
        size -= (size_t)written;
    }
    return ESRA_OK;
}

/* Gives a nameless temporary a name: the final one where that is free, else one to be renamed. 0, or -1 with errno. */
static int link_temporary(struct output *output)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    if (!output->exists && linkat(AT_FDCWD, self, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0)
        return 0;
    if (!output->exists && errno != EEXIST)
        return -1;
    for (int n = 0; n < MAX_NAMES; n++) {
        char *name = temporary_name(output->path, n);
        if (!name)
            return -1;
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            output->temporary = name;
            return 0;
        }
        int reason = errno;
        free(name);
        errno = reason;
        if (reason != EEXIST)
            return -1;
    }
    return -1;
}

/* The new name is on disk only once its folder is. Some file systems cannot say so; that is no failure. */
static void sync_folder(const char *path)
{
    char *folder = folder_of(path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
    free(folder);
}

static int put_in_place(struct output *output)
{
    if (fchmod(output->fd, output->mode) || fsync(output->fd))
        return -1;
    if (!output->temporary && link_temporary(output))
        return -1;
    if (output->temporary && rename(output->temporary, output->path))
        return -1;
    free(output->temporary);
    output->temporary = NULL;
    sync_folder(output->path);
    return 0;
}

esra_status esra_output_commit(struct output *output, struct message *message)
{
    esra_status status = ESRA_OK;
    if (output->path && put_in_place(output))
        status = errno == ENOMEM ? esra_fail_memory(message)
                                 : esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", output->name,
                                             strerror(errno));
    esra_output_discard(output);
    return status;
}

void esra_output_discard(struct output *output)
{
    if (output->fd > STDOUT_FILENO)
        close(output->fd);
    if (output->temporary)
        unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    *output = (struct output){.fd = -1, .name = output->name};
}
