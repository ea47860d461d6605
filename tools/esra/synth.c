/* tools/esra/synth.c - esra synth: photos through glass whose truth is known, made of two pictures. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "colour/light.h"
#include "io/photo.h"
#include "io/profile.h"
#include "json_text.h"
#include "options.h"
#include "progress.h"
#include "transforms.h"

#define NAME "synth"

struct synth_options {
    char *transmitted, *reflected, *output, *photos, *seed, *size, *shift, *rotation, *gain, *transmission, *reflection;
    char *noise, *blur, *bits, *threads, *format, *quality;
    bool no_limits;
};

#define FIELD(name) offsetof(struct synth_options, name)

static const struct option options[] = {
    {"transmitted", 't', OPTION_FILE, "FILE", FIELD(transmitted), true, "the picture behind the glass"},
    {"reflected", 'r', OPTION_FILE, "FILE", FIELD(reflected), true, "the picture that the glass reflects"},
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true, "where the scene goes; made if it is not there"},
    {"photos", 'n', OPTION_TEXT, "N", FIELD(photos), false, "how many photos to make (default 5)"},
    {"seed", 0, OPTION_TEXT, "N", FIELD(seed), false, "another number makes another scene (default 1)"},
    {"size", 0, OPTION_TEXT, "WxH", FIELD(size), false, "width and height of the photos in px (default 640x480)"},
    {"shift", 0, OPTION_TEXT, "px", FIELD(shift), false, "how far the layers move, standard deviation (default 18)"},
    {"rotation", 0, OPTION_TEXT, "degrees", FIELD(rotation), false,
     "how far the camera turns, standard deviation; 0: the layers shift and nothing else (default 0.7)"},
    {"gain", 0, OPTION_TEXT, "X", FIELD(gain), false, "how far exposures differ, 0.1 is +-10 % (default 0.1)"},
    {"transmission", 0, OPTION_TEXT, "X", FIELD(transmission), false,
     "how much of the light behind passes the glass (default 0.75)"},
    {"reflection", 0, OPTION_TEXT, "X", FIELD(reflection), false, "how much light the glass reflects (default 0.3)"},
    {"noise", 0, OPTION_TEXT, "X", FIELD(noise), false, "standard deviation in stored values of 0..1 (default 0.006)"},
    {"blur", 0, OPTION_TEXT, "px", FIELD(blur), false, "how far the reflection is out of focus (default 1)"},
    {"bits", 0, OPTION_TEXT, "8|16", FIELD(bits), false, "of a stored value (default 8)"},
    {"format", 0, OPTION_TEXT, "png|jpg|tif", FIELD(format), false, "of the photos; the truth is always PNG (default png)"},
    {"quality", 0, OPTION_TEXT, "1..100", FIELD(quality), false, "of JPEG (default 95)"},
    {"threads", 0, OPTION_TEXT, "N", FIELD(threads), false, "0: as many as there are processors (default 0)"},
    {"no-limits", 0, OPTION_FLAG, NULL, FIELD(no_limits), false, "accept pictures of any size and amount of metadata"},
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct job {
    struct synth_options options;
    esra_synth_settings settings;
    struct write_options write;
    struct message message;
    struct photo pictures[2]; /* in linear light once read */
    struct image *images;     /* n photos, then the two truths */
    esra_image *views;
    esra_synth_result result;
    esra_transform *motion; /* 2 n: of the scene, then of the reflection */
    double *gains;          /* 2 n: a_i, then b_i */
    struct output *outputs; /* files begun and not yet in place */
    char **paths;           /* their names */
    int output_count;
    bool made_folder, watching; /* a folder was made; signals are caught */
    enum exit_code interrupted;
};

/* ---- The command line's words ---- */

static enum exit_code take_real(const char *flag, const char *text, double *value)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    *value = strtod(text, &end);
    return end != text && !*end ? EXIT_DONE : complain(EXIT_USAGE, NAME, "--%s takes a number, not '%s'", flag, text);
}

/* Numbers beyond int are clamped: the library then says what the range is. */
static enum exit_code take_count(const char *flag, const char *text, int *value)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    long number = strtol(text, &end, 10);
    *value = number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
    return end != text && !*end ? EXIT_DONE : complain(EXIT_USAGE, NAME, "--%s takes a whole number, not '%s'", flag, text);
}

