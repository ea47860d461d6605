/* tools/esra/info.c - esra info: what photos are, and what separating them would take. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "io/paths.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "reading.h"
#include "text.h"

#define NAME "info"

struct info_options {
    struct reading reading;
    bool plan, json;
};

#define FIELD(name) offsetof(struct info_options, name)

static const struct option options[] = {
    {"plan", 0, OPTION_FLAG, NULL, FIELD(plan), false,
     "also print how much memory 'esra separate' of these photos takes with the settings given, and roughly how "
     "long"},
    {"json", 0, OPTION_FLAG, NULL, FIELD(json), false, "print all of it as JSON"},
    READING_OPTIONS(FIELD(reading)),
};

struct job {
    struct info_options options;
    esra_settings settings; /* of the separation that is planned */
    struct message message;
    struct read_options read;
    struct paths paths;
    struct photo *heads; /* without pixels; format NULL where one could not be read */
    struct memory_shape shape;
    esra_plan plan;
    double planned_bytes;
};

/* ---- Reading ---- */

/* A photo that cannot be read does not stop the others; *code is then that of the first such photo. Only running out of
 * memory ends the loop. */
static esra_status read_heads(struct job *job, enum exit_code *code)
{
    job->heads = calloc((size_t)job->paths.count + 1, sizeof *job->heads);
    if (!job->heads)
        return esra_fail_memory(&job->message);
    for (int i = 0; i < job->paths.count; i++) {
        esra_status status = esra_photo_read(&job->heads[i], job->paths.items[i], &job->read, &job->message);
        if (status == ESRA_OUT_OF_MEMORY)
            return status;
        if (status != ESRA_OK)
            complain(exit_code_of(status), NAME, "%s", job->message.text);
        if (*code == EXIT_DONE)
            *code = exit_code_of(status);
    }
    return ESRA_OK;
}

static enum exit_code make_plan(struct job *job)
{
    const struct image *first = &job->heads[0].pixels;
    struct memory_shape *shape = &job->shape;
    if (job->paths.count < 2)
        return complain(EXIT_DATA, NAME, "--plan needs two photos at least");
    *shape = (struct memory_shape){job->paths.count, first->width, first->height, 1, false};
    for (int i = 0; i < job->paths.count; i++) {
        const struct image *pixels = &job->heads[i].pixels;
        if (pixels->width != first->width || pixels->height != first->height)
            return complain(EXIT_DATA, NAME, "%s is %d x %d and %s is %d x %d: they cannot be separated together",
                            job->paths.items[0], first->width, first->height, job->paths.items[i], pixels->width,
                            pixels->height);
        shape->channels = pixels->channels > shape->channels ? pixels->channels : shape->channels;
    }
    esra_status status = memory_plan_separate(shape, &job->settings, &job->plan, &job->planned_bytes);
    if (status == ESRA_OVER_LIMIT)
        return complain(exit_code_of(status), NAME, "there are more pixels than this machine's addresses can hold");
    return status == ESRA_OK ? EXIT_DONE : complain(exit_code_of(status), NAME, "there are no such photos");
}

/* ---- Telling ---- */

static const char *profile_of(const struct photo *photo)
{
    return photo->icc.size == 0 ? NULL : photo->profile_name[0] ? photo->profile_name : "without a name";
}

static void print_photo(const char *name, const struct photo *photo)
{
    const struct image *pixels = &photo->pixels;
    const char *profile = profile_of(photo);
    print_plain(stdout, name);
    printf(": %s, %d x %d, %d bit%s, %s, ", photo->format, pixels->width, pixels->height, photo->depth,
           photo->depth == 32 ? " float" : "", pixels->channels == 1 ? "grey" : "RGB");
    printf(profile ? "profile %s%s" : "no profile%s%s", profile ? profile : "",
           profile && !photo->curves ? " (no curves)" : "");
    if (photo->orientation > 1)
        printf(", orientation %d", photo->orientation);
    printf("%s\n", photo->exif.size ? ", EXIF" : "");
}

