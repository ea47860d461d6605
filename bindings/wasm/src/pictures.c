/* bindings/wasm/src/pictures.c - the files of a finished job, whatever strength and whichever layer is called the
 * scene: pictures, result.json and report.html. The layers themselves stay as they were found, in light. */
#include <stdlib.h>
#include <string.h>

#include "module.h"
#include "result.h"
#include "swap.h"

/* How the layers are to be shown, and, for words about them, in which files. */
struct view {
    double strength;
    bool exchanged;
    const char *format;
};

/* The format's word, where it stays. */
static const char *lasting(const char *format)
{
    static const char *const words[] = {"png", "jpg", "tif", "npy"};
    for (size_t n = 0; n < sizeof words / sizeof words[0]; n++)
        if (strcmp(words[n], format) == 0)
            return words[n];
    return words[0];
}

static esra_status copy_pixels(struct photo *copy, const struct photo *from, struct message *message)
{
    const struct image *p = &from->pixels;
    esra_status status;
    *copy = *from;
    TRY(esra_image_reserve(&copy->pixels, p->width, p->height, p->channels, message));
    memcpy(copy->pixels.data, p->data, (size_t)p->width * (size_t)p->height * (size_t)p->channels * sizeof *p->data);
done:
    return status;
}

/* The job as 'esra swap' knows it: layers whole and not brightened, copies of those that it will change. */
static struct swap exchange_of(struct job *job)
{
    struct swap swap = {.scene = job->scene};
    swap.result.photos = job->scene.paths.count;
    swap.result.reference = job->reference;
    swap.result.strength = swap.result.brightness = 1;
    swap.result.roots = job->separation.in_roots != 0;
    swap.result.motion = job->motion;
    swap.result.gains = job->gains;
    swap.result.facts = job->facts;
    return swap;
}

/* What photo i reflects once the layers are exchanged; of the reference, also what it then shows. */
static esra_status exchange(struct job *job, int i, struct photo *transmitted, struct photo *reflected)
{
    struct swap swap = exchange_of(job);
    esra_status status;
    swap.reflected = calloc((size_t)job->scene.paths.count, sizeof *swap.reflected);
    if (!swap.reflected)
        return esra_fail_memory(&job->message);
    TRY(copy_pixels(&swap.transmitted, &job->transmitted, &job->message));
    TRY(copy_pixels(&swap.reflected[i], &job->reflected[i], &job->message));
    swap.reflected[i].depth = 32; /* as floats are, it is not cut off at white */
    if (i == job->reference)
        swap_exchange_reference(&swap);
    else
        swap_exchange_photo(&swap, i);
    swap.reflected[i].depth = job->reflected[i].depth;
    *transmitted = swap.transmitted;
    *reflected = swap.reflected[i];
done:
    if (status != ESRA_OK) {
        esra_image_free(&swap.transmitted.pixels);
        esra_image_free(&swap.reflected[i].pixels);
    }
    free(swap.reflected);
    return status;
}

/* ---- Pictures in code values ---- */

static size_t samples_of(const struct photo *photo)
{
    const struct image *p = &photo->pixels;
    return (size_t)p->width * (size_t)p->height * (size_t)p->channels;
}

static esra_status show_transmitted(struct job *job, struct view view, struct photo *shown)
{
    const float *photo = job->scene.photos[job->reference].pixels.data;
    float strength = (float)view.strength;
    struct photo other = {0};
    esra_status status;
    if (view.exchanged)
        TRY(exchange(job, job->reference, shown, &other));
    else
        TRY(copy_pixels(shown, &job->transmitted, &job->message));
    float *t = shown->pixels.data;
    for (size_t n = 0; n < samples_of(shown); n++)
        t[n] = photo[n] + strength * (t[n] - photo[n]);
    scene_encode(&job->scene, job->reference, job->reference, &shown->pixels);
done:
    esra_image_free(&other.pixels);
    return status;
}

static esra_status show_reflected(struct job *job, struct view view, int i, struct photo *shown)
{
    struct photo other = {0};
    esra_status status;
    if (view.exchanged)
        TRY(exchange(job, i, &other, shown));
    else
        TRY(copy_pixels(shown, &job->reflected[i], &job->message));
    for (size_t n = 0; n < samples_of(shown); n++)
        shown->pixels.data[n] *= (float)job->gain;
    scene_encode(&job->scene, job->reference, i, &shown->pixels);
done:
    esra_image_free(&other.pixels);
    return status;
}

static esra_status show_photo(struct job *job, struct photo *shown)
{
    esra_status status;
    TRY(copy_pixels(shown, &job->scene.photos[job->reference], &job->message));
    shown->icc = shown->exif = (struct bytes){0};
    scene_encode(&job->scene, job->reference, job->reference, &shown->pixels);
done:
    return status;
}

enum picture { PICTURE_TRANSMITTED, PICTURE_REFLECTED, PICTURE_CONFIDENCE, PICTURE_PHOTO };

