/* bench/align.c - how exactly the layers' motions and the mixing coefficients are found on scenes whose truth is known.
 *
 *     bench_align [--photos M] [--stored] [--no-reflection] [--threads N] SCENE...
 *
 * A scene is a folder of photo-1.ppm ... (8 bit, sRGB) and truth.txt: the number of photos, then for each the nine
 * numbers of the transmitted layer's transform, the nine of the reflected layer's, a_i and b_i (bench/synth.py makes
 * them and converts those of shared/synth). Prints the mean distance at the corners in px. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "align/reflection.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "base/timer.h"
#include "gradients/mixing.h"
#include "ops/resample.h"

#define PHOTOS_MOST 16
#define ERRORS_MOST 4096

struct truth {
    struct transform transmitted, reflected;
    double a, b;
};

struct scene {
    const char *path;
    int photos;
    struct image photo[PHOTOS_MOST], aligned[PHOTOS_MOST], mask[PHOTOS_MOST];
    struct truth truth[PHOTOS_MOST];
};

struct errors {
    double value[ERRORS_MOST];
    int count;
};

static struct {
    int photos;
    bool stored, no_reflection;
    struct context *context;
    struct errors transmitted, reflected, mixing, first, any;
    double seconds;
    int scenes, swapped;
} bench;

static float linear_light(int code)
{
    double v = code / 255.;
    return (float)(v <= .04045 ? v / 12.92 : pow((v + .055) / 1.055, 2.4));
}

static bool read_ppm(const char *path, struct image *image)
{
    struct message message;
    int width, height;
    FILE *file = fopen(path, "rb");
    if (!file || fscanf(file, "P6 %d %d 255", &width, &height) != 2 || fgetc(file) == EOF)
        return false;
    if (esra_image_create(image, width, height, 3, &message) != ESRA_OK)
        return false;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            for (int c = 0; c < 3; c++) {
                int code = fgetc(file);
                plane_row(image_plane(image, c), y)[x] = bench.stored ? (float)code / 255 : linear_light(code);
            }
    fclose(file);
    return true;
}

static bool read_truth(struct scene *scene)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/truth.txt", scene->path);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%d", &scene->photos) != 1)
        return false;
    if (bench.photos && scene->photos > bench.photos)
        scene->photos = bench.photos;
    for (int n = 0; n < scene->photos; n++) {
        struct truth *truth = &scene->truth[n];
        for (int k = 0; k < 18; k++)
            if (fscanf(file, "%lf", k < 9 ? &truth->transmitted.h[k] : &truth->reflected.h[k - 9]) != 1)
                return false;
        if (fscanf(file, "%lf %lf", &truth->a, &truth->b) != 2)
            return false;
    }
    fclose(file);
    return true;
}

static bool read_scene(struct scene *scene)
{
    if (!read_truth(scene))
        return false;
    for (int n = 0; n < scene->photos; n++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/photo-%d.ppm", scene->path, n + 1);
        if (!read_ppm(path, &scene->photo[n]))
            return false;
    }
    return true;
}

static void add_error(struct errors *errors, double value)
{
    if (errors->count < ERRORS_MOST)
        errors->value[errors->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(struct errors *errors, double share)
{
    qsort(errors->value, (size_t)errors->count, sizeof *errors->value, compare);
    return errors->count ? errors->value[(int)(share * (errors->count - 1))] : 0;
}

static double share_over(const struct errors *errors, double limit)
{
    int over = 0;
    for (int n = 0; n < errors->count; n++)
        over += !(errors->value[n] <= limit);
    return errors->count ? (double)over / errors->count : 0;
}

static double distance(const struct scene *scene, const struct transform *a, const struct transform *b)
{
    return esra_transform_distance(a, b, scene->photo[0].width, scene->photo[0].height);
}

/* Whether what was called transmitted follows the reflection's truth more closely, over all photos. */
static bool is_swapped(const struct scene *scene, const struct photo_motion *motions)
{
    double right = 0, wrong = 0;
    for (int n = 1; n < scene->photos; n++) {
        right += fmin(distance(scene, &motions[n].transmitted, &scene->truth[n].transmitted), 20);
        wrong += fmin(distance(scene, &motions[n].transmitted, &scene->truth[n].reflected), 20);
    }
    return wrong < right;
}

static void print_motions(const struct scene *scene, const struct photo_motion *motions, bool swapped)
{
    for (int n = 1; n < scene->photos; n++) {
        const struct photo_motion *m = &motions[n];
        const struct truth *truth = &scene->truth[n];
        const struct transform *t = swapped ? &truth->reflected : &truth->transmitted;
        const struct transform *r = swapped ? &truth->transmitted : &truth->reflected;
        double first = distance(scene, &m->transmitted, t),
               second = m->second ? distance(scene, &m->reflected, r) : INFINITY;
        add_error(&bench.transmitted, first);
        add_error(&bench.reflected, second);
        printf("  %d%s T %7.3f  R %7.3f  explained %.3f %.3f residual %.4f apart %.1f overlap %.2f\n", n + 1,
               m->aligned ? "" : " not aligned", first, second, m->explained, m->explained_second, m->residual,
               m->apart_px, m->overlap);
    }
}

static bool bring_to_reference(struct scene *scene, const struct photo_motion *motions)
{
    struct message message;
    int width = scene->photo[0].width, height = scene->photo[0].height;
    for (int n = 0; n < scene->photos; n++) {
        if (esra_image_create(&scene->aligned[n], width, height, 3, &message) != ESRA_OK ||
            esra_image_create(&scene->mask[n], width, height, 1, &message) != ESRA_OK)
            return false;
        esra_resample(bench.context, &scene->photo[n], &motions[n].transmitted, &scene->aligned[n],
                      image_plane(&scene->mask[n], 0));
    }
    return true;
}