static void print_text(const struct job *job)
{
    char memory[32];
    for (int i = 0; i < job->paths.count; i++)
        if (job->heads[i].format)
            print_photo(job->paths.items[i], &job->heads[i]);
    if (!job->options.plan)
        return;
    memory_tell(job->planned_bytes, memory, sizeof memory);
    printf("separating them takes about %s of memory, and some %.*f s of one core\n", memory,
           job->plan.core_seconds < 10 ? 1 : 0, job->plan.core_seconds);
}

static json_t *photo_to_json(const char *name, const struct photo *photo)
{
    const char *profile = profile_of(photo);
    return json_pack("{s:o, s:s, s:i, s:i, s:i, s:i, s:i, s:s?, s:b, s:b}", "file", name_to_json(name), "format",
                     photo->format, "width", photo->pixels.width, "height", photo->pixels.height, "channels",
                     photo->pixels.channels, "depth", photo->depth, "orientation", photo->orientation, "profile",
                     profile, "profile_curves", photo->curves != NULL, "exif", photo->exif.size > 0);
}

static json_t *plan_to_json(const struct job *job)
{
    return json_pack("{s:i, s:i, s:i, s:i, s:f, s:s, s:f}", "photos", job->shape.photos, "width", job->shape.width,
                     "height", job->shape.height, "channels", job->shape.channels, "memory_bytes", job->planned_bytes,
                     "stage", job->plan.stage, "core_seconds", job->plan.core_seconds);
}

static enum exit_code print_json(const struct job *job, enum exit_code code)
{
    json_t *photos = json_array();
    for (int i = 0; i < job->paths.count; i++)
        if (job->heads[i].format)
            json_append(&photos, photo_to_json(job->paths.items[i], &job->heads[i]));
    json_t *object = json_pack("{s:s, s:o}", "schema", "esra-info-1", "photos", photos);
    if (object && job->options.plan)
        json_set(&object, "plan", plan_to_json(job));
    return print_object(object, JSON_STYLE, NAME, code);
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    enum exit_code code = reading_take(&job->options.reading, NAME, &job->read);
    job->read.head_only = job->read.profile = true;
    if (code == EXIT_DONE && parsed->operand_count == 0)
        code = complain(EXIT_USAGE, NAME, "which photos? See 'esra help " NAME "'");
    if (code != EXIT_DONE)
        return code;
    esra_status status = esra_paths_expand(&job->paths, (const char *const *)parsed->operands, parsed->operand_count,
                                           job->read.limits.photos, &job->message);
    if (status == ESRA_OK)
        status = read_heads(job, &code);
    if (status != ESRA_OK)
        return complain(exit_code_of(status), NAME, "%s", job->message.text);
    if (code == EXIT_DONE && job->options.plan)
        code = make_plan(job);
    if (code != EXIT_DONE)
        job->options.plan = false;
    if (job->options.json)
        return print_json(job, code);
    print_text(job);
    return finish_stdout(code, NAME);
}

static void job_free(void *all, enum exit_code code)
{
    struct job *job = all;
    (void)code;
    for (int i = 0; job->heads && i < job->paths.count; i++)
        esra_photo_free(&job->heads[i]);
    free(job->heads);
    esra_paths_free(&job->paths);
}

static void init_settings(void *values)
{
    esra_settings_for_separation(values);
}

static const struct option_table settings_table = {.rows = esra_settings_table,
                                                   .init = init_settings,
                                                   .offset = offsetof(struct job, settings),
                                                   .heading = SETTINGS_HEADING};

const struct command info_command = {
    .name = NAME,
    .summary = "describe photos, and the memory and time that separating them takes",
    .operands = "PHOTO...",
    .max_operands = 1 << 20,
    .description = "Prints format, size (upright), bit depth, channels, profile and orientation of each photo. Only "
                   "headers are read: damage in the pixel data goes unnoticed.\n\n"
                   "With --plan, prints the peak memory of 'esra separate' for these photos and settings, to within "
                   "ten per cent.",
    .example = "esra info --plan shop-*.jpg",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .tables = &settings_table,
    .table_count = 1,
    .job_size = sizeof(struct job),
    .work = work,
    .free = job_free,
};
