/* tools/esra/separate.c - esra separate and esra align: photos in, layers out. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"
#include "separate.h"

#define FIELD(name) offsetof(struct separate_options, name)

/* What both commands take. */
#define SCENE_OPTIONS                                                                                                  \
    {"reference",                                                                                                      \
     'r',                                                                                                              \
     OPTION_TEXT,                                                                                                      \
     "N",                                                                                                              \
     FIELD(reference),                                                                                                 \
     false,                                                                                                            \
     "the photo, counted from 1, in whose frame the layers are computed (default: the middle one)"},                   \
        {"tolerate-truncated",                                                                                         \
         0,                                                                                                            \
         OPTION_FLAG,                                                                                                  \
         NULL,                                                                                                         \
         FIELD(tolerate_truncated),                                                                                    \
         false,                                                                                                        \
         "use what can be read of a damaged photo"},                                                                   \
        READING_OPTIONS(FIELD(reading)),                                                                               \
        {"progress",                                                                                                   \
         0,                                                                                                            \
         OPTION_TEXT,                                                                                                  \
         "auto|json|none",                                                                                             \
         FIELD(progress),                                                                                              \
         false,                                                                                                        \
         "how to tell progress on standard error: auto is a bar on a terminal, json a line for each step"},            \
    {                                                                                                                  \
        "quiet", 'q', OPTION_FLAG, NULL, FIELD(quiet), false, "say nothing but errors on standard error"               \
    }

static const struct option separate_options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true, "where the layers go; made if it is not there"},
    {"strength", 0, OPTION_TEXT, "0..1", FIELD(strength), false,
     "how much of the reflection to remove: 1 all of it, 0 none (default 1)"},
    {"layers", 0, OPTION_TEXT, "all|transmitted|reflected", FIELD(layers), false,
     "which layers to write (default all)"},
    {"format", 0, OPTION_TEXT, "png|jpg|tif|npy", FIELD(format), false, "of the layers (default png)"},
    {"quality", 0, OPTION_TEXT, "1..100", FIELD(quality), false, "of JPEG (default 95)"},
    {"reflection-gain", 0, OPTION_TEXT, "X", FIELD(gain), false,
     "how much brighter to draw the reflected layers (default 2)"},
    SCENE_OPTIONS,
    {"transforms", 0, OPTION_FILE, "FILE", FIELD(transforms), false,
     "use these transforms, as 'esra align' writes them, instead of estimating them"},
    {"mixing", 0, OPTION_TEXT, "a_1,...,a_m", FIELD(mixing), false,
     "the mixing coefficients: how brightly each photo shows the scene; instead of estimating them"},
    {"gradients", 0, OPTION_FILE, "FILE", FIELD(gradients), false,
     "the layers' gradients in the reference's frame, as for 'esra solve', instead of estimating them"},
    MEMORY_OPTION(FIELD(max_memory)),
    {"no-report", 0, OPTION_FLAG, NULL, FIELD(no_report), false, "do not write report.html"},
    {"json", 0, OPTION_FLAG, NULL, FIELD(json), false, "also print result.json on standard output"},
    {"keep-partial", 0, OPTION_FLAG, NULL, FIELD(keep_partial), false,
     "when interrupted, write the best layers found so far"},
};

static const struct option align_options[] = {
    {"output", 'o', OPTION_FILE, "FILE", FIELD(output), true,
     "where the transforms go, as JSON; '-' is standard output"},
    SCENE_OPTIONS,
};

static enum exit_code fail(const struct job *job, esra_status status)
{
    return complain(exit_code_of(status), job->name, "%s", job->message.text);
}

/* ---- The run ---- */

/* Keeps a certificate for the plot; when the array is full, every second one is dropped. */
static void keep_point(struct job *job, const esra_info *so_far)
{
    if (job->point_count == MOST_POINTS) {
        for (int n = 0; n < MOST_POINTS / 2; n++)
            job->points[n] = job->points[2 * n];
        job->point_count = MOST_POINTS / 2;
    }
    job->points[job->point_count++] = (struct report_point){so_far->seconds, so_far->gap};
}

int job_follow(void *user, const esra_info *so_far)
{
    struct job *job = user;
    if (so_far->objective > 0 && (job->point_count == 0 || job->points[job->point_count - 1].gap != so_far->gap))
        keep_point(job, so_far);
    return progress_tell(&job->progress, so_far);
}

typedef esra_status library_call(esra_solver *, const esra_photos *, const esra_settings *, esra_separation *);

/* `outputs` have been begun. */
static esra_status run_library(struct job *job, library_call *call, const struct output *outputs, int count)
{
    esra_solver *solver;
    if (!job->options.keep_partial)
        signals_end_at_once(outputs, count, job->folder_made ? job->options.output : NULL);
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK) {
        esra_solver_set_progress(solver, job_follow, job);
        status = call(solver, &job->photos, &job->settings, &job->separation);
    }
    snprintf(job->message.text, sizeof job->message.text, "%s", esra_solver_message(solver));
    esra_solver_free(&solver);
    progress_end(&job->progress);
    return status;
}

/* ---- Endings ---- */

static enum exit_code finish(struct job *job)
{
    enum exit_code code = signals_exit();
    bool interrupted = code != EXIT_DONE;
    esra_status status = job_write_all(job);
    if (status != ESRA_OK && signals_seen() && !job->options.keep_partial)
        return signals_complain(job->name, job->placed, job->message.text);
    if (status != ESRA_OK)
        return fail(job, status);
    if (!job->options.quiet)
        job_print_summary(job);
    if (!interrupted && job->separation.method == ESRA_METHOD_NONE)
        code = EXIT_NOT_ALIGNED;
    else if (!interrupted && job_short_of_gap(job))
        code = EXIT_GAP;
    if (job->options.json)
        return print_object(json_incref(job->result), JSON_STYLE, job->name, code);
    return finish_stdout(code, job->name);
}

