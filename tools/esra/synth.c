/* tools/esra/synth.c - esra synth: photos through glass whose truth is known, made of two pictures. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/npy.h"
#include "json.h"
#include "options.h"
#include "progress.h"
#include "reading.h"
#include "transforms.h"

#define NAME "synth"

struct synth_options {
    char *transmitted, *reflected, *output, *photos, *seed, *size, *shift, *rotation, *gain, *transmission, *reflection;
    char *noise, *blur, *bits, *threads, *format, *quality, *depths[2], *focal;
    bool depth;
    struct reading reading;
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
    {"format", 0, OPTION_TEXT, "png|jpg|tif", FIELD(format), false,
     "of the photos; the truth is always PNG (default png)"},
    {"quality", 0, OPTION_TEXT, "1..100", FIELD(quality), false, "of JPEG (default 95)"},
    {"depth", 0, OPTION_FLAG, NULL, FIELD(depth), false,
     "both layers are scenes with depth before one moving camera; --shift is then that of the nearest point"},
    {"transmitted-depth", 0, OPTION_FILE, "FILE", FIELD(depths[0]), false,
     "how near what is behind the glass is, white the nearest (default: planes aslant, and something near); means "
     "--depth"},
    {"reflected-depth", 0, OPTION_FILE, "FILE", FIELD(depths[1]), false, "the same of what is reflected"},
    {"focal", 0, OPTION_TEXT, "px", FIELD(focal), false,
     "focal length of that camera (default 1.2 times the larger side)"},
    {"threads", 0, OPTION_TEXT, "N", FIELD(threads), false, "0: as many as there are processors (default 0)"},
    READING_OPTIONS(FIELD(reading)),
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct job {
    struct synth_options options;
    esra_synth_settings settings;
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
    esra_transform *motion; /* 2 n: of the scene, then of the reflection */
    double *gains;          /* 2 n: a_i, then b_i */
    esra_camera *cameras;   /* n */
    struct output *outputs; /* files begun and not yet in place */
    char **paths;           /* their names */
    int output_count;
    bool made_folder;
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
    return end != text && !*end ? EXIT_DONE
                                : complain(EXIT_USAGE, NAME, "--%s takes a whole number, not '%s'", flag, text);
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
    if (sscanf(text, "%5dx%5d%c", width, height, &rest) != 2 || *width < 8 || *height < 8 || *width > 65536 ||
        *height > 65536)
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
    } reals[] = {{"shift", o->shift, &s->shift_px},
                 {"rotation", o->rotation, &s->rotation_deg},
                 {"gain", o->gain, &s->gain_spread},
                 {"transmission", o->transmission, &s->transmission},
                 {"reflection", o->reflection, &s->reflection},
                 {"noise", o->noise, &s->noise},
                 {"blur", o->blur, &s->blur_px},
                 {"focal", o->focal, &s->focal_px}};
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
    } counts[] = {{"photos", o->photos, &s->photos},
                  {"bits", o->bits, &s->bits},
                  {"threads", o->threads, &s->threads},
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
    job->settings.depth = o->depth || o->depths[0] || o->depths[1];
    enum exit_code code = reading_take(&o->reading, NAME, &job->read);
    job->read.profile = true;
    if (code == EXIT_DONE)
        code = take_reals(job);
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
    struct light light = {0};
    esra_status status;
    TRY(esra_photo_read(photo, path, &job->read, &job->message));
    TRY(reading_light(&light, photo, photo->pixels.channels, &job->message));
    esra_light_decode(&light, &photo->pixels);
fail:
    esra_light_free(&light);
    return status;
}

/* A colour picture of depths is taken for grey: the mean of its channels. */
static void make_grey(struct image *image)
{
    size_t pixels = (size_t)image->width * (size_t)image->height;
    for (size_t n = 0; n < pixels; n++) {
        float sum = 0;
        for (int c = 0; c < image->channels; c++)
            sum += image->data[(size_t)c * pixels + n];
        image->data[n] = sum / (float)image->channels;
    }
    image->channels = 1;
}