/* At most what JSON's integers hold everywhere: truth.json repeats it. */
static enum exit_code take_seed(const char *text, unsigned long long *seed)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *seed = (unsigned long long)number;
    if (end == text || *end || errno || number < 0)
        return complain(EXIT_USAGE, NAME, "--seed takes a whole number from 0 up, not '%s'", text);
    return EXIT_DONE;
}

static enum exit_code take_size(const char *text, int *width, int *height)
{
    char rest;
    if (!text)
        return EXIT_DONE;
    if (sscanf(text, "%5dx%5d%c", width, height, &rest) != 2 || *width < 8 || *height < 8 || *width > 65536 || *height > 65536)
        return complain(EXIT_USAGE, NAME, "--size takes a width and a height such as 640x480, not '%s'", text);
    return EXIT_DONE;
}

static enum exit_code take_reals(struct job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings *s = &job->settings;
    const struct {
        const char *flag, *text;
        double *value;
    } reals[] = {{"shift", o->shift, &s->shift_px}, {"rotation", o->rotation, &s->rotation_deg},
                 {"gain", o->gain, &s->gain_spread}, {"transmission", o->transmission, &s->transmission},
                 {"reflection", o->reflection, &s->reflection}, {"noise", o->noise, &s->noise},
                 {"blur", o->blur, &s->blur_px}};
    enum exit_code code = EXIT_DONE;
    for (size_t n = 0; n < sizeof reals / sizeof reals[0] && code == EXIT_DONE; n++)
        code = take_real(reals[n].flag, reals[n].text, reals[n].value);
    return code;
}

static enum exit_code take_counts(struct job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings *s = &job->settings;
    const struct {
        const char *flag, *text;
        int *value;
    } counts[] = {{"photos", o->photos, &s->photos}, {"bits", o->bits, &s->bits}, {"threads", o->threads, &s->threads},
                  {"quality", o->quality, &job->write.quality}};
    enum exit_code code = EXIT_DONE;
    for (size_t n = 0; n < sizeof counts / sizeof counts[0] && code == EXIT_DONE; n++)
        code = take_count(counts[n].flag, counts[n].text, counts[n].value);
    return code;
}

static enum exit_code take_words(struct job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings_default(&job->settings);
    job->write = (struct write_options)WRITE_OPTIONS_DEFAULT;
    job->write.format = o->format ? o->format : "png";
    enum exit_code code = take_reals(job);
    if (code == EXIT_DONE)
        code = take_counts(job);
    if (code == EXIT_DONE)
        code = take_seed(o->seed, &job->settings.seed);
    if (code == EXIT_DONE)
        code = take_size(o->size, &job->settings.width, &job->settings.height);
    if (code == EXIT_DONE && job->settings.bits != 8 && job->settings.bits != 16)
        code = complain(EXIT_USAGE, NAME, "--bits takes 8 or 16, not '%s'", o->bits);
    if (code == EXIT_DONE && (job->write.quality < 1 || job->write.quality > 100))
        code = complain(EXIT_USAGE, NAME, "--quality takes a number from 1 to 100, not '%s'", o->quality);
    if (code == EXIT_DONE && (job->settings.photos < 1 || job->settings.photos > 1000))
        code = complain(EXIT_USAGE, NAME, "--photos takes a number from 1 to 1000, not '%s'", o->photos);
    return code;
}

/* ---- Inputs ---- */

static esra_status read_picture(struct job *job, struct photo *photo, const char *path)
{
    struct read_options read = READ_OPTIONS_DEFAULT;
    struct profile *profile = NULL;
    struct light light = {0};
    esra_status status;
    if (job->options.no_limits)
        read.limits = (struct limits)LIMITS_NONE;
    TRY(esra_photo_read(photo, path, &read, &job->message));
    int channels = photo->pixels.channels;
    TRY(esra_profile_open(&profile, &photo->icc, channels, &job->message));
    TRY(esra_light_choose(&light, photo->icc.size > 0, channels, profile ? esra_profile_curve : NULL, profile,
                          &job->message));
    esra_light_decode(&light, &photo->pixels);
fail:
    esra_light_free(&light);
    esra_profile_free(&profile);
    return status;
}

/* ---- The scene ---- */

