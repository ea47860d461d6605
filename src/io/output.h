/* io/output.h - a file that appears whole or not at all. Bytes go to a temporary in the same folder; only
 * esra_output_commit() puts it in the place of the file named, and until then an older file there is untouched. */
#ifndef ESRA_IO_OUTPUT_H
#define ESRA_IO_OUTPUT_H

#include <stdbool.h>

#include "io/bytes.h"

struct output {
    int fd;                /* -1: not open */
    bool standard;         /* fd was open before, as standard output is, and is not ours to close */
    const char *name;      /* as the user gave it; "standard output" for "-" */
    char *path;            /* the file itself, past symbolic links; NULL: fd is written as it stands (pipe, device) */
    char *temporary;       /* the temporary's path; NULL where it has no name (O_TMPFILE) */
    bool exists;           /* path named a file when opened */
    unsigned mode;         /* permission bits to give */
    unsigned owner, group; /* of the old file, where there is one */
    void *acl;             /* its access control list, owned; NULL: none */
    size_t acl_size;
    bool in_memory; /* bytes go to memory, owned, instead */
    unsigned char *memory;
    size_t memory_size, memory_room;
    bool (*enough)(void); /* asked before every few megabytes where it is set: once it says so, writing fails */
};

/* Begins a file; name must stay valid. "-" is standard output, and /dev/stdout or /dev/fd/N what that descriptor is.
 * Fails early: a folder that is missing or may not be written is found here, before any work. */
esra_status esra_output_open(struct output *output, const char *name, struct message *message);

/* Photos cannot be taken again: fails where `name` is the same file as one of the inputs, by whatever name they came,
 * "-" (standard input) among them. NULL is none. */
esra_status esra_output_spare(const char *name, const char *const *inputs, int count, struct message *message);

/* Whether two outputs are one file, there already or yet to be made, however it is spelt: one would be lost. */
esra_status esra_output_same(const char *a, const char *b, bool *same, struct message *message);

/* Fails where two of the outputs are one file that is there already: links make one of two names. */
esra_status esra_output_apart(char *const *names, int count, struct message *message);

/* Sees to it that so many files can be open at once: raises the limit of the process where it is lower, and fails where
 * the system does not let it. */
esra_status esra_output_reserve(int files, struct message *message);

/* Begins a file that exists in memory alone: output->memory until it is discarded. */
void esra_output_memory(struct output *output);

/* Takes such a file's bytes over. */
struct bytes esra_output_take(struct output *output);

esra_status esra_output_write(struct output *output, const void *bytes, size_t size, struct message *message);

/* Puts the whole file in its place, on disk before in name. On failure it is discarded. */
esra_status esra_output_commit(struct output *output, struct message *message);

/* The same with each in turn, until one fails; *placed: how many are in place. */
esra_status esra_output_commit_all(struct output *outputs, int count, int *placed, struct message *message);

/* fsync(), which a signal does not cut short. */
int esra_output_sync(int fd);

/* A new name is on disk only once its folder is. Some file systems cannot say so; that is no failure. */
void esra_output_sync_folder(const char *folder);

/* Forgets the file; harmless after commit, and on a struct with fd -1. */
void esra_output_discard(struct output *output);

#endif