static esra_status read_depth(struct job *job, int layer)
{
    struct photo *depth = &job->depths[layer];
    esra_status status = ESRA_OK;
    if (!job->options.depths[layer])
        return ESRA_OK;
    TRY(esra_photo_read(depth, job->options.depths[layer], &job->read, &job->message));
    make_grey(&depth->pixels);
    job->depth_views[layer] = esra_image_planar(depth->pixels.data, depth->pixels.width, depth->pixels.height, 1);
    *(layer ? &job->settings.reflected_depth : &job->settings.transmitted_depth) = &job->depth_views[layer];
fail:
    return status;
}

/* ---- The scene ---- */

static esra_image view(const struct image *image)
{
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static esra_status make_room_for_depth(struct job *job)
{
    esra_status status = ESRA_OK;
    job->cameras = calloc((size_t)job->settings.photos, sizeof *job->cameras);
    if (!job->cameras)
        return esra_fail_memory(&job->message);
    for (int l = 0; l < 2; l++)
        TRY(esra_image_create(&job->inverses[l], job->settings.width, job->settings.height, 1, &job->message));
    job->result.cameras = job->cameras;
    job->result.transmitted_inverse = view(&job->inverses[0]);
    job->result.reflected_inverse = view(&job->inverses[1]);
fail:
    return status;
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
        TRY(esra_image_create(&job->images[k], job->settings.width, job->settings.height, a > b ? a : b,
                              &job->message));
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
    if (job->settings.depth)
        TRY(make_room_for_depth(job));
fail:
    return status;
}

static int heed(void *user, const esra_info *so_far)
{
    (void)user;
    (void)so_far;
    return signals_seen();
}

static esra_status make_scene(struct job *job)
{
    job->settings.progress = heed;
    esra_image t = view(&job->pictures[0].pixels), r = view(&job->pictures[1].pixels);
    esra_status status = esra_synth(&t, &r, &job->settings, &job->result);
    return status == ESRA_OK ? ESRA_OK : esra_fail(&job->message, status, "%s", job->result.message);
}

/* ---- Outputs ---- */

static esra_status prepare_folder(struct job *job)
{
    const char *folder = job->options.output;
    struct stat stat_;
    size_t files = (size_t)job->settings.photos + 5;
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
    esra_status status = esra_output_open(output, path, &job->message);
    output->enough = signals_seen;
    return status;
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
    if (job->settings.depth) {
        TRY(begin_file(job, "truth-transmitted-inverse-depth.npy"));
        TRY(begin_file(job, "truth-reflected-inverse-depth.npy"));
    }
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
        TRY(esra_photo_write_output(&photo, &job->outputs[k], job->paths[k], k < n ? &job->write : &truth,
                                    &job->message));
    }
fail:
    return status;
}

