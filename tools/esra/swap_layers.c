/* tools/esra/swap_layers.c - the pictures of esra swap: what each photo reflects becomes what it shows of the other
 * layer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/transform.h"
#include "io/paths.h"
#include "json.h"
#include "report.h"
#include "swap.h"

/* Code values from here on may have been cut off at white; JPEG leaves some a little below it. */
#define NEARLY_WHITE (253.f / 255)

/* ---- Reading ---- */

static esra_status read_picture(struct swap *job, struct photo *picture, const char *folder, const char *file,
                                int channels)
{
    const struct image *pixels = &picture->pixels;
    char *path = esra_paths_join(folder, file);
    esra_status status;
    if (!path)
        return esra_fail_memory(&job->message);
    TRY(esra_photo_read(picture, path, &job->read, &job->message));
    if (pixels->width != job->result.width || pixels->height != job->result.height || pixels->channels != channels)
        TRY(esra_fail(&job->message, ESRA_BAD_DATA,
                      "%s is not the layer that 'esra separate' wrote: its size is another", path));
done:
    free(path);
    return status;
}

esra_status swap_read_pictures(struct swap *job)
{
    const struct result *r = &job->result;
    char file[64];
    esra_status status;
    job->reflected = calloc((size_t)r->photos, sizeof *job->reflected);
    if (!job->reflected)
        return esra_fail_memory(&job->message);
    TRY(read_picture(job, &job->transmitted, job->from, job->files[0], job->scene.channels));
    esra_light_decode(&job->scene.lights[r->reference], &job->transmitted.pixels);
    for (int i = 0; i < r->photos; i++) {
        TRY(read_picture(job, &job->reflected[i], job->from, job->files[i + 1], job->scene.channels));
        esra_light_decode(&job->scene.lights[i], &job->reflected[i].pixels);
    }
    snprintf(file, sizeof file, "confidence.%s", r->format);
    if (job->report)
        TRY(read_picture(job, &job->confidence, job->folder, file, 1));
done:
    return status;
}

/* ---- The exchange ---- */

/* What is left of a photo's light without a layer: layers add up in light, or in its roots. */
static float without(float photo, float layer, bool roots)
{
    float rest = roots ? sqrtf(fmaxf(photo, 0)) - sqrtf(fmaxf(layer, 0)) : photo - layer;
    return rest <= 0 ? 0 : roots ? rest * rest : rest;
}

/* Of the reference both layers are there: T in transmitted, of which `strength` was taken, and R in reflected, `times`
 * as bright. R that was cut off at white is at least what the photo shows besides T. */
void swap_exchange_reference(struct swap *job)
{
    const struct result *r = &job->result;
    struct image *t = &job->transmitted.pixels, *own = &job->reflected[r->reference].pixels;
    const struct image *photo = &job->scene.photos[r->reference].pixels;
    float strength = (float)r->strength, times = (float)r->brightness, a = (float)r->gains[r->reference];
    bool whole = job->reflected[r->reference].depth == 32; /* floats are not cut off */
    for (int c = 0; c < t->channels; c++) {
        float white = esra_light_decode_one(&job->scene.lights[r->reference], c, NEARLY_WHITE);
        for (size_t n = (size_t)c * image_pixels(t); n < (size_t)(c + 1) * image_pixels(t); n++) {
            float p = photo->data[n], T = p + (t->data[n] - p) / strength, R = own->data[n] / times;
            if (!whole && own->data[n] >= white)
                R = fmaxf(R, without(p, a * T, r->roots));
            t->data[n] = p + strength * (R - p);
            own->data[n] = times * a * T;
        }
    }
}

/* Whether the reference's frame holds what a photo has at (x, y). */
static bool reached(const struct transform *back, int x, int y, const struct image *frame)
{
    double u, v;
    return transform_apply(back, x, y, &u, &v) && u >= 0 && v >= 0 && u <= frame->width - 1 && v <= frame->height - 1;
}

/* Of another photo there is only what it reflects: the other layer is the rest of it, as far as the reference's view
 * reaches. By depth that is taken from the median shift. */
