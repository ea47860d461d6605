/* tools/esra/separate_answer.c - what esra separate leaves behind: pictures, result.json and report.html. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "memory.h"
#include "separate.h"

json_t *job_warnings_to_json(unsigned warnings)
{
    json_t *list = json_array();
    size_t count;
    const esra_warning_row *table = esra_warning_table(&count);
    for (const esra_warning_row *row = table; row < table + count; row++)
        if (warnings & row->bit)
            json_append(&list, json_pack("{s:s,s:s,s:s}", "id", row->id, "text", row->text, "advice", row->advice));
    return list;
}

/* "way.name" stands as "name" in an object "way". */
static bool put_number(json_t *all, const char *name, double number)
{
    const char *dot = strchr(name, '.');
    char way[32] = "";
    json_t *into = all;
    if (dot) {
        snprintf(way, sizeof way, "%.*s", (int)(dot - name), name);
        into = json_object_get(all, way);
    }
    if (!into) {
        into = json_object();
        if (json_object_set_new(all, way, into) != 0)
            return false;
    }
    return json_object_set_new(into, dot ? dot + 1 : name, number_to_json(number)) == 0;
}

/* The rows of esra_evidence_table() of a photo, or of all, by their names. */
static json_t *evidence_to_json(const double *numbers, int of_photo)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    json_t *all = json_object();
    for (size_t n = 0; all && n < count; n++) {
        if (rows[n].of_photo != of_photo || put_number(all, rows[n].name, *numbers++))
            continue;
        json_decref(all);
        all = NULL;
    }
    return all;
}

/* What was asked for, as far as decisions hang on it. */
static json_t *asked_to_json(const struct job *job)
{
    const esra_photos *photos = &job->photos;
    return json_pack("{s:s, s:s, s:s, s:b, s:b, s:b}", "effort", esra_effort_name((esra_effort)photos->effort),
                     "motion", esra_motion_name((esra_motion)photos->motion), "light",
                     esra_light_name((esra_light)photos->light), "swap", photos->swap, "transforms",
                     photos->transmitted != NULL, "gradients", photos->gradients != NULL);
}

static json_t *photo_to_json(const struct job *job, int i)
{
    const esra_separation *s = &job->separation;
    const esra_photo_facts *f = &s->facts[i];
    const struct scene *scene = &job->scene;
    json_t *object = json_pack(
        "{s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o}", "file", name_to_json(scene->paths.items[i]),
        "aligned", f->aligned, "incomplete", scene->photos[i].incomplete, "overlap", number_to_json(f->overlap),
        "explained", number_to_json(f->explained), "explained_reflected", number_to_json(f->explained_reflected),
        "layers_apart_px", number_to_json(f->apart_px), "mixing", number_to_json(s->mixing[i]), "reflection_gain",
        number_to_json(s->reflection_gain[i]), "light", esra_light_origin_name(scene->lights[i].origin),
        "colours_converted", scene_converts(scene, job->reference, i), "transmitted",
        transform_to_json(&s->transmitted_motion[i]));
    bool found = s->method == ESRA_METHOD_JOINT || i == job->reference;
    if (!json_object_set_new(object, "reflected", found ? transform_to_json(&s->reflected_motion[i]) : json_null()))
        return object;
    json_decref(object);
    return NULL;
}

json_t *job_photos_to_json(const struct job *job)
{
    json_t *list = json_array();
    for (int i = 0; i < job->scene.paths.count; i++)
        json_append(&list, photo_to_json(job, i));
    return list;
}

/* How the pictures were written, for those who read them again. */
static json_t *output_to_json(const struct job *job)
{
    const char *layers = job->options.layers ? job->options.layers : "all";
    return json_pack("{s:s, s:i, s:s, s:f}", "format", job_picture_format(job), "quality", (int)job->quality, "layers",
                     layers, "brightness", job->gain);
}

/* In bytes, told when all else is done. */
static json_t *memory_to_json(const struct job *job)
{
    struct memory_shape shape = {job->scene.paths.count, job->scene.width, job->scene.height, job->scene.channels,
                                 job->options.gradients != NULL};
    esra_plan plan;
    double planned;
    memory_plan_separate(&shape, &job->settings, &plan, &planned);
    return json_pack("{s:f, s:f}", "planned", planned, "peak", memory_peak());
}