/* The picture with the profile and EXIF of the photo whose code values it has, lent. */
static esra_status show(struct job *job, enum picture which, int i, struct view view, struct photo *shown)
{
    const struct photo *like = &job->scene.photos[which == PICTURE_REFLECTED ? i : job->reference];
    esra_status status = ESRA_OK;
    switch (which) {
    case PICTURE_TRANSMITTED: status = show_transmitted(job, view, shown); break;
    case PICTURE_REFLECTED: status = show_reflected(job, view, i, shown); break;
    case PICTURE_PHOTO: status = show_photo(job, shown); break;
    case PICTURE_CONFIDENCE: return copy_pixels(shown, &job->confidence, &job->message);
    }
    if (status == ESRA_OK) {
        shown->icc = like->icc;
        shown->exif = like->exif;
    }
    return status;
}

/* A JPEG has no room for some EXIF blocks: it is then written without, as the command line does. */
static void fit_metadata(struct photo *shown, const struct write_options *options)
{
    struct message message;
    if (esra_photo_check_fits(shown, "the picture", options, &message) != ESRA_OK)
        shown->exif = (struct bytes){0};
}

const char *module_picture(int which, int i, double strength, int exchanged, const char *format, int depth, int quality)
{
    struct job *job = &module_job;
    struct photo shown = {0};
    struct bytes file = {0};
    const struct write_options options = {format, depth, quality};
    esra_status status;
    TRY(show(job, (enum picture)which, i, (struct view){strength, exchanged, format}, &shown));
    fit_metadata(&shown, &options);
    TRY(esra_photo_encode(&shown, &options, &file, &job->message));
    answer_bytes(file);
done:
    esra_image_free(&shown.pixels);
    return answer(status, json_object(), &job->message);
}

/* ---- Words ---- */

/* result.json as it would be written; parsed again where the layers are exchanged. */
static esra_status result_of(struct job *job, struct view view, struct result *parsed, char **text)
{
    json_t *object = NULL;
    esra_status status;
    job->strength = view.strength;
    job->options.format = (char *)lasting(view.format);
    json_decref(job->result);
    job->result = NULL;
    TRY(job_make_result(job));
    *text = json_text(job->result, JSON_STYLE);
    if (*text && view.exchanged) {
        TRY(result_parse(parsed, "result.json", *text, strlen(*text), &job->message));
        object = result_exchange(parsed);
        result_free(parsed);
        free(*text);
        *text = object ? json_text(object, JSON_STYLE) : NULL;
        json_decref(object);
    }
    if (!*text)
        TRY(esra_fail_memory(&job->message));
    if (view.exchanged)
        TRY(result_parse(parsed, "result.json", *text, strlen(*text), &job->message));
done:
    return status;
}

const char *module_result(double strength, int exchanged, const char *format)
{
    struct result parsed = {0};
    char *text = NULL;
    esra_status status = result_of(&module_job, (struct view){strength, exchanged, format}, &parsed, &text);
    result_free(&parsed);
    if (status == ESRA_OK)
        return answer_bytes((struct bytes){(unsigned char *)text, strlen(text)});
    free(text);
    return answer_error(&module_job.message);
}

/* Every picture as it would be written, in a job that is otherwise the same. */
static esra_status show_all(struct job *job, struct view view, struct job *shown)
{
    int m = job->scene.paths.count;
    struct photo *photos = calloc((size_t)m, sizeof *photos);
    esra_status status;
    *shown = *job;
    shown->scene.photos = photos;
    shown->transmitted = shown->confidence = (struct photo){0};
    shown->reflected = calloc((size_t)m, sizeof *shown->reflected);
    if (!photos || !shown->reflected)
        TRY(esra_fail_memory(&job->message));
    for (int i = 0; i < m; i++) {
        photos[i] = job->scene.photos[i];
        TRY(show(job, PICTURE_REFLECTED, i, view, &shown->reflected[i]));
    }
    TRY(show(job, PICTURE_PHOTO, 0, view, &photos[job->reference]));
    TRY(show(job, PICTURE_TRANSMITTED, 0, view, &shown->transmitted));
    TRY(show(job, PICTURE_CONFIDENCE, 0, view, &shown->confidence));
done:
    return status;
}

static void shown_free(const struct job *job, struct job *shown)
{
    struct photo *photo = shown->scene.photos ? &shown->scene.photos[job->reference] : NULL;
    for (int i = 0; shown->reflected && i < job->scene.paths.count; i++)
        esra_image_free(&shown->reflected[i].pixels);
    if (photo && photo->pixels.data != job->scene.photos[job->reference].pixels.data)
        esra_image_free(&photo->pixels);
    esra_image_free(&shown->transmitted.pixels);
    esra_image_free(&shown->confidence.pixels);
    free(shown->reflected);
    free(shown->scene.photos);
}

const char *module_report(double strength, int exchanged, const char *format)
{
    struct job *job = &module_job, *shown = calloc(1, sizeof *shown);
    struct view view = {strength, exchanged, format};
    struct result parsed = {0};
    struct output output;
    char *text = NULL;
    esra_status status;
    esra_output_memory(&output);
    if (!shown)
        return answer_error(&(struct message){"out of memory"});
    TRY(result_of(job, view, &parsed, &text));
    TRY(show_all(job, view, shown));
    if (exchanged)
        shown->separation = parsed.separation;
    status = job_write_report(shown, exchanged, &output);
    job->message = shown->message;
    TRY(status);
    answer_bytes(esra_output_take(&output));
done:
    shown_free(job, shown);
    free(shown);
    esra_output_discard(&output);
    result_free(&parsed);
    free(text);
    return answer(status, json_object(), &job->message);
}
