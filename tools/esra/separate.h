/* tools/esra/separate.h - what the files of esra separate and esra align share: one run of either. */
#ifndef ESRA_TOOL_SEPARATE_H
#define ESRA_TOOL_SEPARATE_H

#include <jansson.h>

#include "io/npy.h"
#include "json.h"
#include "options.h"
#include "progress.h"
#include "reading.h"
#include "report.h"
#include "scene.h"
#include "signals.h"
#include "transforms.h"

struct separate_options {
    char *output, *reference, *transforms, *mixing, *gradients, *strength, *gain, *layers, *format;
    char *quality, *progress, *max_memory;
    struct reading reading;
    bool json, quiet, keep_partial, tolerate_truncated, no_report;
};

/* Certificates kept for the report's plot, which is 640 px wide. */
#define MOST_POINTS 512

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct job {
    struct separate_options options;
    const char *name; /* of the command */
    char **operands;  /* photos and lists of photos, as they were given */
    int operand_count;
    esra_settings settings;
    struct message message;
    int reference; /* from 0 */
    struct read_options read;
    double strength, gain, quality, most_bytes;
    bool write_transmitted, write_reflected;
    struct scene scene;
    struct transforms transforms;
    double *mixing_given;
    struct npy_array gradient_array;
    esra_image *gradient_views;
    esra_photos photos; /* its options are of the command line */
    esra_separation separation;
    esra_info info;         /* of its certified solve */
    esra_transform *motion; /* 2 m: of the scene, then of the reflection */
    double *gains;          /* 2 m: a_i, then b_i */
    esra_photo_facts *facts;
    double *evidence, *photo_evidence; /* by esra_evidence_table() */
    int photo_evidence_rows;
    struct photo transmitted, *reflected, confidence; /* answers, in linear light until encoded */
    esra_image *reflected_views;
    struct progress progress;
    struct report_point points[MOST_POINTS];
    int point_count;
    int file_count; /* that will be written */
    char **paths;   /* of those, as many as there are */
    int path_count;
    struct output *outputs;   /* those begun */
    int output_count, placed; /* how many there are, and are in their place */
    bool folder_made;         /* by this run: it goes again if nothing comes into it */
    json_t *result;
};

/* separate_room.c: room for motions, gains and evidence; for the layers; and what frees all of it. */
esra_status job_make_room(struct job *job);
esra_status job_make_pictures(struct job *job);
void job_free(void *job, enum exit_code code);

/* separate.c: an esra_progress whose user is the job: keeps the certificates' course, and passes on to the progress
 * bar. */
int job_follow(void *user, const esra_info *so_far);

/* separate_inputs.c: the command line's words, and the files it names. */
enum exit_code job_take_words(struct job *job);
enum exit_code job_check_standard_input(const struct job *job, const struct parsed *parsed);
esra_status job_read_inputs(struct job *job, const struct parsed *parsed);

/* separate_checks.c: the folder, made and seen to take every file. */
esra_status job_prepare_outputs(struct job *job);

/* Fails where the output `path` is a photo, a list of them, or another file that the command was given. */
esra_status job_spare_inputs(struct job *job, const char *path);

/* Whether a scene with some options or others would write a file of this name into its folder. */
bool job_may_write(const char *file);

/* separate_answer.c: the files. */
struct write_options job_picture_options(const struct job *job);
esra_status job_write_all(struct job *job);

/* job->result: what result.json will say. */
esra_status job_make_result(struct job *job);

/* report.html of pictures that have been encoded to code values; exchanged: they were, afterwards. */
esra_status job_write_report(struct job *job, bool exchanged, struct output *output);

esra_status job_write_json(struct job *job, const json_t *object, struct output *output);
json_t *job_photos_to_json(const struct job *job);
json_t *job_warnings_to_json(unsigned warnings);
const char *job_picture_format(const struct job *job);

/* separate_ending.c: to people, on stderr: what was odd, and then how it went. */
void job_print_warnings(const struct job *job);
void job_print_summary(const struct job *job);

/* The layers are there, and not proven to be as good as was asked for. */
bool job_short_of_gap(const struct job *job);

#endif