static esra_image view(const struct image *image)
{
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static esra_status make_room(struct job *job)
{
    int n = job->settings.photos, a = job->pictures[0].pixels.channels, b = job->pictures[1].pixels.channels;
    size_t count = (size_t)n + 2;
    esra_status status = ESRA_OK;
    job->images = calloc(count, sizeof *job->images);
    job->views = calloc(count, sizeof *job->views);
    job->motion = calloc(2 * count, sizeof *job->motion);
    job->gains = calloc(2 * count, sizeof *job->gains);
    if (!job->images || !job->views || !job->motion || !job->gains)
        return esra_fail_memory(&job->message);
    for (size_t k = 0; k < count; k++) {
        TRY(esra_image_create(&job->images[k], job->settings.width, job->settings.height, a > b ? a : b, &job->message));
        job->views[k] = view(&job->images[k]);
    }
    job->result = (esra_synth_result)ESRA_SYNTH_RESULT_INIT;
    job->result.photos = job->views;
    job->result.transmitted = job->views[n];
    job->result.reflected = job->views[n + 1];
    job->result.transmitted_motion = job->motion;
    job->result.reflected_motion = job->motion + n;
    job->result.mixing = job->gains;
    job->result.reflection_gain = job->gains + n;
fail:
    return status;
}

static esra_status make_scene(struct job *job)
{
    esra_image t = view(&job->pictures[0].pixels), r = view(&job->pictures[1].pixels);
    esra_status status = esra_synth(&t, &r, &job->settings, &job->result);
    return status == ESRA_OK ? ESRA_OK : esra_fail(&job->message, status, "%s", job->result.message);
}

/* ---- Outputs ---- */

static esra_status prepare_folder(struct job *job)
{
    const char *folder = job->options.output;
    struct stat stat_;
    size_t files = (size_t)job->settings.photos + 3;
    job->made_folder = mkdir(folder, 0777) == 0;
    if (!job->made_folder && errno != EEXIST)
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot make the folder %s: %s", folder, strerror(errno));
    if (stat(folder, &stat_) || !S_ISDIR(stat_.st_mode))
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot write into %s: it is not a folder", folder);
    job->outputs = calloc(files, sizeof *job->outputs);
    job->paths = calloc(files, sizeof *job->paths);
    return job->outputs && job->paths ? ESRA_OK : esra_fail_memory(&job->message);
}

static esra_status begin_file(struct job *job, const char *file)
{
    size_t size = strlen(job->options.output) + strlen(file) + 2;
    char *path = job->paths[job->output_count] = malloc(size);
    if (!path)
        return esra_fail_memory(&job->message);
    snprintf(path, size, "%s/%s", job->options.output, file);
    struct output *output = &job->outputs[job->output_count];
    output->fd = -1;
    job->output_count++;
    return esra_output_open(output, path, &job->message);
}

/* All files are begun before the work: a folder that may not be written is found at once. */
static esra_status begin_files(struct job *job)
{
    char name[64];
    esra_status status;
    TRY(prepare_folder(job));
    for (int i = 1; i <= job->settings.photos; i++) {
        snprintf(name, sizeof name, "photo-%d.%.16s", i, job->write.format);
        TRY(esra_photo_check_write(name, &job->write, &job->message));
        TRY(begin_file(job, name));
    }
    TRY(begin_file(job, "truth-transmitted-1.png"));
    TRY(begin_file(job, "truth-reflected-1.png"));
    TRY(begin_file(job, "truth.json"));
fail:
    return status;
}

static esra_status write_pictures(struct job *job)
{
    struct write_options truth = {"png", 0, 95};
    int n = job->settings.photos;
    esra_status status = ESRA_OK;
    for (int k = 0; k < n + 2; k++) {
        struct photo photo = {.pixels = job->images[k], .depth = job->settings.bits, .format = "PNG"};
        TRY(esra_photo_write_output(&photo, &job->outputs[k], job->paths[k], k < n ? &job->write : &truth, &job->message));
    }
fail:
    return status;
}

static json_t *transforms_to_json(const esra_transform *transforms, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_append(&array, transform_to_json(&transforms[i]));
    return array;
}

static json_t *numbers_to_json(const double *numbers, int count)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_append(&array, json_real(numbers[i]));
    return array;
}

