/* examples/embed.c - libesra inside another program: five photos of a picture behind glass are made from two PGM files,
 * the reflection moving from one to the next; gradients are voted, and the layers recovered with their certificate.
 *
 * usage: embed BEHIND.pgm REFLECTED.pgm FOLDER       (REFLECTED at least 48 x 24 larger than BEHIND) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <esra/esra.h>

#define PHOTOS 5
#define LAYERS (PHOTOS + 1)

/* Each photo sees the reflection this many pixels further right and down than the one before. */
#define STEP_X 12
#define STEP_Y 6

struct grey {
    int width, height;
    float *data;
};

static struct grey read_pgm(const char *path)
{
    struct grey image = {0, 0, NULL};
    FILE *file = fopen(path, "rb");
    if (file && fscanf(file, "P5 %d %d 255", &image.width, &image.height) == 2 && fgetc(file) != EOF &&
        image.width > 0 && image.height > 0 && image.width < 10000 && image.height < 10000)
        image.data = calloc((size_t)image.width * (size_t)image.height, sizeof(float));
    for (int n = 0; image.data && n < image.width * image.height; n++)
        image.data[n] = (float)fgetc(file) / 255;
    if (file)
        fclose(file);
    if (!image.data)
        fprintf(stderr, "embed: cannot read %s as an 8-bit PGM\n", path);
    return image;
}

/* Returns false where the file could not be written whole. */
static int write_pgm(const char *folder, const char *name, const float *data, int width, int height, float gain)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        return 0;
    fprintf(file, "P5\n%d %d\n255\n", width, height);
    for (int n = 0; n < width * height; n++) {
        float value = data[n] * gain;
        fputc((int)((value < 0 ? 0 : value > 1 ? 1 : value) * 255 + 0.5f), file);
    }
    int failed = ferror(file);
    return fclose(file) == 0 && !failed;
}

/* What the camera sees, in 8 bits: a_i times the scene, plus a third of the reflection. */
static void make_photo(float *photo, const struct grey *behind, const struct grey *reflected, int i, double a)
{
    for (int y = 0; y < behind->height; y++)
        for (int x = 0; x < behind->width; x++) {
            int n = y * behind->width + x, k = (y + i * STEP_Y) * reflected->width + x + i * STEP_X;
            double seen = a * behind->data[n] + 0.35 * reflected->data[k];
            photo[n] = (float)((int)(seen * 255 + 0.5) / 255.0);
        }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The scene stands still and the reflection moves, so most photos agree on a gradient of the scene: E_0 is the median
 * of theirs, and what is left of each photo's gradient is the reflection's. step is 1 for x, the width for y. */
static void vote(float *const *photos, const double *mixing, float *const *gradients, int direction, int count,
                 int step)
{
    for (int n = 0; n + step < count; n++) {
        float seen[PHOTOS], sorted[PHOTOS];
        for (int i = 0; i < PHOTOS; i++)
            seen[i] = photos[i][n + step] - photos[i][n];
        for (int i = 0; i < PHOTOS; i++)
            sorted[i] = seen[i] / (float)mixing[i];
        qsort(sorted, PHOTOS, sizeof *sorted, by_value);
        float median = sorted[PHOTOS / 2];
        gradients[direction][n] = median;
        for (int i = 0; i < PHOTOS; i++)
            gradients[2 * (i + 1) + direction][n] = seen[i] - (float)mixing[i] * median;
    }
}

static int solve(float *const *photos, const double *mixing, float *const *gradients, float *const *layers, int width,
                 int height)
{
    esra_image photo_views[PHOTOS], gradient_views[2 * LAYERS], layer_views[LAYERS];
    for (int i = 0; i < PHOTOS; i++)
        photo_views[i] = esra_image_planar(photos[i], width, height, 1);
    for (int n = 0; n < 2 * LAYERS; n++)
        gradient_views[n] = esra_image_planar(gradients[n], width, height, 1);
    for (int l = 0; l < LAYERS; l++)
        layer_views[l] = esra_image_planar(layers[l], width, height, 1);

    esra_problem problem = ESRA_PROBLEM_INIT;
    problem.photos = PHOTOS;
    problem.mixing = mixing;
    problem.mixtures = photo_views;
    problem.gradients = gradient_views;
    esra_result result = ESRA_RESULT_INIT;
    result.layers = layer_views;
    esra_settings settings;
    esra_settings_default(&settings);
    settings.lambda = 0.02;
    settings.gap = 0.01;
    esra_info info = ESRA_INFO_INIT;

    esra_solver *solver;
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK)
        status = esra_solver_run(solver, &problem, &settings, &result, &info);
    if (status == ESRA_OK)
        printf("%s after %d iterations and %.1f s: no other layers can lower the objective by more than %.1f %%\n",
               esra_outcome_name(info.outcome), info.iterations, info.seconds, 100 * info.gap);
    else
        fprintf(stderr, "embed: %s\n", esra_solver_message(solver));
    esra_solver_free(&solver);
    return status == ESRA_OK;
}

static int separate(const struct grey *behind, const struct grey *reflected, const char *folder)
{
    int width = behind->width, height = behind->height, count = width * height;
    double mixing[PHOTOS];
    float *block = calloc((size_t)count * (PHOTOS + 3 * LAYERS), sizeof *block), *at = block;
    float *photos[PHOTOS], *gradients[2 * LAYERS], *layers[LAYERS];
    if (!block)
        return 0;
    for (int i = 0; i < PHOTOS; i++, at += count) {
        mixing[i] = 0.6 + 0.02 * i;
        make_photo(photos[i] = at, behind, reflected, i, mixing[i]);
    }
    for (int n = 0; n < 2 * LAYERS; n++, at += count)
        gradients[n] = at;
    for (int l = 0; l < LAYERS; l++, at += count)
        layers[l] = at;
    vote(photos, mixing, gradients, 0, count, width);
    vote(photos, mixing, gradients, 1, count, 1);
    int good = solve(photos, mixing, gradients, layers, width, height) &&
               write_pgm(folder, "photo.pgm", photos[PHOTOS / 2], width, height, 1) &&
               write_pgm(folder, "transmitted.pgm", layers[0], width, height, (float)mixing[PHOTOS / 2]) &&
               write_pgm(folder, "reflected.pgm", layers[PHOTOS / 2 + 1], width, height, 2);
    free(block);
    return good;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: embed BEHIND.pgm REFLECTED.pgm FOLDER\n");
        return 64;
    }
    struct grey behind = read_pgm(argv[1]), reflected = read_pgm(argv[2]);
    int good = behind.data && reflected.data;
    if (good && (reflected.width < behind.width + (PHOTOS - 1) * STEP_X ||
                 reflected.height < behind.height + (PHOTOS - 1) * STEP_Y)) {
        fprintf(stderr, "embed: %s is too small for the reflection to move\n", argv[2]);
        good = 0;
    }
    good = good && separate(&behind, &reflected, argv[3]);
    if (good)
        printf("look at %s: photo.pgm is what the camera saw; transmitted.pgm and reflected.pgm are its layers\n",
               argv[3]);
    free(behind.data);
    free(reflected.data);
    return good ? 0 : 1;
}
