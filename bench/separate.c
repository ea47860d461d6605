/* bench/separate.c - one separation with thresholds of your choice, on the core alone (base/thresholds.h).
 *
 *     separate [OPTION...] PHOTO...
 *     separate --thresholds
 *
 *     -s ROOM.NAME=VALUE   set a threshold, any number of times
 *     -r N                 the reference photo, from 1 (the middle one)
 *     -m MOTION            homography, affine, translation, depth or auto (auto)
 *     -t N                 threads (0: all)
 *     -w PICTURE           what the transmitted layer should be: how well it is met, in dB
 *     -o PREFIX            write PREFIX-transmitted and PREFIX-reflected of the reference, .ppm
 *     -f                   ... as .pfm
 *     --linear, --stored   as of `esra separate --light`
 *     --thresholds         list all tables
 *
 * Settings are those of `esra separate`. PHOTO and PICTURE: see picture.h. Prints one line of JSON, which bench/replay
 * reads; "gain_db" is the PSNR of the layer less that of the photo, both after a fit of gain and offset, in sRGB
 * values; "plain_db" the same without a fit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "threshold.h"

#define PHOTOS_MOST    64
#define EVIDENCE_MOST  100
#define REFERENCE_OPEN -2 /* -r 0 is -1, and refused */

struct job {
    esra_photos photos;
    esra_image images[PHOTOS_MOST], transmitted, reflected[PHOTOS_MOST];
    esra_settings settings;
    esra_separation answer;
    esra_info info;
    double evidence[EVIDENCE_MOST], photo_evidence[PHOTOS_MOST * EVIDENCE_MOST];
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

static bool take_motion(struct job *job, const char *name)
{
    for (int k = 0; k <= ESRA_MOTION_AUTO; k++)
        if (strcmp(esra_motion_name((esra_motion)k), name) == 0) {
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
    case 's': return threshold_take(value);
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
        job->photos.light = ESRA_LIGHT_LINEAR;
    else if (strcmp(word, "--stored") == 0)
        job->photos.light = ESRA_LIGHT_STORED;
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
    if (job->photos.reference == REFERENCE_OPEN)
        job->photos.reference = (job->photos.photos - 1) / 2;
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
        if (job->photos.light == ESRA_LIGHT_STORED)
            picture_encode(&job->images[i]);
    }
    job->photos.images = job->images;
    job->answer.transmitted = job->transmitted;
    job->answer.reflected = job->reflected;
    job->answer.info = &job->info;
    job->answer.evidence = job->evidence;
    job->answer.photo_evidence = job->photo_evidence;
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
    if (job->photos.light != ESRA_LIGHT_STORED)
        picture_encode(image);
    if (esra_compare(image, truth, &comparison) != ESRA_OK)
        comparison.psnr = comparison.psnr_fit = NAN;
    return comparison;
}

/* A number, or null where it was not measured. */
static void print_number(const char *name, double number)
{
    if (isfinite(number))
        printf("\"%s\": %.9g", name, number);
    else
        printf("\"%s\": null", name);
}

/* The rows of one photo, or of all, "way.name" as "name" in an object "way". */
static void print_evidence(const double *numbers, int of_photo)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    char way[32] = "";
    printf("{");
    for (size_t n = 0, k = 0; n < count; n++) {
        const char *dot = strchr(rows[n].name, '.');
        char here[32] = "";
        if (rows[n].of_photo != of_photo)
            continue;
        if (dot)
            snprintf(here, sizeof here, "%.*s", (int)(dot - rows[n].name), rows[n].name);
        bool changes = strcmp(here, way) != 0;
        printf("%s%s", changes && way[0] ? "}" : "", k ? ", " : "");
        if (changes && here[0])
            printf("\"%s\": {", here);
        memcpy(way, here, sizeof way);
        print_number(dot ? dot + 1 : rows[n].name, numbers[k++]);
    }
    printf("%s}", way[0] ? "}" : "");
}

static void print_warnings(unsigned warnings)
{
    size_t count;
    const esra_warning_row *rows = esra_warning_table(&count);
    const char *before = "";
    for (size_t n = 0; n < count; n++)
        if (warnings & rows[n].bit) {
            printf("%s{\"id\": \"%s\"}", before, rows[n].id);
            before = ", ";
        }
}

/* As in result.json, so that bench/replay reads it. */
static void print_verdict(const struct job *job)
{
    const esra_separation *a = &job->answer;
    size_t count, of_photo = 0;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    for (size_t n = 0; n < count; n++)
        of_photo += rows[n].of_photo != 0;
    printf(
        "\"method\": \"%s\", \"motion\": \"%s\", \"light\": \"%s\", \"reference\": %d, \"asked\": {\"motion\": \"%s\", "
        "\"light\": \"%s\"}, \"warnings\": [",
        esra_method_name(a->method), esra_motion_name(a->motion),
        job->photos.light == ESRA_LIGHT_STORED ? "stored"
        : a->in_roots                          ? "root"
                                               : "linear",
        job->photos.reference + 1, esra_motion_name((esra_motion)job->photos.motion),
        esra_light_name((esra_light)job->photos.light));
    print_warnings(a->warnings);
    printf("], \"evidence\": ");
    print_evidence(job->evidence, 0);
    printf(", \"photos\": [");
    for (int i = 0; i < job->photos.photos; i++) {
        printf("%s{\"evidence\": ", i ? ", " : "");
        print_evidence(job->photo_evidence + (size_t)i * of_photo, 1);
        printf("}");
    }
    printf("]");
}

static bool print_answer(struct job *job)
{
    printf("{\"schema\": \"esra-separate-2\", \"seconds\": %.3f, \"iterations\": %d, ", job->answer.total_s,
           job->info.iterations);
    print_number("gap", job->info.gap);
    printf(", ");
    print_verdict(job);
    if (job->truth) {
        esra_image truth = {0};
        if (!picture_read(job->truth, &truth))
            return false;
        picture_encode(&truth);
        esra_comparison layer = compare(job, &job->transmitted, &truth);
        esra_comparison photo = compare(job, &job->images[job->photos.reference], &truth);
        printf(", \"gain_db\": %.4f, \"plain_db\": %.4f, \"fit_db\": %.4f, \"ssim\": %.5f",
               layer.psnr_fit - photo.psnr_fit, layer.psnr - photo.psnr, layer.psnr_fit, layer.ssim);
        free(truth.data);
    }
    printf("}\n");
    return true;
}

int main(int count, char **words)
{
    static struct job job = {.photos = ESRA_PHOTOS_INIT, .answer = ESRA_SEPARATION_INIT, .info = ESRA_INFO_INIT};
    if (count == 2 && strcmp(words[1], "--thresholds") == 0) {
        list_thresholds();
        return 0;
    }
    job.photos.reference = REFERENCE_OPEN;
    esra_settings_for_separation(&job.settings);
    if (!take_words(&job, count, words) || !separate(&job))
        return 1;
    if (job.prefix && !(write_one(&job, "transmitted", &job.transmitted) &&
                        write_one(&job, "reflected", &job.reflected[job.photos.reference])))
        return 1;
    return print_answer(&job) ? 0 : 1;
}
