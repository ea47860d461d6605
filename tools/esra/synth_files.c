/* tools/esra/synth_files.c - the files of a scene whose truth is known. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"
#include "io/paths.h"
#include "json.h"
#include "signals.h"
#include "synth.h"
#include "transforms.h"

static esra_status prepare_folder(struct synth_job *job)
{
    int files = job->settings.photos + (job->settings.depth ? 5 : 3);
    esra_status status;
    TRY(esra_output_reserve(files, &job->message));
    TRY(esra_paths_make_folder(job->options.output, &job->made_folder, &job->message));
    job->outputs = calloc((size_t)files, sizeof *job->outputs);
    job->paths = calloc((size_t)files, sizeof *job->paths);
    return job->outputs && job->paths ? ESRA_OK : esra_fail_memory(&job->message);
done:
    return status;
}

static esra_status begin_file(struct synth_job *job, const char *file)
{
    char *path = job->paths[job->output_count] = esra_paths_join(job->options.output, file);
    if (!path)
        return esra_fail_memory(&job->message);
    const struct synth_options *options = &job->options;
    const char *const inputs[] = {options->transmitted, options->reflected, options->depths[0], options->depths[1]};
    struct output *output = &job->outputs[job->output_count];
    esra_status status;
    output->fd = -1;
    job->output_count++;
    TRY(esra_output_spare(path, inputs, 4, &job->message));
    TRY(esra_output_open(output, path, &job->message));
    output->enough = signals_seen;
done:
    return status;
}

esra_status synth_begin_files(struct synth_job *job)
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
    TRY(esra_output_apart(job->paths, job->output_count, &job->message));
done:
    return status;
}

static esra_status write_pictures(struct synth_job *job)
{
    struct write_options truth = {"png", 0, 95};
    int n = job->settings.photos;
    esra_status status = ESRA_OK;
    for (int k = 0; k < n + 2; k++) {
        struct photo photo = {.pixels = job->images[k], .depth = job->settings.bits, .format = "PNG"};
        TRY(esra_photo_write_output(&photo, &job->outputs[k], job->paths[k], k < n ? &job->write : &truth,
                                    &job->message));
    }
done:
    return status;
}

static esra_status write_depths(struct synth_job *job)
{
    const size_t shape[2] = {(size_t)job->settings.height, (size_t)job->settings.width};
    esra_status status = ESRA_OK;
    for (int l = 0; job->settings.depth && l < 2; l++)
        TRY(esra_npy_write(&job->outputs[job->settings.photos + 2 + l], job->inverses[l].data, 2, shape,
                           &job->message));
done:
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

static json_t *cameras_to_json(const struct synth_job *job)
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
static void set_motions(const struct synth_job *job, json_t **object)
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

static json_t *truth_to_json(const struct synth_job *job)
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

static esra_status write_truth(struct synth_job *job)
{
    json_t *object = truth_to_json(job);
    char *text = json_text(object, JSON_INDENT(1));
    struct output *output = &job->outputs[job->output_count - 1];
    esra_status status;
    json_decref(object);
    if (!text)
        return esra_fail_memory(&job->message);
    TRY(esra_output_write(output, text, strlen(text), &job->message));
done:
    free(text);
    return status;
}

esra_status synth_write_files(struct synth_job *job)
{
    esra_status status;
    TRY(write_pictures(job));
    TRY(write_depths(job));
    TRY(write_truth(job));
done:
    return status;
}
