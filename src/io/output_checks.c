/* io/output_checks.c - what can be told of outputs before any work: that they write over no input, nor one
 * over the other, and that the system lets all of them be open at once. */
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output.h"

/* Descriptors that are wanted for a while beside those of the files: a folder to be synced or looked through, /proc. */
#define PASSING 4

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* "-" may be a file that the shell has opened under a name not known here. A pipe or a device is not replaced. */
static bool look_at_input(const char *name, struct stat *input)
{
    if (name && strcmp(name, "-") == 0)
        return fstat(STDIN_FILENO, input) == 0 && S_ISREG(input->st_mode);
    return name && stat(name, input) == 0;
}

esra_status esra_output_spare(const char *name, const char *const *inputs, int count, struct message *message)
{
    struct stat output, input;
    if (strcmp(name, "-") == 0 || stat(name, &output) != 0)
        return ESRA_OK;
    for (int n = 0; n < count; n++)
        if (look_at_input(inputs[n], &input) && same_file(&input, &output))
            return esra_fail(message, ESRA_CANNOT_CREATE,
                             "%s is one of the inputs, and would be written over: choose "
                             "another name or folder",
                             name);
    return ESRA_OK;
}

static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Whether both would be made in one folder, under one name: of what is not there yet nothing else can be compared. */
static esra_status compare_places(const char *a, const char *b, bool *same, struct message *message)
{
    struct stat in[2];
    char *paths[2] = {strdup(a), strdup(b)};
    bool sound = paths[0] && paths[1];
    *same = sound && strcmp(last_part(a), last_part(b)) == 0 && stat(dirname(paths[0]), &in[0]) == 0 &&
            stat(dirname(paths[1]), &in[1]) == 0 && same_file(&in[0], &in[1]);
    free(paths[0]);
    free(paths[1]);
    return sound ? ESRA_OK : esra_fail_memory(message);
}

esra_status esra_output_same(const char *a, const char *b, bool *same, struct message *message)
{
    struct stat is[2];
    *same = strcmp(a, b) == 0;
    if (*same || strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return ESRA_OK;
    *same = stat(a, &is[0]) == 0 && stat(b, &is[1]) == 0 && S_ISREG(is[0].st_mode) && same_file(&is[0], &is[1]);
    return *same ? ESRA_OK : compare_places(a, b, same, message);
}

/* A pipe or a device may take several outputs. */
static bool look_at_output(const char *name, struct stat *output)
{
    return stat(name, output) == 0 && S_ISREG(output->st_mode);
}

/* A hard link is no danger: what replaces a file takes its name alone, and the other keeps the old one. */
static bool is_link(const char *name)
{
    struct stat own;
    return lstat(name, &own) == 0 && S_ISLNK(own.st_mode);
}

esra_status esra_output_apart(char *const *names, int count, struct message *message)
{
    struct stat *there = calloc((size_t)count + 1, sizeof *there);
    const char **found = calloc((size_t)count + 1, sizeof *found);
    esra_status status = there && found ? ESRA_OK : esra_fail_memory(message);
    for (int n = 0, known = 0; n < count && status == ESRA_OK; n++) {
        if (!look_at_output(names[n], &there[known]))
            continue;
        for (int k = 0; k < known && status == ESRA_OK; k++)
            if (same_file(&there[k], &there[known]) && (is_link(found[k]) || is_link(names[n])))
                status = esra_fail(message, ESRA_CANNOT_CREATE,
                                   "%s and %s are one file, and one would be written over the "
                                   "other: remove one of them",
                                   found[k], names[n]);
        found[known++] = names[n];
    }
    free(there);
    free(found);
    return status;
}

/* The least limit under which so many descriptors are free. */
static rlim_t limit_for(int count)
{
    rlim_t limit = 0;
    for (int unused = 0; unused < count; limit++)
        unused += fcntl((int)limit, F_GETFD) < 0;
    return limit;
}

esra_status esra_output_reserve(int files, struct message *message)
{
    struct rlimit limit;
    rlim_t needed = limit_for(files + PASSING);
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= needed)
        return ESRA_OK;
    limit.rlim_cur = needed;
    if (needed <= limit.rlim_max && setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return ESRA_OK;
    return esra_fail(message, ESRA_OVER_LIMIT,
                     "%d files are to be written at once, and the system lets %ld be open, where %ld "
                     "are needed: raise that limit (ulimit -n), or ask for fewer",
                     files, (long)limit.rlim_max, (long)needed);
}
