/* tools/esra/separate.c - esra separate and esra align: photos in, layers out. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/npy.h"
#include "options.h"
#include "progress.h"
#include "report.h"
#include "scene.h"
#include "transforms.h"
#include "warnings.h"

struct separate_options {
    char *output, *reference, *motion, *light, *transforms, *mixing, *gradients, *strength, *gain, *layers, *format;
    char *progress;
    bool swap, json, quiet, keep_partial, tolerate_truncated, no_limits, no_report;
};

/* Twelve digits: more than any number here is worth. */
#define JSON_STYLE (JSON_INDENT(2) | JSON_REAL_PRECISION(12))

#define FIELD(name) offsetof(struct separate_options, name)

/* What both commands take. */
#define SCENE_OPTIONS                                                                                                  \
    {"reference", 'r', OPTION_TEXT, "N", FIELD(reference), false,                                                      \
     "the photo, from 1, in whose frame the answer is drawn (default: the middle one)"},                               \
        {"motion", 0, OPTION_TEXT, "homography|affine|translation", FIELD(motion), false,                              \
         "how freely the layers may move from photo to photo (default homography)"},                                   \
        {"light", 0, OPTION_TEXT, "linear|stored", FIELD(light), false,                                                \
         "work in linear light, where layers add up, or in the values stored (default linear)"},                       \
        {"swap", 0, OPTION_FLAG, NULL, FIELD(swap), false,                                                             \
         "take the layer that was taken for the scene as the reflection, and the other way round"},                    \
        {"tolerate-truncated", 0, OPTION_FLAG, NULL, FIELD(tolerate_truncated), false,                                 \
         "use what can be read of a damaged photo"},                                                                   \
        {"no-limits", 0, OPTION_FLAG, NULL, FIELD(no_limits), false,                                                   \
         "accept photos of any size, number and amount of metadata"},                                                  \
        {"progress", 0, OPTION_TEXT, "auto|json|none", FIELD(progress), false,                                         \
         "how to tell progress on standard error: auto is a bar on a terminal, json a line for each step"},            \
    {"quiet", 'q', OPTION_FLAG, NULL, FIELD(quiet), false, "say nothing but errors on standard error"}

static const struct option separate_options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true, "where the layers go; made if it is not there"},
    SCENE_OPTIONS,
    {"transforms", 0, OPTION_FILE, "FILE", FIELD(transforms), false,
     "align by these, as 'esra align' writes them, instead of finding out"},
    {"mixing", 0, OPTION_TEXT, "a_1,...,a_m", FIELD(mixing), false,
     "how brightly each photo shows the scene, instead of measuring it"},
    {"gradients", 0, OPTION_FILE, "FILE", FIELD(gradients), false,
     "the layers' gradients in the reference's frame, as for 'esra solve', instead of finding them"},
    {"strength", 0, OPTION_TEXT, "0..1", FIELD(strength), false,
     "how much of the reflection to take out (default 1)"},
    {"reflection-gain", 0, OPTION_TEXT, "X", FIELD(gain), false,
     "how much brighter to draw the reflected layers (default 2)"},
    {"layers", 0, OPTION_TEXT, "all|transmitted|reflected", FIELD(layers), false, "which layers to write (default all)"},
    {"format", 0, OPTION_TEXT, "png|jpg|tif|npy", FIELD(format), false, "of the layers (default png)"},
    {"no-report", 0, OPTION_FLAG, NULL, FIELD(no_report), false, "do not write report.html"},
    {"json", 0, OPTION_FLAG, NULL, FIELD(json), false, "also print result.json on standard output"},
    {"keep-partial", 0, OPTION_FLAG, NULL, FIELD(keep_partial), false,
     "when interrupted, write the best layers found so far"},
};

