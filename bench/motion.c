/* bench/motion.c - how far the motions found in mixed photos are from those found in the clean layers, in px.
 *
 *     motion [-t N] [-r N] [-s ROOM.NAME=VALUE]... [-o PREFIX] PHOTO... -- TRANSMITTED... -- REFLECTED...
 *
 * Three series of the same length: photos, and what each holds of either layer. -r: the reference, from 1 (the middle
 * one); -o: writes PREFIX-inverse.pfm and PREFIX-clean.pfm, inverse depths times the longest baseline in px.
 *
 * T: |f_i(x) - f_i'(x)|, f_i where photo i has what the reference shows at x, by depth, f_i' the same of the clean
 * series. R: g_i(x) is where the reference has what photo i reflects at f_i(x); |f_i''(g_i(x)) - f_i(x)|, f_i'' found
 * in the clean reflections. Medians over the pixels and photos that both see, in px of the pictures given, for the
 * whole and in a grid of 3 x 3 places; "by chance" is what no motion at all would leave. One line of JSON. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/select.h"
#include "picture.h"
#include "pipeline/deep.h"
#include "threshold.h"

#define PHOTOS_MOST 64
#define PLACES      3

enum { MIXED, TRANSMITTED, REFLECTED, SERIES };

struct job {
    struct series series[SERIES];
    struct image images[SERIES][PHOTOS_MOST];
    struct model model[SERIES];
    int reference, threads;
    const char *prefix;
    struct message message;
};

/* ---- What was asked for ---- */

static bool take_option(struct job *job, char letter, const char *value)
{
    switch (letter) {
    case 't': job->threads = atoi(value); return true;
    case 'r': job->reference = atoi(value) - 1; return true;
    case 's': return threshold_take(value);
    case 'o': job->prefix = value; return true;
    default: fprintf(stderr, "motion: there is no option -%c\n", letter); return false;
    }
}

static bool take_picture(struct job *job, int which, const char *path)
{
    struct series *series = &job->series[which];
    esra_image picture;
    if (series->photos == PHOTOS_MOST || !picture_read(path, &picture))
        return false;
    job->images[which][series->photos++] = (struct image){
        .data = picture.data, .width = picture.width, .height = picture.height, .channels = picture.channels};
    return true;
}

static bool take_words(struct job *job, int count, char **words)
{
    int which = MIXED;
    for (int n = 1; n < count; n++) {
        if (strcmp(words[n], "--") == 0) {
            if (++which == SERIES)
                return false;
        } else if (words[n][0] == '-') {
            if (n + 1 == count || !take_option(job, words[n][1], words[n + 1]))
                return false;
            n++;
        } else if (!take_picture(job, which, words[n])) {
            return false;
        }
    }
    return true;
}

/* Sizes and numbers must agree. */
static bool complete(struct job *job)
{
    const struct image *first = &job->images[MIXED][0];
    int photos = job->series[MIXED].photos;
    if (job->reference < 0)
        job->reference = (photos - 1) / 2;
    for (int k = 0; k < SERIES; k++) {
        struct series *s = &job->series[k];
        if (s->photos != photos || photos < 2 || job->reference >= photos)
            return false;
        for (int i = 0; i < photos; i++)
            if (job->images[k][i].width != first->width || job->images[k][i].height != first->height)
                return false;
        *s = (struct series){.photos = photos,
                             .reference = job->reference,
                             .width = first->width,
                             .height = first->height,
                             .channels = first->channels,
                             .light = LIGHT_LINEAR,
                             .scale = 1,
                             .images = job->images[k]};
    }
    return true;
}

/* ---- Motions ---- */

static esra_status find_motions(struct job *job, struct run *run)
{
    esra_status status;
    for (int k = 0; k < SERIES; k++)
        TRY(esra_deep_align(&job->model[k], &job->series[k], NULL, run));
    TRY(esra_deep_find_reflection(&job->model[MIXED], &job->series[MIXED], false, run));
done:
    return status;
}

static float at(const struct image *map, int channel, size_t n)
{
    return map->data[(size_t)channel * image_pixels(map) + n];
}

/* The map at (x, y); false outside its frame. */
static bool interpolate(const struct image *map, float x, float y, float value[2])
{
    if (!(x >= 0 && y >= 0 && x < (float)(map->width - 1) && y < (float)(map->height - 1)))
        return false;
    int i = (int)x, j = (int)y;
    float fx = x - (float)i, fy = y - (float)j;
    for (int c = 0; c < 2; c++) {
        const float *a = plane_row(image_plane(map, c), j) + i, *b = plane_row(image_plane(map, c), j + 1) + i;
        value[c] = (a[0] + fx * (a[1] - a[0])) * (1 - fy) + (b[0] + fx * (b[1] - b[0])) * fy;
    }
    return true;
}

/* Distance of T's map of photo i from the clean one at pixel n; negative where either does not see it. */
static float error_of_scene(const struct job *job, int i, size_t n)
{
    const struct model *found = &job->model[MIXED], *clean = &job->model[TRANSMITTED];
    const struct image *f = &found->depth.still[i], *truth = &clean->depth.still[i];
    if (clean->masks[i].data[n] < .5f || !found->motions[i].aligned)
        return -1;
    return hypotf(at(f, 0, n) - at(truth, 0, n), at(f, 1, n) - at(truth, 1, n));
}

