/* tools/esra/synth.h - what the files of esra synth share: one run of it. */
#ifndef ESRA_TOOL_SYNTH_H
#define ESRA_TOOL_SYNTH_H

#include "io/photo.h"
#include "reading.h"

#define SYNTH_NAME "synth"

struct synth_options {
    char *transmitted, *reflected, *output, *size, *format, *quality, *depths[2];
    struct reading reading;
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct synth_job {
    struct synth_options options;
    esra_synth_settings settings; /* its table is of the command line */
    struct read_options read;
    struct write_options write;
    struct message message;
    struct photo pictures[2]; /* in linear light once read */
    struct photo depths[2];   /* one channel, as stored; empty: built in */
    esra_image depth_views[2];
    struct image inverses[2]; /* inverse depth of both layers */
    struct image *images;     /* n photos, then the two truths */
    esra_image *views;
    esra_synth_result result;
    esra_transform *motion;   /* 2 n: of the scene, then of the reflection */
    double *gains;            /* 2 n: a_i, then b_i */
    esra_camera *cameras;     /* n */
    struct output *outputs;   /* files begun */
    char **paths;             /* their names */
    int output_count, placed; /* how many there are, and are in their place */
    bool made_folder;
    enum exit_code interrupted;
};

/* synth_words.c: the command line's words. */
enum exit_code synth_take_words(struct synth_job *job);

/* synth_files.c: the files of a scene, begun before the work, so that a folder that may not be written is found at
 * once; then filled. */
esra_status synth_begin_files(struct synth_job *job);
esra_status synth_write_files(struct synth_job *job);

#endif
