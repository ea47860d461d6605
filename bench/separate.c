/* bench/separate.c - one separation with thresholds of your choice, on the core alone (base/thresholds.h).
 *
 *     separate [OPTION...] PHOTO...
 *     separate --thresholds
 *
 *     -s ROOM.NAME=VALUE   set a threshold, any number of times
 *     -r N                 the reference photo, from 1 (1)
 *     -m MOTION            homography, affine, translation, depth or auto (auto)
 *     -t N                 threads (0: all)
 *     -w PICTURE           what the transmitted layer should be: how well it is met, in dB
 *     -o PREFIX            write PREFIX-transmitted and PREFIX-reflected of the reference, .ppm
 *     -f                   ... as .pfm
 *     --linear, --stored   as of `esra separate --light`
 *     --thresholds         list all tables
 *
 * Settings are those of `esra separate`. PHOTO and PICTURE: see picture.h. Prints one line of JSON; "gain_db" is the PSNR of
 * the layer less that of the photo, both after a fit of gain and offset, in sRGB values; "plain_db" the same without a fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "pipeline/threshold_tables.h"

#define PHOTOS_MOST 64

static const char *const motion_names[] = {"homography", "affine", "translation", "depth", "auto"};
static const char *const method_names[] = {"none", "voting", "joint", "given"};

struct job {
    esra_photos photos;
    esra_image images[PHOTOS_MOST], transmitted, reflected[PHOTOS_MOST];
    esra_settings settings;
    esra_separation answer;
    const char *truth, *prefix;
    bool floats;
};

static void list_thresholds(void)
{
    for (const struct threshold_table *const *table = esra_threshold_tables; *table; table++)
        for (int n = 0; n < (*table)->count; n++) {
            const struct threshold_row *row = &(*table)->rows[n];
            printf("%s.%s = %g in %g..%g\n    %s\n    %s\n", (*table)->room, row->name, row->value, row->lowest,
                   row->highest, row->decides, row->origin);
        }
}

/* "room.name=value" */
static bool set_threshold(const char *text)
{
    char room[64], name[64], end;
    double value;
    if (sscanf(text, "%63[^.].%63[^=]=%lf%c", room, name, &value, &end) == 3)
        for (const struct threshold_table *const *table = esra_threshold_tables; *table; table++)
            if (strcmp((*table)->room, room) == 0 && esra_threshold_set(*table, name, value) == ESRA_OK)
                return true;
    fprintf(stderr, "separate: -s %s: no such threshold, or out of its range (see --thresholds)\n", text);
    return false;
}

static bool take_motion(struct job *job, const char *name)
{
    for (int k = 0; k <= ESRA_MOTION_AUTO; k++)
        if (strcmp(motion_names[k], name) == 0) {
            job->photos.motion = (esra_motion)k;
            return true;
        }
    fprintf(stderr, "separate: no motion is called %s\n", name);
    return false;
}

/* An option with a value. */
static bool take_option(struct job *job, char letter, const char *value)
{
    switch (letter) {
    case 's': return set_threshold(value);
    case 'm': return take_motion(job, value);
    case 'r': job->photos.reference = atoi(value) - 1; return true;
    case 't': job->settings.threads = atoi(value); return true;
    case 'w': job->truth = value; return true;
    case 'o': job->prefix = value; return true;
    default: fprintf(stderr, "separate: there is no option -%c\n", letter); return false;
    }
}

static bool take_word(struct job *job, const char *word)
{
    if (strcmp(word, "-f") == 0)
        job->floats = true;
    else if (strcmp(word, "--linear") == 0)
        job->photos.linear_depth = 1;
    else if (strcmp(word, "--stored") == 0)
        job->photos.stored_values = 1;
    else if (job->photos.photos == PHOTOS_MOST || !picture_read(word, &job->images[job->photos.photos++]))
        return false;
    return true;
}