static float error_of_mirror(const struct job *job, int i, size_t n)
{
    const struct model *found = &job->model[MIXED], *clean = &job->model[REFLECTED];
    const struct image *f = &found->depth.still[i], *g = &found->depth.mirror[i];
    float seen[2];
    if (!found->two_motions || !clean->depth.scene.inverse.data || found->masks[i].data[n] < .5f ||
        !interpolate(&clean->depth.still[i], at(g, 0, n), at(g, 1, n), seen))
        return -1;
    return hypotf(seen[0] - at(f, 0, n), seen[1] - at(f, 1, n));
}

/* What the clean map moves a pixel by: the error of no motion at all. */
static float motion_of_scene(const struct job *job, int i, size_t n)
{
    const struct model *clean = &job->model[TRANSMITTED];
    const struct image *truth = &clean->depth.still[i];
    size_t width = (size_t)clean->width;
    if (clean->masks[i].data[n] < .5f)
        return -1;
    return hypotf(at(truth, 0, n) - (float)(n % width), at(truth, 1, n) - (float)(n / width));
}

/* ---- Figures ---- */

typedef float error_function(const struct job *job, int i, size_t n);

/* The median over a place, 0 to 8, or over all, -1. */
static double median(const struct job *job, error_function *error, int place, float *values)
{
    const struct model *m = &job->model[MIXED];
    size_t count = 0, pixels = (size_t)m->width * (size_t)m->height;
    for (int i = 0; i < m->photos; i++)
        for (size_t n = 0; i != m->reference && n < pixels; n++) {
            int column = (int)(n % (size_t)m->width) * PLACES / m->width;
            int row = (int)(n / (size_t)m->width) * PLACES / m->height;
            if (place >= 0 && place != row * PLACES + column)
                continue;
            float value = error(job, i, n);
            if (value >= 0)
                values[count++] = value;
        }
    return count ? (double)esra_select_rank(values, count, count / 2) : -1;
}

static void print_errors(const struct job *job, const char *name, error_function *error, float *values)
{
    printf("\"%s\": {\"px\": %.3f, \"places\": [", name, median(job, error, -1, values));
    for (int place = 0; place < PLACES * PLACES; place++)
        printf("%s%.3f", place ? ", " : "", median(job, error, place, values));
    printf("]}");
}

static bool print_all(const struct job *job)
{
    const struct model *m = &job->model[MIXED];
    size_t pixels = (size_t)m->width * (size_t)m->height;
    float *values = esra_allocate_untouched(pixels * (size_t)m->photos, sizeof *values);
    if (!values)
        return false;
    printf("{");
    print_errors(job, "transmitted", error_of_scene, values);
    printf(", ");
    print_errors(job, "reflected", error_of_mirror, values);
    printf(", ");
    print_errors(job, "by chance", motion_of_scene, values);
    printf("}\n");
    esra_release(&values);
    return true;
}

static bool write_inverse(const struct job *job, int which, const char *name)
{
    const struct model *model = &job->model[which];
    const struct image *inverse = &model->depth.scene.inverse;
    char path[4096];
    double longest = 0;
    if (!inverse->data)
        return true;
    for (int i = 0; i < model->photos; i++)
        longest = fmax(longest, hypot(model->depth.camera.pose[i].t[0], model->depth.camera.pose[i].t[1]) *
                                    model->depth.camera.focal_px);
    for (size_t n = 0; n < image_pixels(inverse); n++)
        inverse->data[n] *= (float)longest;
    snprintf(path, sizeof path, "%s-%s.pfm", job->prefix, name);
    esra_image picture = esra_image_planar(inverse->data, inverse->width, inverse->height, 1);
    return picture_write(path, &picture);
}

int main(int count, char **words)
{
    static struct job job = {.reference = -1};
    struct run run = {.input = &(esra_photos)ESRA_PHOTOS_INIT};
    esra_status status = ESRA_BAD_ARGUMENT;
    if (!take_words(&job, count, words) || !complete(&job)) {
        fprintf(stderr, "usage: motion [-t N] [-r N] [-s ROOM.NAME=VALUE]... [-o PREFIX] PHOTO... -- TRANSMITTED... -- "
                        "REFLECTED..., as many of each, all of one size\n");
        return 2;
    }
    TRY(esra_context_create(&run.context, job.threads, &job.message));
    TRY(find_motions(&job, &run));
    if (!print_all(&job) ||
        (job.prefix && !(write_inverse(&job, MIXED, "inverse") && write_inverse(&job, TRANSMITTED, "clean"))))
        status = ESRA_OUT_OF_MEMORY;
done:
    if (status != ESRA_OK)
        fprintf(stderr, "motion: %s\n", job.message.text);
    for (int k = 0; k < SERIES; k++) {
        esra_model_free(&job.model[k]);
        for (int i = 0; i < job.series[k].photos; i++)
            free(job.images[k][i].data);
    }
    esra_context_free(&run.context);
    return status != ESRA_OK;
}
