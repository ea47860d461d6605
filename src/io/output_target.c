/* io/output_target.c - what the name of an output stands for: a file to be made or replaced, or what cannot be replaced
 * and is written as it stands. */
#define _GNU_SOURCE
#include "io/output_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/paths.h"

/* As many as the kernel follows. */
#define MOST_LINKS 40

esra_status esra_output_refuse(const struct output *output, int reason, struct message *message)
{
    if (reason == ENOMEM)
        return esra_fail_memory(message);
    return esra_fail(message, esra_paths_refusal(reason), "cannot write %s: %s", output->name, strerror(reason));
}

static mode_t mask(void)
{
    mode_t current = umask(0);
    umask(current);
    return current;
}

/* A pipe, a terminal, a device: it cannot be replaced, and is written as it stands. */
static esra_status open_special(struct output *output, struct message *message)
{
    output->fd = open(output->name, O_WRONLY | O_CLOEXEC);
    return output->fd < 0 ? esra_output_refuse(output, errno, message) : ESRA_OK;
}

/* In place of `at`, where that is a link, what it says. */
static bool follow(char at[PATH_MAX])
{
    char to[PATH_MAX];
    ssize_t length = readlink(at, to, sizeof to - 1);
    char *slash = strrchr(at, '/'), *place = length > 0 && to[0] != '/' && slash ? slash + 1 : at;
    if (length <= 0 || (size_t)length >= PATH_MAX - (size_t)(place - at))
        return false;
    memcpy(place, to, (size_t)length);
    place[length] = '\0';
    return true;
}

/* Follows links as far as one of /proc, such as /dev/stdout leads to: that stands for what a process has open, and not
 * for the name that this was opened by. */
static bool find_link_of_proc(const char *name, char at[PATH_MAX])
{
    struct stat proc, link;
    if (stat("/proc/self/fd", &proc) || strlen(name) >= PATH_MAX)
        return false;
    memcpy(at, name, strlen(name) + 1);
    for (int n = 0; n < MOST_LINKS && lstat(at, &link) == 0 && S_ISLNK(link.st_mode); n++) {
        if (link.st_dev == proc.st_dev)
            return true;
        if (!follow(at))
            return false;
    }
    return false;
}

/* A file behind an open descriptor is not replaced, since others may be writing into it: the output goes to its current
 * position, as with "-". A descriptor of another process is opened anew, for appending. */
static esra_status take_descriptor(struct output *output, const char *link, const struct stat *old,
                                   struct message *message)
{
    struct stat is;
    const char *slash = strrchr(link, '/');
    int fd = slash ? atoi(slash + 1) : -1;
    if (fstat(fd, &is) || is.st_dev != old->st_dev || is.st_ino != old->st_ino) {
        output->fd = open(output->name, O_WRONLY | O_APPEND | O_CLOEXEC);
        return output->fd < 0 ? esra_output_refuse(output, errno, message) : ESRA_OK;
    }
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return esra_output_refuse(output, EBADF, message);
    output->fd = fd;
    output->standard = true;
    return ESRA_OK;
}

/* In a folder with the sticky bit, such as /tmp, only the owner of the file or of the folder, or root, may replace a
 * file. Found before the work, not after it. */
static esra_status check_sticky(const struct output *output, const struct stat *old, struct message *message)
{
    struct stat is;
    char *folder = esra_paths_parent(output->path);
    if (!folder)
        return esra_fail_memory(message);
    bool sticky = stat(folder, &is) == 0 && is.st_mode & S_ISVTX;
    uid_t we = geteuid();
    free(folder);
    if (sticky && we != 0 && we != old->st_uid && we != is.st_uid)
        return esra_output_refuse(output, EPERM, message);
    return ESRA_OK;
}

/* Sets path, exists and mode of a file to be replaced. */
static esra_status take_old_file(struct output *output, const struct stat *old, struct message *message)
{
    output->path = realpath(output->name, NULL);
    if (!output->path)
        return esra_output_refuse(output, errno, message);
    if (access(output->path, W_OK))
        return esra_output_refuse(output, errno, message);
    output->exists = true;
    esra_status status = check_sticky(output, old, message);
    return status != ESRA_OK ? status : esra_output_take_rights(output, old, message);
}

/* Sets path and mode of a file to be made. */
static esra_status take_new_file(struct output *output, struct message *message)
{
    size_t length = strlen(output->name);
    struct stat link;
    if (length == 0)
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write a file without a name");
    if (output->name[length - 1] == '/')
        return esra_output_refuse(output, EISDIR, message);
    if (lstat(output->name, &link) == 0)
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write %s: it is a link to a file that does not exist",
                         output->name);
    output->path = strdup(output->name);
    output->mode = 0666 & ~mask();
    return output->path ? ESRA_OK : esra_fail_memory(message);
}

esra_status esra_output_find_target(struct output *output, struct message *message)
{
    struct stat old;
    char link[PATH_MAX];
    if (stat(output->name, &old))
        return errno == ENOENT ? take_new_file(output, message) : esra_output_refuse(output, errno, message);
    if (S_ISDIR(old.st_mode))
        return esra_output_refuse(output, EISDIR, message);
    if (find_link_of_proc(output->name, link))
        return take_descriptor(output, link, &old, message);
    return S_ISREG(old.st_mode) ? take_old_file(output, &old, message) : open_special(output, message);
}
