/* tools/esra/batch_checks.c - before any scene begins: no line may overwrite what another line reads or writes. A scene
 * protects its own photos, but does not know those of other lines. */
#define _DEFAULT_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch.h"
#include "io/output.h"
#include "io/paths.h"
#include "separate.h"

/* In place of the number of a line. */
#define JOURNAL 0
#define NOBODY  (-1)

/* A file that a line would replace, or the folder that it writes into, by device and inode: links do not matter. */
struct target {
    dev_t device;
    ino_t inode;
    int line;    /* or JOURNAL */
    bool shares; /* written through a link: the content changes under its other names, too */
};

struct targets {
    struct target *items;
    size_t count, room;
};

static int by_file(const struct target *a, const struct target *b)
{
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->inode == b->inode ? 0 : a->inode < b->inode ? -1 : 1;
}

/* For qsort(): the lines that share a file stand together, in their order. */
static int by_file_and_line(const void *a, const void *b)
{
    const struct target *x = a, *y = b;
    int order = by_file(x, y);
    return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* ---- What is written ---- */

static esra_status add(struct targets *targets, const struct stat *is, int line, bool shares, struct message *message)
{
    if (targets->count == targets->room) {
        size_t room = 2 * targets->room + 64;
        struct target *larger = realloc(targets->items, room * sizeof *larger);
        if (!larger)
            return esra_fail_memory(message);
        targets->items = larger;
        targets->room = room;
    }
    targets->items[targets->count++] = (struct target){is->st_dev, is->st_ino, line, shares};
    return ESRA_OK;
}

/* A file in the folder that a separation may replace. Of a symbolic link its target is replaced; of a hard link this
 * name alone. */
static esra_status add_file(struct targets *targets, int folder, const char *name, int line, struct message *message)
{
    struct stat is, own;
    if (!job_may_write(name) || fstatat(folder, name, &is, 0) || !S_ISREG(is.st_mode))
        return ESRA_OK;
    bool is_link = fstatat(folder, name, &own, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(own.st_mode);
    return add(targets, &is, line, is_link, message);
}

/* The folder, and the files in it that may be replaced. A folder that does not exist yet has none; one that cannot be
 * read is reported by its scene. */
static esra_status add_folder(struct targets *targets, const char *folder, int line, struct message *message)
{
    struct stat is;
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    esra_status status = ESRA_OK;
    if (!entries)
        return errno == ENOMEM ? esra_fail_memory(message) : ESRA_OK;
    if (fstat(dirfd(entries), &is) == 0)
        status = add(targets, &is, line, true, message);
    while (status == ESRA_OK && (entry = readdir(entries)))
        status = add_file(targets, dirfd(entries), entry->d_name, line, message);
    closedir(entries);
    return status;
}

/* It grows by itself, whatever the lines are. */
static esra_status add_journal(struct targets *targets, const char *path, struct message *message)
{
    struct stat is;
    return stat(path, &is) == 0 ? add(targets, &is, JOURNAL, true, message) : ESRA_OK;
}

static esra_status find_targets(struct targets *targets, const struct batch_jobs *jobs, const char *folder,
                                const char *journal, struct message *message)
{
    esra_status status = add_journal(targets, journal, message);
    for (int n = 0; n < jobs->count && status == ESRA_OK; n++) {
        char *path = esra_paths_join(folder, jobs->scenes[n].output);
        status = path ? add_folder(targets, path, jobs->scenes[n].line, message) : esra_fail_memory(message);
        free(path);
    }
    if (targets->count > 0)
        qsort(targets->items, targets->count, sizeof *targets->items, by_file_and_line);
    return status;
}

/* "line 7", or the journal. */
static const char *words_for(int line, char words[32])
{
    snprintf(words, 32, "line %d", line);
    return line == JOURNAL ? "the journal" : words;
}

/* Links can make one of two outputs. */
static esra_status check_apart(const struct targets *targets, const struct batch_jobs *jobs, struct message *message)
{
    char words[32];
    for (size_t n = 1; n < targets->count; n++) {
        const struct target *a = &targets->items[n - 1], *b = &targets->items[n];
        if (by_file(a, b) == 0 && a->line != b->line && (a->shares || b->shares))
            return esra_fail(message, ESRA_BAD_DATA,
                             "%s, line %d: its output has a file or folder in common with that of %s, and "
                             "one would be written over the other",
                             jobs->name, b->line, words_for(a->line, words));
    }
    return ESRA_OK;
}

/* ---- What is read ---- */

/* The line, other than its own, that would replace this file; NOBODY: none. */
static int line_that_replaces(const struct targets *targets, const struct stat *is, int own)
{
    struct target wanted = {is->st_dev, is->st_ino, 0, false};
    size_t low = 0, high = targets->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_file(&targets->items[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < targets->count && by_file(&targets->items[low], &wanted) == 0 && targets->items[low].line == own)
        low++;
    return low < targets->count && by_file(&targets->items[low], &wanted) == 0 ? targets->items[low].line : NOBODY;
}

/* Of a file that is not there, the other line that would make it: FOLDER/OUTPUT/file; NOBODY: none. Were it read the
 * first time and refused the next, the same command could not go on. */
static esra_status line_that_makes(const struct batch_jobs *jobs, const char *folder, const char *input, int own,
                                   int *line, struct message *message)
{
    struct stat of_input, of_outputs;
    char *path = strdup(input);
    if (!path)
        return esra_fail_memory(message);
    char *slash = strrchr(path, '/');
    *line = NOBODY;
    if (slash && slash > path && job_may_write(slash + 1)) {
        *slash = '\0';
        char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
        const json_t *made_by = json_object_get(jobs->outputs, name);
        if (made_by && json_integer_value(made_by) != own && stat(dirname(path), &of_input) == 0 &&
            stat(folder, &of_outputs) == 0 && of_input.st_dev == of_outputs.st_dev &&
            of_input.st_ino == of_outputs.st_ino)
            *line = (int)json_integer_value(made_by);
    }
    free(path);
    return ESRA_OK;
}

static esra_status check_input(const struct targets *targets, const struct batch_jobs *jobs, const char *folder,
                               const char *input, int own, struct message *message)
{
    struct stat is;
    char words[32];
    int line = NOBODY;
    esra_status status = ESRA_OK;
    if (stat(input, &is) == 0)
        line = line_that_replaces(targets, &is, own);
    else
        status = line_that_makes(jobs, folder, input, own, &line, message);
    if (status == ESRA_OK && line != NOBODY)
        status = esra_fail(message, ESRA_BAD_DATA,
                           "%s, line %d: %s is an input, and would be written over by %s: choose another "
                           "name or folder",
                           jobs->name, own, input, words_for(line, words));
    return status;
}

static esra_status check_inputs(const struct targets *targets, const struct batch_jobs *jobs, const char *folder,
                                struct message *message)
{
    esra_status status = ESRA_OK;
    for (int n = 0; n < jobs->count; n++)
        for (int w = 0; w < jobs->scenes[n].word_count; w++)
            TRY(check_input(targets, jobs, folder, batch_input(&jobs->scenes[n], w), jobs->scenes[n].line, message));
done:
    return status;
}

/* It may be on standard input. */
static esra_status check_jobs_file(const struct targets *targets, const struct batch_jobs *jobs,
                                   struct message *message)
{
    struct stat is;
    bool found = strcmp(jobs->path, "-") == 0 ? fstat(STDIN_FILENO, &is) == 0 : stat(jobs->path, &is) == 0;
    int line = found ? line_that_replaces(targets, &is, NOBODY) : NOBODY;
    if (line == NOBODY)
        return ESRA_OK;
    return esra_fail(message, ESRA_BAD_DATA, "%s would be written over by line %d: choose another name or folder",
                     jobs->name, line);
}

esra_status batch_check_files(const struct batch_jobs *jobs, const char *folder, struct message *message)
{
    struct targets targets = {0};
    char *journal = esra_paths_join(folder, BATCH_JOURNAL);
    esra_status status;
    if (!journal)
        return esra_fail_memory(message);
    TRY(esra_output_spare(journal, &jobs->path, 1, message));
    TRY(find_targets(&targets, jobs, folder, journal, message));
    TRY(check_jobs_file(&targets, jobs, message));
    TRY(check_apart(&targets, jobs, message));
    TRY(check_inputs(&targets, jobs, folder, message));
done:
    free(targets.items);
    free(journal);
    return status;
}