/* What both commands begin with. */
static enum exit_code begin(struct job *job, const struct parsed *parsed)
{
    job->name = parsed->command->name;
    job->operands = parsed->operands;
    job->operand_count = parsed->operand_count;
    enum exit_code code = job_take_words(job);
    return code == EXIT_DONE ? job_check_standard_input(job, parsed) : code;
}

static enum exit_code separate(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    esra_status status;
    enum exit_code code = begin(job, parsed);
    if (code != EXIT_DONE)
        return code;
    TRY(job_read_inputs(job, parsed));
    signals_begin();
    TRY(job_prepare_outputs(job));
    TRY(job_make_room(job));
    TRY(job_make_pictures(job));
    TRY(run_library(job, esra_solver_separate, NULL, 0));
    return finish(job);
done:
    signals_begin(); /* no longer exit inside the handler: job_free() removes what was begun */
    return signals_seen() ? signals_complain(job->name, 0, "") : fail(job, status);
}

/* The reference counts too. */
static int aligned_photos(const struct job *job)
{
    int count = 0;
    for (int i = 0; i < job->scene.paths.count; i++)
        count += job->separation.facts[i].aligned != 0;
    return count;
}

static enum exit_code align(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    struct output output = {.fd = -1};
    json_t *object = NULL;
    esra_status status;
    enum exit_code code = begin(job, parsed);
    if (code != EXIT_DONE)
        return code;
    TRY(job_read_inputs(job, parsed));
    TRY(job_make_room(job));
    TRY(job_spare_inputs(job, job->options.output));
    signals_begin();
    TRY(esra_output_open(&output, job->options.output, &job->message));
    output.enough = signals_seen;
    status = run_library(job, esra_solver_align, &output, 1);
    signals_begin();
    TRY(status);
    object = json_pack("{s:s, s:i, s:i, s:i, s:o, s:o}", "schema", "esra-transforms-1", "reference", job->reference + 1,
                       "width", job->scene.width, "height", job->scene.height, "warnings",
                       job_warnings_to_json(job->separation.warnings), "photos", job_photos_to_json(job));
    status = object ? job_write_json(job, object, &output) : esra_fail_memory(&job->message);
    json_decref(object);
    TRY(status);
    TRY(esra_output_commit(&output, &job->message));
    if (!job->options.quiet)
        job_print_warnings(job);
    return aligned_photos(job) < 2 ? EXIT_NOT_ALIGNED : EXIT_DONE;
done:
    esra_output_discard(&output);
    return signals_seen() ? signals_complain(job->name, 0, "") : fail(job, status);
}

static void init_settings(void *values)
{
    esra_settings_for_separation(values);
}

static void init_photos(void *values)
{
    esra_photos_default(values);
}

/* The reference is an option of the command's own: it counts from 1, and is the middle one where nothing is said. */
#define PHOTOS_TABLE                                                                                                   \
    {                                                                                                                  \
        .rows = esra_photos_table, .init = init_photos, .offset = offsetof(struct job, photos), .without = "reference" \
    }

#define SETTINGS_TABLE(ONLY)                                                                                           \
    {                                                                                                                  \
        .rows = esra_settings_table, .init = init_settings, .offset = offsetof(struct job, settings), .only = (ONLY),  \
        .heading = SETTINGS_HEADING                                                                                    \
    }

static const struct option_table separate_tables[] = {PHOTOS_TABLE, SETTINGS_TABLE(NULL)};
static const struct option_table align_tables[] = {PHOTOS_TABLE, SETTINGS_TABLE("threads|cpu_mask")};

const struct command separate_command = {
    .name = "separate",
    .summary = "give back the scene behind the glass, and what each photo reflects",
    .operands = "PHOTO...",
    .max_operands = 1 << 20,
    .description = "Takes two to a dozen photos of one scene behind glass, the camera moved a little between them. "
                   "Writes into FOLDER: "
                   "transmitted (the scene, as the reference photo shows it), reflected-1, reflected-2, ... (what each "
                   "photo reflects, "
                   "in its own frame), confidence, result.json and report.html.\n\n"
                   "PHOTO may be '-' for standard input, or @FILE for a list of names, one a line.",
    .example = "esra separate shop-*.jpg -o out\n"
               "esra separate shop-*.jpg -o out --strength 0.8 --format jpg\n"
               "esra align shop-*.jpg -o t.json && esra separate shop-*.jpg -o out --transforms t.json",
    .options = separate_options,
    .option_count = sizeof separate_options / sizeof separate_options[0],
    .tables = separate_tables,
    .table_count = sizeof separate_tables / sizeof separate_tables[0],
    .job_size = sizeof(struct job),
    .work = separate,
    .free = job_free,
};

const struct command align_command = {
    .name = "align",
    .summary = "find how the layers move from photo to photo, and write it down",
    .operands = "PHOTO...",
    .max_operands = 1 << 20,
    .description =
        "Estimates, for each photo, the transforms from the reference that align the scene behind the glass and, where "
        "it "
        "is found, the reflection. They can be inspected, corrected by hand, and given to 'esra separate "
        "--transforms'. "
        "With --motion auto they are homographies; with --motion depth, where no single transform fits, median shifts.",
    .example = "esra align shop-*.jpg -o transforms.json",
    .options = align_options,
    .option_count = sizeof align_options / sizeof align_options[0],
    .tables = align_tables,
    .table_count = sizeof align_tables / sizeof align_tables[0],
    .job_size = sizeof(struct job),
    .work = align,
    .free = job_free,
};