static esra_status write_depths(struct job *job)
{
    const size_t shape[2] = {(size_t)job->settings.height, (size_t)job->settings.width};
    esra_status status = ESRA_OK;
    for (int l = 0; job->settings.depth && l < 2; l++)
        TRY(esra_npy_write(&job->outputs[job->settings.photos + 2 + l], job->inverses[l].data, 2, shape,
                           &job->message));
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

static json_t *cameras_to_json(const struct job *job)
{
    json_t *array = json_array();
    for (int i = 0; i < job->settings.photos; i++) {
        const double *r = job->cameras[i].rotation, *t = job->cameras[i].translation;
        json_append(&array, json_pack("{s:[[f,f,f],[f,f,f],[f,f,f]], s:[f,f,f]}", "rotation", r[0], r[1], r[2], r[3],
                                      r[4], r[5], r[6], r[7], r[8], "translation", t[0], t[1], t[2]));
    }
    return array;
}

/* Of flat layers their motions, of layers with depth the cameras: with the inverse depths beside they tell every
 * pixel's. */
static void set_motions(const struct job *job, json_t **object)
{
    const esra_synth_result *r = &job->result;
    int n = job->settings.photos;
    if (job->settings.depth) {
        json_set(object, "focal_px", json_real(r->focal_px));
        json_set(object, "cameras", cameras_to_json(job));
    } else {
        json_set(object, "transmitted_homographies", transforms_to_json(r->transmitted_motion, n));
        json_set(object, "reflected_homographies", transforms_to_json(r->reflected_motion, n));
    }
}

static json_t *truth_to_json(const struct job *job)
{
    const esra_synth_settings *s = &job->settings;
    const esra_synth_result *r = &job->result;
    json_t *object = json_pack("{s:s, s:I, s:i, s:i, s:i}", "schema", "esra-synth-1", "seed", (json_int_t)s->seed,
                               "width", s->width, "height", s->height, "reference", 1);
    set_motions(job, &object);
    json_set(&object, "mixing", numbers_to_json(r->mixing, s->photos));
    json_set(&object, "reflection_gain", numbers_to_json(r->reflection_gain, s->photos));
    json_set(&object, "transmission", json_real(s->transmission));
    json_set(&object, "reflection", json_real(s->reflection));
    json_set(&object, "noise", json_real(s->noise));
    json_set(&object, "blur", json_real(s->blur_px));
    return object;
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
    TRY(write_depths(job));
    TRY(write_truth(job));
    /* Asked once: what is begun to be put in place is put there as a whole. */
    job->interrupted = signals_exit();
    for (int n = 0; n < job->output_count && job->interrupted == EXIT_DONE; n++)
        TRY(esra_output_commit(&job->outputs[n], &job->message));
fail:
    return status;
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    esra_status status;
    (void)parsed;
    enum exit_code code = take_words(job);
    if (code != EXIT_DONE)
        return code;
    TRY(read_picture(job, &job->pictures[0], job->options.transmitted));
    TRY(read_picture(job, &job->pictures[1], job->options.reflected));
    TRY(read_depth(job, 0));
    TRY(read_depth(job, 1));
    TRY(make_room(job));
    signals_begin();
    status = make_files(job);
    if (job->interrupted != EXIT_DONE || (status != ESRA_OK && signals_seen()))
        return complain(signals_exit(), NAME, "interrupted; nothing was written");
    TRY(status);
    return EXIT_DONE;
fail:
    return complain(exit_code_of(status), NAME, "%s", job->message.text);
}

static void job_free(void *all, enum exit_code code)
{
    struct job *job = all;
    for (int n = 0; n < job->output_count; n++) {
        esra_output_discard(&job->outputs[n]);
        free(job->paths[n]);
    }
    /* A failure leaves nothing behind; a folder that others have put files in stays. */
    if (code != EXIT_DONE && job->made_folder)
        rmdir(job->options.output);
    for (int k = 0; job->images && k < job->settings.photos + 2; k++)
        esra_image_free(&job->images[k]);
    for (int l = 0; l < 2; l++) {
        esra_photo_free(&job->pictures[l]);
        esra_photo_free(&job->depths[l]);
        esra_image_free(&job->inverses[l]);
    }
    free(job->cameras);
    free(job->outputs);
    free(job->paths);
    free(job->images);
    free(job->views);
    free(job->motion);
    free(job->gains);
}

const struct command synth_command = {
    .name = NAME,
    .summary = "make photos through glass whose truth is known, of two pictures",
    .operands = "",
    .description =
        "Mixes the two pictures in linear light, each moved on its own as a hand moves a camera, with gains that "
        "differ, "
        "noise, and a reflection out of focus. Writes into FOLDER: photo-1, photo-2, ..., truth-transmitted-1.png and "
        "truth-reflected-1.png (the layers as photo 1 sees them), and truth.json: motions (px of photo 1 to px of the "
        "photo), gains and settings. With --depth each layer is a surface before one camera that turns and moves, near "
        "parts "
        "hiding what is behind them; truth.json then has the cameras, and truth-transmitted-inverse-depth.npy and "
        "truth-reflected-inverse-depth.npy what photo 1 sees how near. A point of photo 1 at pixel x with inverse "
        "depth q is at "
        "c + f (P0, P1)/P2 of photo i: P = rotation (X, 1) + q translation, X = (x - c)/f, c the middle of the "
        "photo.\n\n"
        "A seed makes the same scene, bit for bit, with any number of threads. Files appear whole or not at all.",
    .example = "esra synth -t behind.jpg -r reflected.jpg -n 5 --seed 1 -o scene",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct job),
    .work = work,
    .free = job_free,
};