static const struct option align_options[] = {
    {"output", 'o', OPTION_FILE, "FILE", FIELD(output), true, "where the transforms go, as JSON; '-' is standard output"},
    SCENE_OPTIONS,
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct job {
    const char *name; /* of the command */
    struct separate_options options;
    esra_settings settings;
    struct message message;
    int reference; /* from 0 */
    double strength, gain;
    bool write_transmitted, write_reflected;
    struct scene scene;
    struct transforms transforms;
    double *mixing_given;
    struct npy_array gradient_array;
    esra_image *gradient_views;
    esra_photos photos;
    esra_separation separation;
    esra_transform *motion; /* 2 m: of the scene, then of the reflection */
    double *gains;          /* 2 m: a_i, then b_i */
    esra_photo_facts *facts;
    struct photo transmitted, *reflected, confidence; /* answers, in linear light until encoded */
    esra_image *reflected_views;
    struct progress progress;
    struct report_point *points;
    int point_count, point_room;
    struct output *outputs; /* files begun and not yet in place */
    int output_count;
    bool folder_made; /* by this run: it goes again if nothing comes into it */
    json_t *result;
};

static enum exit_code fail(const struct job *job, esra_status status)
{
    return complain(exit_code_of(status), job->name, "%s", job->message.text);
}

/* ---- The command line's words ---- */

static int choose(const char *text, const char *first, const char *second, const char *third, const char *fourth)
{
    const char *words[] = {first, second, third, fourth};
    for (int n = 0; n < 4; n++)
        if (words[n] && strcmp(text ? text : first, words[n]) == 0)
            return n;
    return -1;
}

static bool take_number(const char *text, double standard, double lowest, double highest, double *value)
{
    char *end;
    *value = text ? strtod(text, &end) : standard;
    return !text || (end != text && *end == '\0' && *value >= lowest && *value <= highest);
}

static enum exit_code take_words(struct job *job)
{
    const struct separate_options *o = &job->options;
    int motion = choose(o->motion, "homography", "affine", "translation", NULL);
    int light = choose(o->light, "linear", "stored", NULL, NULL);
    int layers = choose(o->layers, "all", "transmitted", "reflected", NULL);
    if (motion < 0)
        return complain(EXIT_USAGE, job->name, "--motion takes one of homography|affine|translation, not '%s'", o->motion);
    if (light < 0)
        return complain(EXIT_USAGE, job->name, "--light takes one of linear|stored, not '%s'", o->light);
    if (layers < 0)
        return complain(EXIT_USAGE, job->name, "--layers takes one of all|transmitted|reflected, not '%s'", o->layers);
    if (choose(o->format, "png", "jpg", "tif", "npy") < 0)
        return complain(EXIT_USAGE, job->name, "--format takes one of png|jpg|tif|npy, not '%s'", o->format);
    if (!take_number(o->strength, 1, 0, 1, &job->strength))
        return complain(EXIT_USAGE, job->name, "--strength takes a number from 0 to 1, not '%s'", o->strength);
    if (!take_number(o->gain, 2, 0, 1000, &job->gain))
        return complain(EXIT_USAGE, job->name, "--reflection-gain takes a number from 0 to 1000, not '%s'", o->gain);
    if (!progress_begin(&job->progress, o->progress, o->quiet, &job->settings))
        return complain(EXIT_USAGE, job->name, "--progress takes one of auto|json|none, not '%s'", o->progress);
    job->photos = (esra_photos)ESRA_PHOTOS_INIT;
    job->photos.motion = (esra_motion)motion;
    job->photos.stored_values = light == 1;
    job->photos.swap = o->swap;
    job->write_transmitted = layers != 2;
    job->write_reflected = layers != 1;
    return EXIT_DONE;
}

/* What is read once cannot be two inputs; to wait for a second would only tell that it is empty. */
static enum exit_code check_standard_input(const struct job *job, const struct parsed *parsed)
{
    const struct separate_options *o = &job->options;
    int used = (o->transforms && strcmp(o->transforms, "-") == 0) + (o->gradients && strcmp(o->gradients, "-") == 0);
    for (int n = 0; n < parsed->operand_count; n++)
        used += strcmp(parsed->operands[n], "-") == 0 || strcmp(parsed->operands[n], "@-") == 0;
    return used > 1 ? complain(EXIT_USAGE, job->name, "only one input can come from standard input") : EXIT_DONE;
}

static esra_status take_reference(struct job *job)
{
    const char *text = job->options.reference;
    char *end;
    long number = text ? strtol(text, &end, 10) : (job->scene.paths.count + 1) / 2;
    if (text && (end == text || *end || number < 1 || number > job->scene.paths.count))
        return esra_fail(&job->message, ESRA_BAD_DATA, "--reference takes a number from 1 to %d, not '%s'", job->scene.paths.count,
                         text);
    job->reference = (int)number - 1;
    return ESRA_OK;
}

/* ---- Inputs ---- */

static esra_status take_mixing(struct job *job)
{
    const char *at = job->options.mixing;
    char *end;
    int count = 0;
    if (!at)
        return ESRA_OK;
    job->mixing_given = calloc((size_t)job->scene.paths.count, sizeof *job->mixing_given);
    if (!job->mixing_given)
        return esra_fail_memory(&job->message);
    for (;; at = end + 1, count++) {
        double value = strtod(at, &end);
        if (end == at || (*end && *end != ',') || !(value > 0 && value < 1000))
            return esra_fail(&job->message, ESRA_BAD_DATA, "--mixing '%s' is not a list of positive numbers such as 1,0.95",
                             job->options.mixing);
        if (count < job->scene.paths.count)
            job->mixing_given[count] = value;
        if (!*end)
            break;
    }
    if (count + 1 != job->scene.paths.count)
        return esra_fail(&job->message, ESRA_BAD_DATA, "--mixing has %d coefficient(s) for %d photos: give one each",
                         count + 1, job->scene.paths.count);
    job->photos.mixing = job->mixing_given;
    return ESRA_OK;
}

static esra_status take_gradients(struct job *job)
{
    const struct scene *scene = &job->scene;
    struct npy_array *array = &job->gradient_array;
    int layers = scene->paths.count + 1, dimensions = scene->channels > 1 ? 5 : 4;
    size_t shape[5] = {(size_t)layers, 2, (size_t)scene->height, (size_t)scene->width, (size_t)scene->channels};
    esra_status status = ESRA_OK;
    if (!job->options.gradients)
        return ESRA_OK;
    TRY(esra_npy_read(array, job->options.gradients, &job->message));
    if (array->dimensions != dimensions || memcmp(array->shape, shape, (size_t)dimensions * sizeof *shape) != 0)
        return esra_fail(&job->message, ESRA_BAD_DATA, "gradients %s must have shape (%d, 2, %d, %d%s) for these photos",
                         job->options.gradients, layers, scene->height, scene->width, dimensions == 5 ? ", 3" : "");
    job->gradient_views = calloc(2 * (size_t)layers, sizeof *job->gradient_views);
    if (!job->gradient_views)
        return esra_fail_memory(&job->message);
    for (int n = 0; n < 2 * layers; n++)
        job->gradient_views[n] = (esra_image){array->data + n / 2 * array->stride[0] + n % 2 * array->stride[1],
                                              scene->width, scene->height, scene->channels, array->stride[3],
                                              array->stride[2], dimensions == 5 ? array->stride[4] : 0};
    job->photos.gradients = job->gradient_views;
fail:
    return status;
}

static esra_status take_transforms(struct job *job)
{
    esra_status status = ESRA_OK;
    if (!job->options.transforms)
        return ESRA_OK;
    TRY(transforms_read(&job->transforms, job->options.transforms, job->scene.paths.count, job->scene.width, job->scene.height,
                        &job->message));
    if (job->options.reference && job->transforms.reference != job->reference)
        return esra_fail(&job->message, ESRA_BAD_DATA, "--reference %d does not fit %s, whose reference is photo %d",
                         job->reference + 1, job->options.transforms, job->transforms.reference + 1);
    job->reference = job->transforms.reference;
    job->photos.transmitted = job->transforms.transmitted;
    job->photos.reflected = job->transforms.reflected;
fail:
    return status;
}

static esra_status read_inputs(struct job *job, const struct parsed *parsed)
{
    struct scene_options options = {.read = READ_OPTIONS_DEFAULT,
                                    .stored = job->photos.stored_values};
    esra_status status;
    options.read.tolerate_truncated = job->options.tolerate_truncated;
    if (job->options.no_limits)
        options.read.limits = (struct limits)LIMITS_NONE;
    TRY(scene_read(&job->scene, parsed->operands, parsed->operand_count, &options, &job->message));
    TRY(take_reference(job));
    TRY(take_transforms(job));
    TRY(take_mixing(job));
    TRY(take_gradients(job));
    job->photos.photos = job->scene.paths.count;
    job->photos.images = job->scene.views;
    job->photos.reference = job->reference;
fail:
    return status;
}

/* ---- The run ---- */

static esra_status make_answer(struct job *job, struct photo *answer, const struct photo *like)
{
    answer->depth = like->depth;
    answer->format = like->format;
    return esra_image_create(&answer->pixels, job->scene.width, job->scene.height, job->scene.channels, &job->message);
}

static esra_image view_of(const struct photo *photo)
{
    const struct image *image = &photo->pixels;
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static esra_status make_room(struct job *job)
{
    size_t m = (size_t)job->scene.paths.count;
    esra_separation *s = &job->separation;
    job->motion = calloc(2 * m, sizeof *job->motion);
    job->gains = calloc(2 * m, sizeof *job->gains);
    job->facts = calloc(m, sizeof *job->facts);
    if (!job->motion || !job->gains || !job->facts)
        return esra_fail_memory(&job->message);
    *s = (esra_separation){.struct_size = sizeof *s};
    s->transmitted_motion = job->motion;
    s->reflected_motion = job->motion + m;
    s->mixing = job->gains;
    s->reflection_gain = job->gains + m;
    s->facts = job->facts;
    return ESRA_OK;
}

static esra_status make_pictures(struct job *job)
{
    esra_status status;
    const struct photo *photos = job->scene.photos;
    job->reflected = calloc((size_t)job->scene.paths.count, sizeof *job->reflected);
    job->reflected_views = calloc((size_t)job->scene.paths.count, sizeof *job->reflected_views);
    if (!job->reflected || !job->reflected_views)
        return esra_fail_memory(&job->message);
    TRY(make_answer(job, &job->transmitted, &photos[job->reference]));
    for (int i = 0; i < job->scene.paths.count; i++) {
        TRY(make_answer(job, &job->reflected[i], &photos[i]));
        job->reflected_views[i] = view_of(&job->reflected[i]);
    }
    job->confidence.depth = 8;
    TRY(esra_image_create(&job->confidence.pixels, job->scene.width, job->scene.height, 1, &job->message));
    job->separation.transmitted = view_of(&job->transmitted);
    job->separation.reflected = job->reflected_views;
    job->separation.confidence = view_of(&job->confidence);
fail:
    return status;
}

/* Keeps the certificates for the plot, and passes on to the progress bar. */
static int follow(void *user, const esra_info *so_far)
{
    struct job *job = user;
    if (so_far->objective > 0 && (job->point_count == 0 || job->points[job->point_count - 1].iterations < so_far->iterations)) {
        if (job->point_count == job->point_room) {
            int room = job->point_room ? 2 * job->point_room : 64;
            struct report_point *points = realloc(job->points, (size_t)room * sizeof *points);
            if (points) {
                job->points = points;
                job->point_room = room;
            }
        }
        if (job->point_count < job->point_room)
            job->points[job->point_count++] = (struct report_point){so_far->iterations, so_far->gap};
    }
    return progress_tell(&job->progress, so_far);
}

typedef esra_status library_call(esra_solver *, const esra_photos *, const esra_settings *, esra_separation *);

static esra_status run_library(struct job *job, library_call *call)
{
    esra_solver *solver;
    signals_begin();
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK) {
        esra_solver_set_progress(solver, follow, job);
        status = call(solver, &job->photos, &job->settings, &job->separation);
    }
    snprintf(job->message.text, sizeof job->message.text, "%s", esra_solver_message(solver));
    esra_solver_free(&solver);
    signals_end();
    progress_end(&job->progress);
    return status;
}

/* ---- The answer ---- */

static const char *method_name(esra_method method)
{
    static const char *const names[] = {"none", "voting", "joint", "given"};
    return names[method];
}

static json_t *warnings_to_json(unsigned warnings)
{
    json_t *list = json_array();
#define ROW(flag, word, text, advice) \
    if (warnings & flag)              \
        json_array_append_new(list, json_pack("{s:s,s:s,s:s}", "id", word, "text", text, "advice", advice));
    WARNING_TABLE(ROW)
#undef ROW
    return list;
}

/* Bytes of the UTF-8 character at text; 0 where there is none. */
static size_t character_size(const char *text, size_t left)
{
    for (size_t size = 1; size <= 4 && size <= left; size++) {
        json_t *character = json_stringn(text, size);
        bool whole = character != NULL;
        json_decref(character);
        if (whole)
            return size;
    }
    return 0;
}

/* A file's name may hold any bytes, JSON holds UTF-8: every byte that is not stands as U+FFFD. */
static json_t *name_to_json(const char *name)
{
    static const char unknown[] = "\xef\xbf\xbd";
    size_t left = strlen(name), used = 0;
    char *text = malloc(3 * left + 1);
    while (text && left > 0) {
        size_t size = character_size(name, left), taken = size ? size : 1;
        memcpy(text + used, size ? name : unknown, size ? size : 3);
        used += size ? size : 3;
        name += taken;
        left -= taken;
    }
    json_t *string = text ? json_stringn(text, used) : NULL;
    free(text);
    return string;
}

static json_t *photo_to_json(const struct job *job, int i)
{
    const esra_separation *s = &job->separation;
    const esra_photo_facts *f = &s->facts[i];
    const struct scene *scene = &job->scene;
    json_t *object = json_pack(
        "{s:o, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:s, s:o}", "file", name_to_json(scene->paths.items[i]), "aligned",
        f->aligned, "overlap", f->overlap, "explained", f->explained, "explained_reflected", f->explained_reflected, "layers_apart_px", f->apart_px,
        "mixing", s->mixing[i], "reflection_gain", s->reflection_gain[i], "light",
        esra_light_origin_name(scene->lights[i].origin), "transmitted", transform_to_json(&s->transmitted_motion[i]));
    bool found = s->method == ESRA_METHOD_JOINT || i == job->reference;
    if (object)
        json_object_set_new(object, "reflected", found ? transform_to_json(&s->reflected_motion[i]) : json_null());
    return object;
}

static json_t *photos_to_json(const struct job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->scene.paths.count; i++)
        if (json_array_append_new(list, photo_to_json(job, i))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static esra_status make_result(struct job *job)
{
    const esra_separation *s = &job->separation;
    const esra_info *info = &s->info;
    char engine[32];
    setting_choice("engine", job->settings.engine, engine, sizeof engine);
    job->result = json_pack(
        "{s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:{s:s,s:s,s:f,s:f,s:f,s:i}, s:{s:f,s:f}, s:i, s:{s:f,s:f,s:f,s:f}}",
        "schema", "esra-separate-1", "version", esra_version(), "method", method_name(s->method), "reference",
        job->reference + 1, "width", job->scene.width, "height", job->scene.height, "photos", photos_to_json(job), "warnings",
        warnings_to_json(s->warnings), "lambda", job->settings.lambda, "strength", job->strength, "solve", "status",
        s->method == ESRA_METHOD_NONE ? "none" : esra_outcome_name(info->outcome), "engine", engine, "objective",
        info->objective, "bound", info->bound, "gap", info->gap, "iterations", info->iterations, "joint", "objective",
        s->joint_objective, "residual", s->joint_residual, "threads", info->threads, "seconds", "align", s->align_s, "joint",
        s->joint_s, "solve", s->solve_s, "total", s->total_s);
    return job->result ? ESRA_OK : esra_fail_memory(&job->message);
}

/* In linear light: photo + strength (T - photo), then back to the reference's own code values. */
static void encode_pictures(struct job *job)
{
    float strength = (float)job->strength;
    struct photo *before = &job->scene.photos[job->reference];
    size_t samples = (size_t)job->scene.width * (size_t)job->scene.height * (size_t)job->scene.channels;
    float *t = job->transmitted.pixels.data, *photo = before->pixels.data;
    for (size_t n = 0; n < samples; n++)
        t[n] = photo[n] + strength * (t[n] - photo[n]);
    esra_light_encode(&job->scene.lights[job->reference], &job->transmitted.pixels);
    esra_light_encode(&job->scene.lights[job->reference], &before->pixels);
    for (int i = 0; i < job->scene.paths.count; i++) {
        float *r = job->reflected[i].pixels.data;
        for (size_t n = 0; n < samples; n++)
            r[n] *= (float)job->gain;
        esra_light_encode(&job->scene.lights[i], &job->reflected[i].pixels);
    }
}

static char *join(const char *folder, const char *file)
{
    size_t size = strlen(folder) + strlen(file) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", folder, file);
    return path;
}

static const char *picture_format(const struct job *job)
{
    return job->options.format ? job->options.format : "png";
}

/* Begins folder/file; it is put in place with all the others at the end. The name lives as long as the job. */
static esra_status begin_file(struct job *job, const char *file, struct output **output)
{
    char *path = join(job->options.output, file);
    *output = &job->outputs[job->output_count];
    if (!path)
        return esra_fail_memory(&job->message);
    esra_status status = esra_output_open(*output, path, &job->message);
    if (status != ESRA_OK) {
        free(path);
        return status;
    }
    job->output_count++;
    return ESRA_OK;
}

static esra_status write_picture(struct job *job, const char *stem, const struct photo *picture, const struct photo *like)
{
    const char *format = picture_format(job);
    char file[64];
    struct output *output;
    struct photo with_metadata = *picture;
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    esra_status status;
    options.format = format;
    snprintf(file, sizeof file, "%s.%s", stem, format);
    if (like) {
        with_metadata.icc = like->icc;
        with_metadata.exif = like->exif;
    }
    TRY(begin_file(job, file, &output));
    TRY(esra_photo_write_output(&with_metadata, output, file, &options, &job->message));
fail:
    return status;
}

static esra_status write_pictures(struct job *job)
{
    char stem[32];
    esra_status status = ESRA_OK;
    if (job->write_transmitted)
        TRY(write_picture(job, "transmitted", &job->transmitted, &job->scene.photos[job->reference]));
    for (int i = 0; job->write_reflected && i < job->scene.paths.count; i++) {
        snprintf(stem, sizeof stem, "reflected-%d", i + 1);
        TRY(write_picture(job, stem, &job->reflected[i], &job->scene.photos[i]));
    }
    TRY(write_picture(job, "confidence", &job->confidence, NULL));
fail:
    return status;
}

static esra_status write_json(struct job *job, const json_t *object, struct output *output)
{
    char *text = json_dumps(object, JSON_STYLE);
    esra_status status = text ? esra_output_write(output, text, strlen(text), &job->message) : esra_fail_memory(&job->message);
    free(text);
    return status == ESRA_OK ? esra_output_write(output, "\n", 1, &job->message) : status;
}

static esra_status write_report(struct job *job)
{
    struct output *output;
    esra_status status;
    int m = job->scene.paths.count;
    struct report_image *images = calloc((size_t)m + 2, sizeof *images);
    char(*titles)[64] = calloc((size_t)m, sizeof *titles);
    if (!images || !titles)
        TRY(esra_fail_memory(&job->message));
    images[0] = (struct report_image){"the scene behind the glass", &job->transmitted};
    for (int i = 0; i < m; i++) {
        snprintf(titles[i], sizeof titles[i], "what photo %d reflects, %g times as bright", i + 1, job->gain);
        images[i + 1] = (struct report_image){titles[i], &job->reflected[i]};
    }
    images[m + 1] = (struct report_image){"confidence: white where the layers explain every photo", &job->confidence};
    struct report report = {
        .names = (const char *const *)job->scene.paths.items, .photos = m, .reference = job->reference,
        .width = job->scene.width, .height = job->scene.height, .before = &job->scene.photos[job->reference],
        .after = &job->transmitted, .images = images, .image_count = m + 2, .separation = &job->separation,
        .settings = &job->settings, .points = job->points, .point_count = job->point_count,
    };
    TRY(begin_file(job, "report.html", &output));
    TRY(report_write(&report, output, &job->message));
fail:
    free(images);
    free(titles);
    return status;
}

static esra_status write_all(struct job *job)
{
    struct output *output;
    esra_status status;
    encode_pictures(job);
    TRY(make_result(job));
    TRY(write_pictures(job));
    TRY(begin_file(job, "result.json", &output));
    TRY(write_json(job, job->result, output));
    if (!job->options.no_report)
        TRY(write_report(job));
    for (int n = 0; n < job->output_count; n++)
        TRY(esra_output_commit(&job->outputs[n], &job->message));
fail:
    return status;
}

/* Photos cannot be taken again: none is written over, by whatever name it came. */
static esra_status spare_input(struct job *job, const char *stem)
{
    char file[64];
    struct stat output, input;
    esra_status status = ESRA_OK;
    snprintf(file, sizeof file, "%s.%s", stem, picture_format(job));
    char *path = join(job->options.output, file);
    if (!path)
        return esra_fail_memory(&job->message);
    if (stat(path, &output) == 0)
        for (int i = 0; status == ESRA_OK && i < job->scene.paths.count; i++)
            if (stat(job->scene.paths.items[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
                status = esra_fail(&job->message, ESRA_CANNOT_CREATE, "%s is one of the photos, and would be written over: "
                                   "choose another folder", path);
    free(path);
    return status;
}

static esra_status spare_inputs(struct job *job)
{
    char stem[32];
    esra_status status;
    TRY(spare_input(job, "confidence"));
    if (job->write_transmitted)
        TRY(spare_input(job, "transmitted"));
    for (int i = 0; job->write_reflected && i < job->scene.paths.count; i++) {
        snprintf(stem, sizeof stem, "reflected-%d", i + 1);
        TRY(spare_input(job, stem));
    }
fail:
    return status;
}

/* The folder is made and seen to be writable before any work is done. */
static esra_status prepare_folder(struct job *job)
{
    const char *folder = job->options.output;
    struct stat stat_;
    struct output probe;
    char *path;
    job->folder_made = mkdir(folder, 0777) == 0;
    if (!job->folder_made && errno != EEXIST)
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot make the folder %s: %s", folder, strerror(errno));
    if (stat(folder, &stat_) || !S_ISDIR(stat_.st_mode))
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot write into %s: it is not a folder", folder);
    job->outputs = calloc((size_t)job->scene.paths.count + 4, sizeof *job->outputs);
    path = join(folder, "result.json");
    if (!job->outputs || !path) {
        free(path);
        return esra_fail_memory(&job->message);
    }
    esra_status status = esra_output_open(&probe, path, &job->message);
    esra_output_discard(&probe);
    free(path);
    return status;
}

/* ---- Endings ---- */

static void print_warnings(const struct job *job)
{
#define ROW(flag, word, text, advice)        \
    if (job->separation.warnings & flag) {   \
        fprintf(stderr, "warning: %s %s\n", text, advice); \
    }
    WARNING_TABLE(ROW)
#undef ROW
}

static void print_summary(const struct job *job)
{
    const esra_separation *s = &job->separation;
    print_warnings(job);
    if (s->method == ESRA_METHOD_NONE && job->write_transmitted)
        fprintf(stderr, "the layers could not be told apart: %s/transmitted.%s is the photo as it was\n", job->options.output,
                picture_format(job));
    else if (s->method == ESRA_METHOD_NONE)
        fprintf(stderr, "the layers could not be told apart\n");
    else
        fprintf(stderr, "separated by %s in %.1f s, certified gap %.2g; look at %s/%s\n", method_name(s->method), s->total_s,
                s->info.gap, job->options.output, job->options.no_report ? "" : "report.html");
}

static enum exit_code finish(struct job *job)
{
    enum exit_code code = signals_exit();
    bool interrupted = code != EXIT_DONE;
    if (interrupted && !job->options.keep_partial)
        return complain(code, job->name, "interrupted; nothing was written");
    esra_status status = write_all(job);
    if (status != ESRA_OK)
        return fail(job, status);
    if (!job->options.quiet)
        print_summary(job);
    if (!interrupted && job->separation.method == ESRA_METHOD_NONE)
        code = EXIT_NOT_ALIGNED;
    else if (!interrupted && job->separation.info.outcome != ESRA_OPTIMAL && job->settings.gap > 0)
        code = EXIT_GAP;
    if (job->options.json && (json_dumpf(job->result, stdout, JSON_STYLE) || putchar('\n') == EOF))
        return complain(EXIT_IO, job->name, "the result could not be printed on standard output");
    return finish_stdout(code, job->name);
}

static enum exit_code separate(struct job *job, const struct parsed *parsed)
{
    esra_status status;
    enum exit_code code = take_words(job);
    if (code == EXIT_DONE)
        code = check_standard_input(job, parsed);
    if (code != EXIT_DONE)
        return code;
    TRY(read_inputs(job, parsed));
    TRY(prepare_folder(job));
    TRY(spare_inputs(job));
    TRY(make_room(job));
    TRY(make_pictures(job));
    TRY(run_library(job, esra_solver_separate));
    return finish(job);
fail:
    return fail(job, status);
}

static enum exit_code align(struct job *job, const struct parsed *parsed)
{
    struct output output = {.fd = -1};
    json_t *object = NULL;
    esra_status status;
    enum exit_code code = take_words(job);
    if (code == EXIT_DONE)
        code = check_standard_input(job, parsed);
    if (code != EXIT_DONE)
        return code;
    TRY(read_inputs(job, parsed));
    TRY(make_room(job));
    TRY(esra_output_open(&output, job->options.output, &job->message));
    TRY(run_library(job, esra_solver_align));
    if (signals_exit() != EXIT_DONE) {
        esra_output_discard(&output);
        return complain(signals_exit(), job->name, "interrupted; nothing was written");
    }
    object = json_pack("{s:s, s:i, s:i, s:i, s:o, s:o}", "schema", "esra-transforms-1", "reference", job->reference + 1,
                       "width", job->scene.width, "height", job->scene.height, "warnings",
                       warnings_to_json(job->separation.warnings), "photos", photos_to_json(job));
    status = object ? write_json(job, object, &output) : esra_fail_memory(&job->message);
    json_decref(object);
    TRY(status);
    TRY(esra_output_commit(&output, &job->message));
    if (!job->options.quiet)
        print_warnings(job);
    return job->separation.warnings & ESRA_WARN_NOT_ALIGNED ? EXIT_NOT_ALIGNED : EXIT_DONE;
fail:
    esra_output_discard(&output);
    return fail(job, status);
}

static void job_free(struct job *job)
{
    for (int n = 0; n < job->output_count; n++) {
        const char *name = job->outputs[n].name;
        esra_output_discard(&job->outputs[n]);
        free((char *)name);
    }
    if (job->folder_made)
        rmdir(job->options.output); /* fails, as it should, once there are files */
    for (int i = 0; job->reflected && i < job->scene.paths.count; i++)
        esra_image_free(&job->reflected[i].pixels);
    esra_image_free(&job->transmitted.pixels);
    esra_image_free(&job->confidence.pixels);
    esra_npy_free(&job->gradient_array);
    transforms_free(&job->transforms);
    scene_free(&job->scene);
    json_decref(job->result);
    free(job->outputs);
    free(job->reflected);
    free(job->reflected_views);
    free(job->gradient_views);
    free(job->mixing_given);
    free(job->motion);
    free(job->gains);
    free(job->facts);
    free(job->points);
}

static enum exit_code run(const struct command *command, int argc, char **argv,
                          enum exit_code (*work)(struct job *, const struct parsed *))
{
    struct job job = {.name = command->name};
    struct parsed parsed = {.command = command, .values = &job.options, .settings = &job.settings};
    enum exit_code code = options_parse(&parsed, argc, argv);
    if (code != EXIT_DONE)
        return code;
    if (parsed.help)
        code = help_command.run(2, (char *[]){(char *)"help", (char *)command->name, NULL});
    else
        code = work(&job, &parsed);
    job_free(&job);
    options_free(&parsed);
    return code;
}

static enum exit_code run_separate(int argc, char **argv)
{
    return run(&separate_command, argc, argv, separate);
}

static enum exit_code run_align(int argc, char **argv)
{
    return run(&align_command, argc, argv, align);
}

/* Gradients found from photos are good, and layers have settled long before the last digits of the gap (doc/NUMERICS.md). */
static const struct preset presets[] = {{"lambda", 0.003}, {"gap", 0.05}};

const struct command separate_command = {
    .name = "separate",
    .summary = "give back the scene behind the glass, and what each photo reflects",
    .operands = "PHOTO...",
    .max_operands = 1 << 20,
    .description =
        "Takes two to a dozen photos of one scene behind glass, the camera moved a little between them. Writes into FOLDER: "
        "transmitted (the scene, as the reference photo shows it), reflected-1, reflected-2, ... (what each photo reflects, "
        "in its own frame), confidence, result.json and report.html.\n\n"
        "PHOTO may be '-' for standard input, or @FILE for a list of names, one a line.",
    .example = "esra separate shop-*.jpg -o out",
    .options = separate_options,
    .option_count = sizeof separate_options / sizeof separate_options[0],
    .takes_settings = true,
    .presets = presets,
    .preset_count = sizeof presets / sizeof presets[0],
    .run = run_separate,
};

const struct command align_command = {
    .name = "align",
    .summary = "find how the layers move from photo to photo, and write it down",
    .operands = "PHOTO...",
    .max_operands = 1 << 20,
    .description =
        "Writes the transforms by which the scene behind the glass and, where it is found, the reflection stand still: they "
        "can be looked at, repaired by hand, and given to 'esra separate --transforms'.",
    .example = "esra align shop-*.jpg -o transforms.json",
    .options = align_options,
    .option_count = sizeof align_options / sizeof align_options[0],
    .takes_settings = true,
    .run = run_align,
};