void swap_exchange_photo(struct swap *job, int i)
{
    const struct result *r = &job->result;
    struct image *own = &job->reflected[i].pixels;
    const float *photo = job->scene.photos[i].pixels.data;
    float times = (float)r->brightness;
    struct transform motion, back;
    for (int n = 0; n < 9; n++)
        motion.h[n] = r->motion[i].h[n];
    bool seen = r->facts[i].aligned && esra_transform_invert(&motion, &back);
    for (int y = 0; y < own->height; y++)
        for (int x = 0; x < own->width; x++) {
            bool here = seen && reached(&back, x, y, own);
            for (int c = 0; c < own->channels; c++) {
                size_t n = ((size_t)c * (size_t)own->height + (size_t)y) * (size_t)own->width + (size_t)x;
                own->data[n] = here ? times * without(photo[n], own->data[n] / times, r->roots) : 0;
            }
        }
}

void swap_exchange(struct swap *job)
{
    const struct result *r = &job->result;
    swap_exchange_reference(job);
    for (int i = 0; i < r->photos; i++)
        if (i != r->reference)
            swap_exchange_photo(job, i);
    esra_light_encode(&job->scene.lights[r->reference], &job->transmitted.pixels);
    esra_light_encode(&job->scene.lights[r->reference], &job->scene.photos[r->reference].pixels);
    for (int i = 0; i < r->photos; i++)
        esra_light_encode(&job->scene.lights[i], &job->reflected[i].pixels);
}

/* ---- Writing ---- */

static esra_status write_picture(struct swap *job, const struct photo *picture, const char *file)
{
    struct write_options options = {job->result.format, 0, job->result.quality};
    struct output *output;
    esra_status status;
    TRY(swap_begin(job, job->folder, file, &output));
    TRY(esra_photo_write_output(picture, output, file, &options, &job->message));
done:
    return status;
}

/* The course of the certified solve is not kept, and so not drawn. */
static esra_status write_report(struct swap *job, const struct result *now)
{
    struct output *output;
    esra_status status;
    struct report_image *images = calloc((size_t)now->photos + 2, sizeof *images);
    if (!images)
        return esra_fail_memory(&job->message);
    report_name_images(images, now->photos, now->format, now->brightness);
    images[0].photo = job->transmitted;
    for (int i = 0; i < now->photos; i++)
        images[i + 1].photo = job->reflected[i];
    images[now->photos + 1].photo = job->confidence;
    struct report report = {
        .names = now->names,
        .inputs = job->scene.photos,
        .photos = now->photos,
        .reference = now->reference,
        .width = now->width,
        .height = now->height,
        .exchanged = now->exchanged,
        .before = &job->scene.photos[now->reference],
        .after = &job->transmitted,
        .images = images,
        .image_count = now->photos + 2,
        .separation = &now->separation,
        .settings = &now->settings,
    };
    TRY(swap_begin(job, job->folder, "report.html", &output));
    TRY(report_write(&report, output, &job->message));
done:
    free(images);
    return status;
}

/* result.json, the last, tells what the report is made of. */
static esra_status write_words(struct swap *job)
{
    struct result now = {0};
    struct output *output;
    char *text = json_text(job->exchanged, JSON_STYLE);
    esra_status status;
    if (!text)
        return esra_fail_memory(&job->message);
    TRY(result_parse(&now, "result.json", text, strlen(text), &job->message));
    if (job->report)
        TRY(write_report(job, &now));
    TRY(swap_begin(job, job->folder, "result.json", &output));
    TRY(esra_output_write(output, text, strlen(text), &job->message));
done:
    result_free(&now);
    free(text);
    return status;
}

esra_status swap_write_pictures(struct swap *job)
{
    esra_status status;
    TRY(write_picture(job, &job->transmitted, job->files[0]));
    for (int i = 0; i < job->result.photos; i++)
        TRY(write_picture(job, &job->reflected[i], job->files[i + 1]));
    TRY(write_words(job));
done:
    return status;
}

void swap_pictures_free(struct swap *job)
{
    for (int i = 0; job->reflected && i < job->result.photos; i++)
        esra_photo_free(&job->reflected[i]);
    free(job->reflected);
    esra_photo_free(&job->transmitted);
    esra_photo_free(&job->confidence);
    scene_free(&job->scene);
}