/* The photos, each with its evidence. */
static json_t *judged_photos_to_json(const struct job *job)
{
    json_t *list = job_photos_to_json(job);
    for (int i = 0; i < job->scene.paths.count; i++) {
        const double *evidence = job->photo_evidence + i * job->photo_evidence_rows;
        if (json_object_set_new(json_array_get(list, (size_t)i), "evidence", evidence_to_json(evidence, 1)) == 0)
            continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

esra_status job_make_result(struct job *job)
{
    const esra_separation *s = &job->separation;
    const esra_info *info = &job->info;
    bool solved = s->method != ESRA_METHOD_NONE, joint = s->joint_trusted > 0;
    char engine[32];
    setting_choice("engine", job->settings.engine, engine, sizeof engine);
    job->result = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:o, s:o, s:f, s:f, s:{s:s,s:s,s:o,s:o,s:o,s:i}, s:{s:o,s:o,s:o}, "
        "s:{s:o,s:o}, "
        "s:i, s:{s:f,s:f,s:f,s:f}}",
        "schema", "esra-separate-2", "version", esra_version(), "method", esra_method_name(s->method), "motion",
        esra_motion_name(s->motion), "light",
        job->photos.light == ESRA_LIGHT_STORED ? "stored"
        : s->in_roots                          ? "root"
                                               : "linear",
        "reference", job->reference + 1, "width", job->scene.width, "height", job->scene.height, "photos",
        judged_photos_to_json(job), "warnings", job_warnings_to_json(s->warnings), "lambda", job->settings.lambda,
        "strength", job->strength, "solve", "status", solved ? esra_outcome_name(info->outcome) : "none", "engine",
        engine, "objective", number_to_json(solved ? info->objective : NAN), "bound",
        number_to_json(solved ? info->bound : NAN), "gap", number_to_json(solved ? info->gap : NAN), "iterations",
        info->iterations, "joint", "objective", number_to_json(joint ? s->joint_objective : NAN), "residual",
        number_to_json(joint ? s->joint_residual : NAN), "trusted", number_to_json(joint ? s->joint_trusted : NAN),
        "prediction", "error", number_to_json(s->prediction_error), "baseline", number_to_json(s->prediction_base),
        "threads", info->threads, "seconds", "align", s->align_s, "joint", s->joint_s, "solve", s->solve_s, "total",
        s->total_s);
    return job->result && json_object_set_new(job->result, "asked", asked_to_json(job)) == 0 &&
                   json_object_set_new(job->result, "scale", json_real(s->scale)) == 0 &&
                   put_number(job->result, "exchange_probability", s->exchange_probability) &&
                   put_number(job->result, "taken_off", s->taken_off) &&
                   json_object_set_new(job->result, "evidence", evidence_to_json(job->evidence, 0)) == 0 &&
                   json_object_set_new(job->result, "output", output_to_json(job)) == 0 &&
                   json_object_set_new(job->result, "memory", memory_to_json(job)) == 0
               ? ESRA_OK
               : esra_fail_memory(&job->message);
}

/* In linear light: photo + strength (T - photo), then back to the reference's own code values. */
static void encode_transmitted(struct job *job)
{
    float strength = (float)job->strength;
    struct photo *before = &job->scene.photos[job->reference];
    float *t = job->transmitted.pixels.data, *photo = before->pixels.data;
    for (size_t n = 0; n < image_samples(&before->pixels); n++)
        t[n] = photo[n] + strength * (t[n] - photo[n]);
    scene_encode(&job->scene, job->reference, job->reference, &job->transmitted.pixels);
    scene_encode(&job->scene, job->reference, job->reference, &before->pixels);
}

static void encode_reflected(struct job *job, int i)
{
    struct image *r = &job->reflected[i].pixels;
    for (size_t n = 0; n < image_samples(r); n++)
        r->data[n] *= (float)job->gain;
    scene_encode(&job->scene, job->reference, i, r);
}

const char *job_picture_format(const struct job *job)
{
    return job->options.format ? job->options.format : "png";
}

struct write_options job_picture_options(const struct job *job)
{
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    options.format = job_picture_format(job);
    options.quality = (int)job->quality;
    return options;
}

/* Begins folder/file; it is put in place with all the others at the end. The name lives as long as the job. */
static esra_status begin_file(struct job *job, const char *file, struct output **output)
{
    char *path = esra_paths_join(job->options.output, file);
    *output = &job->outputs[job->output_count];
    if (!path)
        return esra_fail_memory(&job->message);
    esra_status status = esra_output_open(*output, path, &job->message);
    if (status != ESRA_OK) {
        free(path);
        return status;
    }
    /* Large pictures take seconds to encode; nothing of them is in place yet. */
    (*output)->enough = job->options.keep_partial ? NULL : signals_seen;
    job->output_count++;
    return ESRA_OK;
}

/* The picture, lent, with the profile and the EXIF of the photo whose code values it is in; of none for NULL. */
static struct photo with_metadata(const struct photo *picture, const struct photo *like)
{
    struct photo dressed = *picture;
    if (like) {
        dressed.icc = like->icc;
        dressed.exif = like->exif;
    }
    return dressed;
}

/* Pictures by number: the reflected layers', T, confidence. Those with an output are written. */
struct pictures {
    struct job *job;
    struct output **outputs; /* [photos + 2]; NULL: encoded for the report alone */
};

static esra_status begin_picture(struct pictures *pictures, int number, const char *stem)
{
    char file[64];
    snprintf(file, sizeof file, "%s.%s", stem, job_picture_format(pictures->job));
    return begin_file(pictures->job, file, &pictures->outputs[number]);
}

static esra_status begin_pictures(struct pictures *pictures)
{
    const struct job *job = pictures->job;
    int m = job->scene.paths.count;
    char stem[32];
    esra_status status = ESRA_OK;
    if (job->write_transmitted)
        TRY(begin_picture(pictures, m, "transmitted"));
    for (int i = 0; job->write_reflected && i < m; i++) {
        snprintf(stem, sizeof stem, "reflected-%d", i + 1);
        TRY(begin_picture(pictures, i, stem));
    }
    TRY(begin_picture(pictures, m + 1, "confidence"));
done:
    return status;
}

static struct photo make_picture(struct job *job, int number)
{
    int m = job->scene.paths.count;
    if (number > m)
        return job->confidence;
    if (number == m)
        encode_transmitted(job);
    else
        encode_reflected(job, number);
    return number == m ? with_metadata(&job->transmitted, &job->scene.photos[job->reference])
                       : with_metadata(&job->reflected[number], &job->scene.photos[number]);
}

static esra_status write_picture(void *work, int number, struct context *own)
{
    const struct pictures *pictures = work;
    struct output *output = pictures->outputs[number];
    struct write_options options = job_picture_options(pictures->job);
    struct photo picture = make_picture(pictures->job, number);
    return output ? esra_photo_write_output(&picture, output, output->name, &options, own->message) : ESRA_OK;
}

/* The pictures are the layers, in place; what encoders hold besides is a few rows each. */
static esra_status write_pictures(struct job *job)
{
    int count = job->scene.paths.count + 2;
    struct pictures pictures = {job, calloc((size_t)count, sizeof *pictures.outputs)};
    esra_status status;
    if (!pictures.outputs)
        return esra_fail_memory(&job->message);
    TRY(begin_pictures(&pictures));
    TRY(beside_run(write_picture, &pictures, count, job->settings.threads, &job->message));
done:
    free(pictures.outputs);
    return status;
}

esra_status job_write_json(struct job *job, const json_t *object, struct output *output)
{
    char *text = json_text(object, JSON_STYLE);
    esra_status status =
        text ? esra_output_write(output, text, strlen(text), &job->message) : esra_fail_memory(&job->message);
    free(text);
    return status;
}

static void list_images(const struct job *job, struct report_image *images)
{
    const struct photo *photos = job->scene.photos;
    int m = job->scene.paths.count;
    report_name_images(images, m, job_picture_format(job), job->gain);
    images[0].photo = with_metadata(&job->transmitted, &photos[job->reference]);
    if (!job->write_transmitted)
        images[0].file[0] = '\0';
    for (int i = 0; i < m; i++) {
        images[i + 1].photo = with_metadata(&job->reflected[i], &photos[i]);
        if (!job->write_reflected)
            images[i + 1].file[0] = '\0';
    }
    images[m + 1].photo = job->confidence;
}

esra_status job_write_report(struct job *job, bool exchanged, struct output *output)
{
    int m = job->scene.paths.count;
    struct report_image *images = calloc((size_t)m + 2, sizeof *images);
    if (!images)
        return esra_fail_memory(&job->message);
    list_images(job, images);
    struct report report = {
        .names = (const char *const *)job->scene.paths.items,
        .inputs = job->scene.photos,
        .photos = m,
        .reference = job->reference,
        .width = job->scene.width,
        .height = job->scene.height,
        .exchanged = exchanged,
        .before = &job->scene.photos[job->reference],
        .after = &images[0].photo,
        .images = images,
        .image_count = m + 2,
        .separation = &job->separation,
        .settings = &job->settings,
        .points = job->points,
        .point_count = job->point_count,
    };
    esra_status status = report_write(&report, output, &job->message);
    free(images);
    return status;
}

esra_status job_write_all(struct job *job)
{
    struct output *output;
    esra_status status;
    signals_begin();
    TRY(write_pictures(job));
    if (!job->options.no_report) {
        TRY(begin_file(job, "report.html", &output));
        TRY(job_write_report(job, false, output));
    }
    TRY(job_make_result(job));
    TRY(begin_file(job, "result.json", &output));
    TRY(job_write_json(job, job->result, output));
    TRY(esra_output_commit_all(job->outputs, job->output_count, &job->placed, &job->message));
done:
    return status;
}
