/* io/paths.c - the photos that a command names. */
#include "io/paths.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "io/input.h"
#include "io/output.h"

/* Linux's own limit of a path. */
#define MAX_NAME 4096

static esra_status add(struct paths *paths, const char *name, int most, struct message *message)
{
    if (paths->count >= most)
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "more than %d photos are named; name fewer, or lift the limits with --no-limits", most);
    char **larger = realloc(paths->items, ((size_t)paths->count + 1) * sizeof *larger);
    if (!larger)
        return esra_fail_memory(message);
    paths->items = larger;
    paths->items[paths->count] = strdup(name);
    if (!paths->items[paths->count])
        return esra_fail_memory(message);
    paths->count++;
    return ESRA_OK;
}

/* One line without its end ("\n" or "\r\n"); *more is false after the last. A zero byte is in no name. */
static esra_status read_line(struct input *input, char line[MAX_NAME], bool *more, struct message *message)
{
    size_t length = 0, got;
    for (;;) {
        esra_status status = esra_input_take(input, &line[length], 1, &got, message);
        if (status != ESRA_OK)
            return status;
        if (got == 0 || line[length] == '\n')
            break;
        if (line[length] == '\0' || ++length == MAX_NAME)
            return esra_fail(message, ESRA_BAD_DATA, "%s is no list of file names; write one name a line", input->name);
    }
    *more = got > 0;
    if (length > 0 && line[length - 1] == '\r')
        length--;
    line[length] = '\0';
    return ESRA_OK;
}

static esra_status add_list(struct paths *paths, const char *list, int most, struct message *message)
{
    struct input input;
    char line[MAX_NAME];
    bool more = true;
    esra_status status = esra_input_open(&input, list, message);
    while (status == ESRA_OK && more) {
        status = read_line(&input, line, &more, message);
        if (status == ESRA_OK && line[0])
            status = add(paths, line, most, message);
    }
    esra_input_close(&input);
    return status;
}

esra_status esra_paths_expand(struct paths *paths, const char *const *arguments, int count, int most,
                              struct message *message)
{
    esra_status status = ESRA_OK;
    *paths = (struct paths){0};
    for (int n = 0; n < count && status == ESRA_OK; n++)
        status = arguments[n][0] == '@' ? add_list(paths, arguments[n] + 1, most, message)
                                        : add(paths, arguments[n], most, message);
    if (status != ESRA_OK)
        esra_paths_free(paths);
    return status;
}

void esra_paths_free(struct paths *paths)
{
    for (int n = 0; n < paths->count; n++)
        free(paths->items[n]);
    free(paths->items);
    *paths = (struct paths){0};
}

char *esra_paths_join(const char *folder, const char *file)
{
    size_t size = strlen(folder) + strlen(file) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, file);
    return path;
}

char *esra_paths_parent(const char *path)
{
    char *copy = strdup(path);
    char *folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    return folder;
}

esra_status esra_paths_refusal(int reason)
{
    switch (reason) {
    case ENOMEM: return ESRA_OUT_OF_MEMORY;
    case EDQUOT:
    case EIO:
    case ENOSPC: return ESRA_IO_ERROR;
    default: return ESRA_CANNOT_CREATE;
    }
}

/* Files are safe in a folder only once its own name is on disk. */
static void sync_parent(const char *folder)
{
    char *parent = esra_paths_parent(folder);
    if (parent)
        esra_output_sync_folder(parent);
    free(parent);
}

esra_status esra_paths_make_folder(const char *folder, bool *made, struct message *message)
{
    struct stat is;
    *made = mkdir(folder, 0777) == 0;
    if (!*made && errno != EEXIST)
        return esra_fail(message, esra_paths_refusal(errno), "cannot make the folder %s: %s", folder, strerror(errno));
    if (stat(folder, &is) || !S_ISDIR(is.st_mode))
        return esra_fail(message, ESRA_CANNOT_CREATE, "cannot write into %s: it is not a folder", folder);
    if (*made)
        sync_parent(folder);
    return ESRA_OK;
}