static json_t *truth_to_json(const struct job *job)
{
    const esra_synth_settings *s = &job->settings;
    const esra_synth_result *r = &job->result;
    return json_pack("{s:s, s:I, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f}", "schema", "esra-synth-1", "seed",
                     (json_int_t)s->seed, "width", s->width, "height", s->height, "reference", 1, "transmitted_homographies",
                     transforms_to_json(r->transmitted_motion, s->photos), "reflected_homographies",
                     transforms_to_json(r->reflected_motion, s->photos), "mixing", numbers_to_json(r->mixing, s->photos),
                     "reflection_gain", numbers_to_json(r->reflection_gain, s->photos), "transmission", s->transmission,
                     "reflection", s->reflection, "noise", s->noise, "blur", s->blur_px);
}

static esra_status write_truth(struct job *job)
{
    json_t *object = truth_to_json(job);
    char *text = json_text(object, JSON_INDENT(1));
    struct output *output = &job->outputs[job->output_count - 1];
    esra_status status;
    json_decref(object);
    if (!text)
        return esra_fail_memory(&job->message);
    TRY(esra_output_write(output, text, strlen(text), &job->message));
fail:
    free(text);
    return status;
}

static esra_status make_files(struct job *job)
{
    esra_status status;
    TRY(begin_files(job));
    TRY(make_scene(job));
    TRY(write_pictures(job));
    TRY(write_truth(job));
    /* Asked once: what is begun to be put in place is put there as a whole. */
    job->interrupted = signals_exit();
    for (int n = 0; n < job->output_count && job->interrupted == EXIT_DONE; n++)
        TRY(esra_output_commit(&job->outputs[n], &job->message));
fail:
    return status;
}

static enum exit_code work(struct job *job)
{
    esra_status status;
    enum exit_code code = take_words(job);
    if (code != EXIT_DONE)
        return code;
    TRY(read_picture(job, &job->pictures[0], job->options.transmitted));
    TRY(read_picture(job, &job->pictures[1], job->options.reflected));
    TRY(make_room(job));
    signals_begin();
    job->watching = true;
    TRY(make_files(job));
    if (job->interrupted != EXIT_DONE)
        return complain(job->interrupted, NAME, "interrupted; nothing was written");
    return EXIT_DONE;
fail:
    return complain(exit_code_of(status), NAME, "%s", job->message.text);
}

static void job_free(struct job *job, enum exit_code code)
{
    for (int n = 0; n < job->output_count; n++) {
        esra_output_discard(&job->outputs[n]);
        free(job->paths[n]);
    }
    /* A failure leaves nothing behind; a folder that others have put files in stays. */
    if (code != EXIT_DONE && job->made_folder)
        rmdir(job->options.output);
    for (int k = 0; job->images && k < job->settings.photos + 2; k++)
        esra_image_free(&job->images[k]);
    esra_photo_free(&job->pictures[0]);
    esra_photo_free(&job->pictures[1]);
    free(job->outputs);
    free(job->paths);
    free(job->images);
    free(job->views);
    free(job->motion);
    free(job->gains);
}

static enum exit_code run(int argc, char **argv)
{
    struct job job = {0};
    struct parsed parsed = {.command = &synth_command, .values = &job.options};
    enum exit_code code = options_parse(&parsed, argc, argv);
    if (code != EXIT_DONE)
        return code;
    if (parsed.help)
        code = help_command.run(2, (char *[]){(char *)"help", (char *)NAME, NULL});
    else
        code = work(&job);
    /* The handlers stay until files begun are in place or gone. */
    job_free(&job, code);
    if (job.watching)
        signals_end();
    options_free(&parsed);
    return code;
}

const struct command synth_command = {
    .name = NAME,
    .summary = "make photos through glass whose truth is known, of two pictures",
    .operands = "",
    .description =
        "Mixes the two pictures in linear light, each moved on its own as a hand moves a camera, with gains that differ, "
        "noise, and a reflection out of focus. Writes into FOLDER: photo-1, photo-2, ..., truth-transmitted-1.png and "
        "truth-reflected-1.png (the layers as photo 1 sees them), and truth.json: motions (px of photo 1 to px of the "
        "photo), gains and settings.\n\n"
        "A seed makes the same scene, bit for bit, with any number of threads. Files appear whole or not at all.",
    .example = "esra synth -t behind.jpg -r reflected.jpg -n 5 --seed 1 -o scene",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .run = run,
};