static bool take_words(struct job *job, int count, char **words)
{
    for (int n = 1; n < count; n++) {
        bool valued = words[n][0] == '-' && words[n][1] != '-' && strcmp(words[n], "-f") != 0;
        if (valued && n + 1 == count)
            return false;
        if (!(valued ? take_option(job, words[n][1], words[n + 1]) : take_word(job, words[n])))
            return false;
        n += valued;
    }
    if (job->photos.photos >= 2 && job->photos.reference >= 0 && job->photos.reference < job->photos.photos)
        return true;
    fprintf(stderr, "separate: two photos at least, and a reference among them\n");
    return false;
}

static bool image_like(esra_image *image, const esra_image *like)
{
    size_t samples = (size_t)like->width * (size_t)like->height * (size_t)like->channels;
    *image = esra_image_planar(malloc(samples * sizeof(float)), like->width, like->height, like->channels);
    return image->data != NULL;
}

static bool separate(struct job *job)
{
    esra_solver *solver = NULL;
    const esra_image *first = &job->images[0];
    bool good = image_like(&job->transmitted, first);
    for (int i = 0; good && i < job->photos.photos; i++) {
        good = image_like(&job->reflected[i], first);
        if (job->photos.stored_values)
            picture_encode(&job->images[i]);
    }
    job->photos.images = job->images;
    job->answer.transmitted = job->transmitted;
    job->answer.reflected = job->reflected;
    good = good && esra_solver_create(&solver) == ESRA_OK &&
           esra_solver_separate(solver, &job->photos, &job->settings, &job->answer) == ESRA_OK;
    if (!good)
        fprintf(stderr, "separate: %s\n", esra_solver_message(solver));
    esra_solver_free(&solver);
    return good;
}

static bool write_one(const struct job *job, const char *what, const esra_image *image)
{
    char path[4096];
    snprintf(path, sizeof path, "%s-%s.%s", job->prefix, what, job->floats ? "pfm" : "ppm");
    return picture_write(path, image);
}

/* PSNR of image with truth as code values. */
static esra_comparison compare(const struct job *job, esra_image *image, const esra_image *truth)
{
    esra_comparison comparison = ESRA_COMPARISON_INIT;
    if (!job->photos.stored_values)
        picture_encode(image);
    if (esra_compare(image, truth, &comparison) != ESRA_OK)
        comparison.psnr = comparison.psnr_fit = NAN;
    return comparison;
}

static bool print_answer(struct job *job)
{
    const esra_separation *a = &job->answer;
    printf("{\"method\": \"%s\", \"motion\": \"%s\", \"in_roots\": %d, \"warnings\": %u, \"prediction_error\": %.6g, "
           "\"prediction_base\": %.6g, \"trusted\": %.6g, \"seconds\": %.3f",
           method_names[a->method], motion_names[a->motion], a->in_roots, a->warnings, a->prediction_error,
           a->prediction_base, a->joint_trusted, a->total_s);
    if (job->truth) {
        esra_image truth = {0};
        if (!picture_read(job->truth, &truth))
            return false;
        picture_encode(&truth);
        esra_comparison layer = compare(job, &job->transmitted, &truth);
        esra_comparison photo = compare(job, &job->images[job->photos.reference], &truth);
        printf(", \"gain_db\": %.4f, \"plain_db\": %.4f, \"fit_db\": %.4f, \"ssim\": %.5f", layer.psnr_fit - photo.psnr_fit,
               layer.psnr - photo.psnr, layer.psnr_fit, layer.ssim);
        free(truth.data);
    }
    printf("}\n");
    return true;
}

int main(int count, char **words)
{
    static struct job job = {.photos = ESRA_PHOTOS_INIT, .answer = ESRA_SEPARATION_INIT};
    if (count == 2 && strcmp(words[1], "--thresholds") == 0) {
        list_thresholds();
        return 0;
    }
    esra_settings_default(&job.settings);
    job.settings.lambda = .003; /* as `esra separate` has them */
    job.settings.gap = .05;
    if (!take_words(&job, count, words) || !separate(&job))
        return 1;
    if (job.prefix && !(write_one(&job, "transmitted", &job.transmitted) &&
                        write_one(&job, "reflected", &job.reflected[job.photos.reference])))
        return 1;
    return print_answer(&job) ? 0 : 1;
}
