/* tools/esra/separate_inputs.c - what esra separate and esra align are given: words, photos, transforms, gradients. */
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "separate.h"

/* Index of text among the words, 0 for NULL; -1: not among them. */
static int choose(const char *text, const char *const *words)
{
    for (int n = 0; words[n]; n++)
        if (strcmp(text ? text : words[0], words[n]) == 0)
            return n;
    return -1;
}

static bool take_number(const char *text, double standard, double lowest, double highest, double *value)
{
    char *end;
    *value = text ? strtod(text, &end) : standard;
    return !text || (end != text && *end == '\0' && *value >= lowest && *value <= highest);
}

enum exit_code job_take_words(struct job *job)
{
    const struct separate_options *o = &job->options;
    int layers = choose(o->layers, (const char *[]){"all", "transmitted", "reflected", NULL});
    if (layers < 0)
        return complain(EXIT_USAGE, job->name, "--layers takes one of all|transmitted|reflected, not '%s'", o->layers);
    if (choose(o->format, (const char *[]){"png", "jpg", "tif", "npy", NULL}) < 0)
        return complain(EXIT_USAGE, job->name, "--format takes one of png|jpg|tif|npy, not '%s'", o->format);
    if (!take_number(o->strength, 1, 0, 1, &job->strength))
        return complain(EXIT_USAGE, job->name, "--strength takes a number from 0 to 1, not '%s'", o->strength);
    if (!take_number(o->gain, 2, 0, 1000, &job->gain))
        return complain(EXIT_USAGE, job->name, "--reflection-gain takes a number from 0 to 1000, not '%s'", o->gain);
    if (!take_number(o->quality, 95, 1, 100, &job->quality))
        return complain(EXIT_USAGE, job->name, "--quality takes a number from 1 to 100, not '%s'", o->quality);
    if (!progress_begin(&job->progress, o->progress, o->quiet, &job->settings))
        return complain(EXIT_USAGE, job->name, "--progress takes one of auto|json|none, not '%s'", o->progress);
    enum exit_code code = reading_take(&o->reading, job->name, &job->read);
    if (code != EXIT_DONE)
        return code;
    code = memory_take(o->max_memory, job->name, &job->most_bytes);
    if (code != EXIT_DONE)
        return code;
    job->read.tolerate_truncated = o->tolerate_truncated;
    job->read.offers_tolerance = true;
    job->read.profile = job->photos.light != ESRA_LIGHT_STORED;
    job->write_transmitted = layers != 2;
    job->write_reflected = layers != 1;
    return EXIT_DONE;
}

/* Standard input can be read once: it serves as one input only. */
enum exit_code job_check_standard_input(const struct job *job, const struct parsed *parsed)
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
        return esra_fail(&job->message, ESRA_BAD_DATA, "--reference takes a number from 1 to %d, not '%s'",
                         job->scene.paths.count, text);
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
            return esra_fail(&job->message, ESRA_BAD_DATA,
                             "--mixing '%s' is not a list of positive numbers such as 1,0.95", job->options.mixing);
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

/* An npy_accept. */
static esra_status accept_gradients(void *user, const struct npy_array *head)
{
    struct job *job = user;
    const struct scene *scene = &job->scene;
    int layers = scene->paths.count + 1, dimensions = scene->channels > 1 ? 5 : 4;
    size_t shape[5] = {(size_t)layers, 2, (size_t)scene->height, (size_t)scene->width, (size_t)scene->channels};
    if (head->dimensions == dimensions && memcmp(head->shape, shape, (size_t)dimensions * sizeof *shape) == 0)
        return ESRA_OK;
    return esra_fail(&job->message, ESRA_BAD_DATA, "gradients %s must have shape (%d, 2, %d, %d%s) for these photos",
                     job->options.gradients, layers, scene->height, scene->width, dimensions == 5 ? ", 3" : "");
}

static esra_status take_gradients(struct job *job)
{
    const struct scene *scene = &job->scene;
    struct npy_array *array = &job->gradient_array;
    int layers = scene->paths.count + 1;
    esra_status status = ESRA_OK;
    if (!job->options.gradients)
        return ESRA_OK;
    TRY(esra_npy_read(array, job->options.gradients, accept_gradients, job, &job->message));
    job->gradient_views = calloc(2 * (size_t)layers, sizeof *job->gradient_views);
    if (!job->gradient_views)
        return esra_fail_memory(&job->message);
    for (int n = 0; n < 2 * layers; n++)
        job->gradient_views[n] = (esra_image){array->data + n / 2 * array->stride[0] + n % 2 * array->stride[1],
                                              scene->width,
                                              scene->height,
                                              scene->channels,
                                              array->stride[3],
                                              array->stride[2],
                                              array->dimensions == 5 ? array->stride[4] : 0};
    job->photos.gradients = job->gradient_views;
done:
    return status;
}

static esra_status take_transforms(struct job *job)
{
    esra_status status = ESRA_OK;
    if (!job->options.transforms)
        return ESRA_OK;
    const struct transforms_for photos = {job->scene.paths.count, job->scene.width, job->scene.height};
    TRY(transforms_read(&job->transforms, &photos, job->options.transforms, &job->message));
    if (job->options.reference && job->transforms.reference != job->reference)
        return esra_fail(&job->message, ESRA_BAD_DATA, "--reference %d does not fit %s, whose reference is photo %d",
                         job->reference + 1, job->options.transforms, job->transforms.reference + 1);
    job->reference = job->transforms.reference;
    job->photos.transmitted = job->transforms.transmitted;
    job->photos.reflected = job->transforms.reflected;
done:
    return status;
}

esra_status job_read_inputs(struct job *job, const struct parsed *parsed)
{
    struct scene_options options = {.read = job->read,
                                    .stored = job->photos.light == ESRA_LIGHT_STORED,
                                    .most_bytes = job->most_bytes,
                                    .gradients = job->options.gradients != NULL,
                                    .settings = &job->settings};
    esra_status status;
    TRY(scene_read(&job->scene, parsed->operands, parsed->operand_count, &options, &job->message));
    TRY(take_reference(job));
    TRY(take_transforms(job));
    TRY(take_mixing(job));
    TRY(take_gradients(job));
    scene_share_colours(&job->scene, job->reference);
    job->photos.photos = job->scene.paths.count;
    job->photos.images = job->scene.views;
    job->photos.reference = job->reference;
done:
    return status;
}
