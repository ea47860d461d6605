/* io/output_file.c - a file that appears whole or not at all: how it begins, and how it is put in its place. */
#define _GNU_SOURCE
#include "io/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_target.h"
#include "io/paths.h"

/* Bytes of a file's name that its temporary takes over: what is added to them must fit as well, where a name holds 255
 * bytes and where it holds 143 (eCryptfs). */
#define MAX_STEM 100

/* Names tried for a temporary before giving up: more than one only where others leave theirs behind. */
#define MAX_NAMES 1000

/* Bytes of a long name that are kept, not ending inside a character of UTF-8: some file systems take no such name. */
static size_t stem_length(const char *file)
{
    size_t length = strlen(file);
    if (length <= MAX_STEM)
        return length;
    for (length = MAX_STEM; length > 0 && ((unsigned char)file[length] & 0xc0) == 0x80;)
        length--;
    return length;
}

/* Of this machine's name (FNV-1a): on a network file system numbers of processes mean nothing without it. */
static unsigned machine(void)
{
    char name[256] = "";
    unsigned hash = 2166136261u;
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* "folder/.file.esra-MACHINE-PID-N": hidden, in the same folder and so on the same file system. */
static char *temporary_name(const char *path, int number)
{
    char *text = NULL, *copy = strdup(path), *folder = esra_paths_parent(path);
    const char *file = copy ? basename(copy) : "";
    int kept = (int)stem_length(file);
    if (copy && folder &&
        asprintf(&text, "%s/.%.*s.esra-%08x-%ld-%d", folder, kept, file, machine(), (long)getpid(), number) < 0)
        text = NULL;
    free(copy);
    free(folder);
    return text;
}

/* True for a temporary_name() of this file, or of one whose long name begins alike, whose process was on this machine
 * and is no more. */
static bool is_stray(const char *name, const char *file)
{
    size_t length = stem_length(file);
    long process;
    unsigned where;
    int number, end = 0;
    if (name[0] != '.' || strncmp(name + 1, file, length) != 0)
        return false;
    return sscanf(name + 1 + length, ".esra-%8x-%ld-%d%n", &where, &process, &number, &end) == 3 &&
           !name[1 + length + (size_t)end] && where == machine() && process > 0 && kill((pid_t)process, 0) != 0 &&
           errno == ESRCH;
}

/* Whoever is killed between naming a temporary and renaming it leaves it behind: the next to write the file clears it
 * away. What cannot be looked at or removed stays. */
static void remove_strays(const char *path)
{
    char *copy = strdup(path), *folder = esra_paths_parent(path);
    DIR *entries = copy && folder ? opendir(folder) : NULL;
    const struct dirent *entry;
    while (entries && (entry = readdir(entries)))
        if (is_stray(entry->d_name, basename(copy)))
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries)
        closedir(entries);
    free(copy);
    free(folder);
}

/* A temporary without a name cannot be left behind, whatever happens. Linking it into place needs /proc. */
static int open_nameless(const char *path)
{
    int fd = -1;
#ifdef O_TMPFILE
    char *folder = esra_paths_parent(path);
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

esra_status esra_output_open(struct output *output, const char *name, struct message *message)
{
    esra_status status;
    *output = (struct output){.fd = -1, .name = name};
    if (strcmp(name, "-") == 0) {
        output->name = "standard output";
        output->fd = STDOUT_FILENO;
        output->standard = true;
        return ESRA_OK;
    }
    TRY(esra_output_find_target(output, message));
    if (output->fd < 0)
        output->fd = open_nameless(output->path);
    if (output->fd < 0)
        output->fd = open_named(output);
    if (output->fd >= 0)
        return ESRA_OK;
    status = esra_output_refuse(output, errno, message);
done:
    esra_output_discard(output);
    return status;
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

int esra_output_sync(int fd)
{
    int result;
    do
        result = fsync(fd);
    while (result && errno == EINTR);
    return result;
}

void esra_output_sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        esra_output_sync(fd);
        close(fd);
    }
}

static void sync_folder_of(const char *path)
{
    char *folder = esra_paths_parent(path);
    if (folder)
        esra_output_sync_folder(folder);
    free(folder);
}

static int put_in_place(struct output *output)
{
    if (esra_output_give_rights(output) || esra_output_sync(output->fd))
        return -1;
    if (!output->temporary && link_temporary(output))
        return -1;
    if (output->temporary && rename(output->temporary, output->path))
        return -1;
    free(output->temporary);
    output->temporary = NULL;
    remove_strays(output->path);
    sync_folder_of(output->path);
    return 0;
}

esra_status esra_output_commit(struct output *output, struct message *message)
{
    esra_status status = ESRA_OK;
    if (output->path && put_in_place(output))
        status = errno == ENOMEM
                     ? esra_fail_memory(message)
                     : esra_fail(message, ESRA_IO_ERROR, "writing %s broke off: %s", output->name, strerror(errno));
    esra_output_discard(output);
    return status;
}

esra_status esra_output_commit_all(struct output *outputs, int count, int *placed, struct message *message)
{
    esra_status status = ESRA_OK;
    for (*placed = 0; *placed < count; ++*placed)
        TRY(esra_output_commit(&outputs[*placed], message));
done:
    return status;
}