/* The truth of R's motion in the reference's frame: transmitted^-1 reflected. */
static struct transform true_reflection(const struct truth *truth, bool swapped)
{
    struct transform back;
    esra_transform_invert(swapped ? &truth->reflected : &truth->transmitted, &back);
    return esra_transform_compose(&back, swapped ? &truth->transmitted : &truth->reflected);
}

static void run_reflection(struct scene *scene, const struct photo_motion *motions, const struct mixing *mixing,
                           bool swapped)
{
    struct reflection_candidates found[PHOTOS_MOST];
    double a[PHOTOS_MOST];
    struct reflection_problem problem = {scene->aligned, scene->mask, a, scene->photos, 0, motions, MOTION_HOMOGRAPHY};
    for (int n = 0; n < scene->photos; n++)
        a[n] = mixing[n].coefficient;
    double start = esra_timer_now_s();
    if (esra_reflection_find(bench.context, &problem, found) != ESRA_OK)
        return;
    printf("  reflection %.2f s\n", esra_timer_now_s() - start);
    for (int n = 1; n < scene->photos; n++) {
        struct transform truth = true_reflection(&scene->truth[n], swapped);
        double best = INFINITY;
        printf("  %d R", n + 1);
        for (int k = 0; k < found[n].count; k++) {
            double error = distance(scene, &found[n].each[k].transform, &truth);
            printf("  %.3f (%.3f)", error, found[n].each[k].score);
            best = fmin(best, error);
        }
        add_error(&bench.first, found[n].count ? distance(scene, &found[n].each[0].transform, &truth) : INFINITY);
        add_error(&bench.any, best);
        printf("\n");
    }
}

static void run_mixing(struct scene *scene, const struct photo_motion *motions, bool swapped)
{
    struct mixing mixing[PHOTOS_MOST];
    if (esra_mixing_estimate(bench.context, scene->aligned, scene->mask, scene->photos, 0, mixing) != ESRA_OK)
        return;
    printf("  mixing, error in %%:");
    for (int n = 1; n < scene->photos; n++) {
        double error = mixing[n].coefficient / (swapped ? scene->truth[n].b : scene->truth[n].a) - 1;
        printf("  %.3f (%.2f)", 100 * error, mixing[n].support);
        add_error(&bench.mixing, fabs(error));
    }
    printf("\n");
    if (!bench.no_reflection)
        run_reflection(scene, motions, mixing, swapped);
}

static void free_scene(struct scene *scene)
{
    for (int n = 0; n < scene->photos; n++) {
        esra_image_free(&scene->photo[n]);
        esra_image_free(&scene->aligned[n]);
        esra_image_free(&scene->mask[n]);
    }
}

static void run_scene(const char *path)
{
    struct scene scene = {.path = path};
    struct photo_motion motions[PHOTOS_MOST];
    struct align_options options = {MOTION_HOMOGRAPHY, bench.stored};
    if (!read_scene(&scene)) {
        printf("%s: cannot be read\n", path);
        return;
    }
    double start = esra_timer_now_s();
    esra_status status = esra_align(bench.context, scene.photo, scene.photos, 0, &options, motions);
    double seconds = esra_timer_now_s() - start;
    if (status == ESRA_OK) {
        bool swapped = is_swapped(&scene, motions);
        printf("%s  %.2f s%s\n", path, seconds, swapped ? "  layers swapped" : "");
        print_motions(&scene, motions, swapped);
        if (bring_to_reference(&scene, motions))
            run_mixing(&scene, motions, swapped);
        bench.swapped += swapped;
    } else {
        printf("%s: %s\n", path, bench.context->message->text);
    }
    bench.seconds += seconds;
    bench.scenes++;
    free_scene(&scene);
}

static double mean(const struct errors *errors)
{
    double sum = 0;
    for (int n = 0; n < errors->count; n++)
        sum += errors->value[n] / errors->count;
    return sum;
}

static void print_errors(const char *name, struct errors *errors)
{
    printf("%s: n %d, median %.4f px, p95 %.3f, most %.3f, over 3 px %.3f\n", name, errors->count, quantile(errors, .5),
           quantile(errors, .95), quantile(errors, 1), share_over(errors, 3));
}

int main(int argc, char **argv)
{
    struct message message;
    int threads = esra_cpu_count(), first = 1;
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        if (strcmp(argv[first], "--stored") == 0)
            bench.stored = true;
        else if (strcmp(argv[first], "--no-reflection") == 0)
            bench.no_reflection = true;
        else if (strcmp(argv[first], "--photos") == 0 && first + 1 < argc)
            bench.photos = atoi(argv[++first]);
        else if (strcmp(argv[first], "--threads") == 0 && first + 1 < argc)
            threads = atoi(argv[++first]);
    }
    if (esra_context_create(&bench.context, threads, &message) != ESRA_OK)
        return 1;
    for (int n = first; n < argc; n++)
        run_scene(argv[n]);
    print_errors("transmitted", &bench.transmitted);
    print_errors("second motion", &bench.reflected);
    print_errors("reflected, first candidate", &bench.first);
    print_errors("reflected, best candidate", &bench.any);
    printf("mixing: mean error %.3f %%, median %.3f, p95 %.3f, most %.3f\n", 100 * mean(&bench.mixing),
           100 * quantile(&bench.mixing, .5), 100 * quantile(&bench.mixing, .95), 100 * quantile(&bench.mixing, 1));
    printf("%d scenes, %d with layers swapped, %.2f s a scene\n", bench.scenes, bench.swapped,
           bench.scenes ? bench.seconds / bench.scenes : 0);
    esra_context_free(&bench.context);
    return 0;
}
