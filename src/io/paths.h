/* io/paths.h - the photos that a command names: files, "-" for standard input, "@list.txt" for a file of names; and the
 * folder that its answer goes to. */
#ifndef ESRA_IO_PATHS_H
#define ESRA_IO_PATHS_H

#include <stdbool.h>

#include "base/status.h"

struct paths {
    char **items; /* owned */
    int count;
};

/* Replaces each "@file" by the names in it, one a line, empty lines skipped; names are taken from the folder that the
 * command runs in, as on the command line, and an '@' in the list has no meaning. "@-" reads the list from standard
 * input. More than `most` names are refused. A file whose name begins with '@' is named "./@...". */
esra_status esra_paths_expand(struct paths *paths, const char *const *arguments, int count, int most,
                              struct message *message);

void esra_paths_free(struct paths *paths);

/* folder/file, fresh; NULL where memory is short. */
char *esra_paths_join(const char *folder, const char *file);

/* The folder that a path is in, fresh; NULL where memory is short. */
char *esra_paths_parent(const char *path);

/* What it means that a file or a folder could not be made: the disk is full or at fault, or it may not be made there.
 */
esra_status esra_paths_refusal(int reason);

/* Makes a folder where there is none, on disk as well, and says whether it did. */
esra_status esra_paths_make_folder(const char *folder, bool *made, struct message *message);

#endif
