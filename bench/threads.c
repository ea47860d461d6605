/* bench/threads.c - whole separations by the library alone, with more and more threads: for machines without image
 * libraries.
 *
 *     threads [-m MEGAPIXELS,...] [-t THREADS,...] [-n PHOTOS] [-d] [-q] BEHIND REFLECTED
 *
 * Makes photos of each size (.16,.3,1.1) of the two pictures (picture.h), with depth where -d is given, and separates
 * them with each number of threads (1,2,4,8,16), as a draft with -q. Prints seconds, the speed-up over the first number
 * of threads, and each stage's share. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "picture.h"

#define PHOTOS_MOST 16

struct options {
    const char *megapixels, *threads;
    int photos;
    bool depth, draft;
    esra_image pictures[2];
};

struct job {
    esra_image photos[PHOTOS_MOST], transmitted, reflected[PHOTOS_MOST];
    int count;
};

static bool image_of(esra_image *image, int width, int height)
{
    *image = esra_image_planar(malloc((size_t)width * (size_t)height * 3 * sizeof(float)), width, height, 3);
    return image->data != NULL;
}

static void free_job(struct job *job)
{
    for (int i = 0; i < job->count; i++) {
        free(job->photos[i].data);
        free(job->reflected[i].data);
    }
    free(job->transmitted.data);
    *job = (struct job){0};
}

/* Sides as 4 to 3; the hand moves by a share of the width, as in bench/pipeline.py. */
static bool make_job(struct job *job, const struct options *options, double megapixels)
{
    esra_synth_settings settings;
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    esra_synth_settings_default(&settings);
    settings.photos = job->count = options->photos;
    settings.width = (int)lround(sqrt(megapixels * 1e6 * 4 / 3));
    settings.height = (int)lround(megapixels * 1e6 / settings.width);
    settings.shift_px = round(.028 * settings.width);
    settings.depth = options->depth;
    bool good = image_of(&job->transmitted, settings.width, settings.height);
    for (int i = 0; i < job->count; i++)
        good = image_of(&job->photos[i], settings.width, settings.height) &&
               image_of(&job->reflected[i], settings.width, settings.height) && good;
    result.photos = job->photos;
    good = good && esra_synth(&options->pictures[0], &options->pictures[1], &settings, &result) == ESRA_OK;
    if (!good)
        fprintf(stderr, "threads: no scene of %g megapixels: %s\n", megapixels, result.message);
    return good;
}

/* Seconds of the separation, which it prints; those of `first` are the measure of the speed-up. 0: it failed. */
static double separate(struct job *job, const struct options *options, int threads, double first)
{
    esra_photos photos = ESRA_PHOTOS_INIT;
    esra_separation answer = ESRA_SEPARATION_INIT;
    esra_info info = ESRA_INFO_INIT;
    esra_settings settings;
    esra_solver *solver = NULL;
    esra_photos_default(&photos);
    esra_settings_for_separation(&settings);
    settings.threads = threads;
    photos.photos = job->count;
    photos.images = job->photos;
    photos.reference = (job->count - 1) / 2;
    photos.effort = options->draft ? ESRA_EFFORT_DRAFT : ESRA_EFFORT_NORMAL;
    answer.transmitted = job->transmitted;
    answer.reflected = job->reflected;
    answer.info = &info;
    bool good =
        esra_solver_create(&solver) == ESRA_OK && esra_solver_separate(solver, &photos, &settings, &answer) == ESRA_OK;
    if (!good)
        fprintf(stderr, "threads: %s\n", esra_solver_message(solver));
    esra_solver_free(&solver);
    if (!good)
        return 0;
    double share = 100 / answer.total_s;
    printf("%6.2f %8d %8.2f %9.2f %11d %6.4f  align %.0f %%, separate %.0f %%, solve %.0f %%  [%s, %s]\n",
           1e-6 * job->photos[0].width * job->photos[0].height, threads, answer.total_s,
           (first > 0 ? first : answer.total_s) / answer.total_s, info.iterations, info.gap, share * answer.align_s,
           share * answer.joint_s, share * answer.solve_s, esra_method_name(answer.method),
           esra_motion_name(answer.motion));
    fflush(stdout);
    return answer.total_s;
}

static bool measure(const struct options *options, double megapixels)
{
    struct job job = {0};
    double first = 0;
    bool good = make_job(&job, options, megapixels);
    for (const char *t = options->threads; good && t; t = strchr(t, ',') ? strchr(t, ',') + 1 : NULL) {
        double seconds = separate(&job, options, atoi(t), first);
        first = first > 0 ? first : seconds;
        good = seconds > 0;
    }
    free_job(&job);
    return good;
}

static bool take_options(struct options *options, int count, char **words)
{
    int letter;
    while ((letter = getopt(count, words, "m:t:n:dq")) != -1) {
        switch (letter) {
        case 'm': options->megapixels = optarg; break;
        case 't': options->threads = optarg; break;
        case 'n': options->photos = atoi(optarg); break;
        case 'd': options->depth = true; break;
        case 'q': options->draft = true; break;
        default: return false;
        }
    }
    return optind + 2 == count && options->photos >= 2 && options->photos <= PHOTOS_MOST &&
           picture_read(words[optind], &options->pictures[0]) && picture_read(words[optind + 1], &options->pictures[1]);
}

int main(int count, char **words)
{
    struct options options = {.megapixels = ".16,.3,1.1", .threads = "1,2,4,8,16", .photos = 5};
    if (!take_options(&options, count, words)) {
        fprintf(stderr, "usage: threads [-m MEGAPIXELS,...] [-t THREADS,...] [-n PHOTOS] [-d] [-q] BEHIND REFLECTED\n");
        return 1;
    }
    printf("    MP  threads        s  speed-up  iterations    gap  share of the time\n");
    bool good = true;
    for (const char *m = options.megapixels; good && m; m = strchr(m, ',') ? strchr(m, ',') + 1 : NULL)
        good = measure(&options, atof(m));
    free(options.pictures[0].data);
    free(options.pictures[1].data);
    return good ? 0 : 1;
}
