/* tools/esra/synth.c - esra synth: photos through glass whose truth is known, made of two pictures. */
#include <stdlib.h>
#include <unistd.h>

#include "signals.h"
#include "synth.h"

#define FIELD(name) offsetof(struct synth_options, name)

static const struct option options[] = {
    {"transmitted", 't', OPTION_FILE, "FILE", FIELD(transmitted), true, "the picture behind the glass"},
    {"reflected", 'r', OPTION_FILE, "FILE", FIELD(reflected), true, "the picture that the glass reflects"},
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true, "where the scene goes; made if it is not there"},
    {"size", 0, OPTION_TEXT, "WxH", FIELD(size), false, "width and height of the photos in px (default 640x480)"},
    {"format", 0, OPTION_TEXT, "png|jpg|tif", FIELD(format), false,
     "of the photos; the truth is always PNG (default png)"},
    {"quality", 0, OPTION_TEXT, "1..100", FIELD(quality), false, "of JPEG (default 95)"},
    {"transmitted-depth", 0, OPTION_FILE, "FILE", FIELD(depths[0]), false,
     "depth map of the scene behind the glass, white is nearest (default: slanted planes and a near object); implies "
     "--depth"},
    {"reflected-depth", 0, OPTION_FILE, "FILE", FIELD(depths[1]), false, "the same for the reflected scene"},
    READING_OPTIONS(FIELD(reading)),
};

/* ---- Inputs ---- */

static esra_status read_picture(struct synth_job *job, struct photo *photo, const char *path)
{
    struct light light = {0};
    esra_status status;
    TRY(esra_photo_read(photo, path, &job->read, &job->message));
    TRY(reading_light(&light, photo, photo->pixels.channels, &job->message));
    esra_light_decode(&light, &photo->pixels);
    struct primaries own = reading_primaries(&light, photo), srgb = PRIMARIES_SRGB;
    struct colour_map to_srgb = esra_colour_map(&own, &srgb);
    esra_colour_map_apply(&to_srgb, &photo->pixels);
done:
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

static esra_status read_depth(struct synth_job *job, int layer)
{
    struct photo *depth = &job->depths[layer];
    esra_status status = ESRA_OK;
    if (!job->options.depths[layer])
        return ESRA_OK;
    TRY(esra_photo_read(depth, job->options.depths[layer], &job->read, &job->message));
    make_grey(&depth->pixels);
    job->depth_views[layer] = esra_image_planar(depth->pixels.data, depth->pixels.width, depth->pixels.height, 1);
    *(layer ? &job->settings.reflected_depth : &job->settings.transmitted_depth) = &job->depth_views[layer];
done:
    return status;
}

/* ---- The scene ---- */

static esra_image view(const struct image *image)
{
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static esra_status make_room_for_depth(struct synth_job *job)
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
done:
    return status;
}

static esra_status make_room(struct synth_job *job)
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
done:
    return status;
}

static esra_status make_scene(struct synth_job *job)
{
    esra_image t = view(&job->pictures[0].pixels), r = view(&job->pictures[1].pixels);
    signals_end_at_once(job->outputs, job->output_count, job->made_folder ? job->options.output : NULL);
    esra_status status = esra_synth(&t, &r, &job->settings, &job->result);
    signals_begin();
    return status == ESRA_OK ? ESRA_OK : esra_fail(&job->message, status, "%s", job->result.message);
}

static esra_status make_files(struct synth_job *job)
{
    esra_status status;
    TRY(synth_begin_files(job));
    TRY(make_scene(job));
    TRY(synth_write_files(job));
    /* Asked once: from here on all files are put in place. */
    job->interrupted = signals_exit();
    if (job->interrupted == EXIT_DONE)
        TRY(esra_output_commit_all(job->outputs, job->output_count, &job->placed, &job->message));
done:
    return status;
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct synth_job *job = all;
    esra_status status;
    (void)parsed;
    enum exit_code code = synth_take_words(job);
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
        return signals_complain(SYNTH_NAME, job->placed, job->message.text);
    TRY(status);
    return EXIT_DONE;
done:
    return complain(exit_code_of(status), SYNTH_NAME, "%s", job->message.text);
}

static void job_free(void *all, enum exit_code code)
{
    struct synth_job *job = all;
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

static void init_settings(void *values)
{
    esra_synth_settings_default(values);
}

/* Width and height are one option, --size. */
static const struct option_table settings_table = {.rows = esra_synth_table,
                                                   .init = init_settings,
                                                   .offset = offsetof(struct synth_job, settings),
                                                   .without = "width|height",
                                                   .letters = "n=photos"};

const struct command synth_command = {
    .name = SYNTH_NAME,
    .summary = "make photos through glass whose truth is known, of two pictures",
    .operands = "",
    .description =
        "Mixes the two pictures in linear light. Each layer has its own random handheld motion; exposures differ, the "
        "reflection is out of focus, and noise is added. Writes into FOLDER: photo-1, photo-2, ..., "
        "truth-transmitted-1.png and truth-reflected-1.png (the layers as photo 1 sees them), and truth.json: motions "
        "(px "
        "of photo 1 to px of the photo), gains and settings. With --depth each layer is a surface with depth and "
        "occlusions, seen by one camera that turns and moves; truth.json then has the cameras, and "
        "truth-transmitted-inverse-depth.npy and truth-reflected-inverse-depth.npy have the inverse depth of every "
        "pixel "
        "of photo 1. A point of photo 1 at pixel x with inverse depth q is at c + f (P0, P1)/P2 of photo i: "
        "P = rotation (X, 1) + q translation, X = (x - c)/f, c the middle of the photo.\n\n"
        "The same seed makes the same scene, bit for bit, with any number of threads. Files appear whole or not at "
        "all.",
    .example = "esra synth -t behind.jpg -r reflected.jpg -n 5 --seed 1 -o scene",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .tables = &settings_table,
    .table_count = 1,
    .job_size = sizeof(struct synth_job),
    .work = work,
    .free = job_free,
};
