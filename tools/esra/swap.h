/* tools/esra/swap.h - what the files of esra swap share: one run of it. */
#ifndef ESRA_TOOL_SWAP_H
#define ESRA_TOOL_SWAP_H

#include "reading.h"
#include "result.h"
#include "scene.h"

/* Where the files as they were found wait for the way back, in the result's own folder. */
#define KEPT_FOLDER "as-found"

struct swap_options {
    struct reading reading;
    bool quiet;
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct swap {
    struct swap_options options;
    struct message message;
    struct read_options read;
    const char *folder; /* as it was given */
    char *kept;         /* its KEPT_FOLDER */
    const char *from;   /* the one of both that holds the files to begin with */
    bool back;          /* the files kept take their places again */
    struct result result;
    json_t *exchanged; /* result.json to be */
    struct scene scene;
    struct photo transmitted, *reflected, confidence; /* as read, then as they will be written */
    char (*files)[64];                                /* that change; result.json is the last */
    int file_count;
    bool report;              /* is among them */
    struct output *outputs;   /* those begun */
    int output_count, placed; /* how many there are, and are in their place */
    bool kept_made;           /* by this run: the folder goes again if nothing comes into it */
};

/* swap_files.c: what is there, which way to go, and putting files in their places. */
esra_status swap_find_way(struct swap *job);
esra_status swap_keep(struct swap *job);
esra_status swap_begin(struct swap *job, const char *folder, const char *file, struct output **output);
esra_status swap_restore(struct swap *job);
esra_status swap_commit(struct swap *job);

/* Where the files kept are in their places again they are not needed; a failure leaves them, and harms nothing. */
void swap_forget_kept(struct swap *job);
void swap_files_free(struct swap *job);

/* swap_layers.c: the pictures, read, exchanged in light, and written. */
esra_status swap_read_pictures(struct swap *job);
void swap_exchange(struct swap *job);

/* The steps of that in light: of the reference, and of another photo. */
void swap_exchange_reference(struct swap *job);
void swap_exchange_photo(struct swap *job, int i);
esra_status swap_write_pictures(struct swap *job);
void swap_pictures_free(struct swap *job);

#endif
