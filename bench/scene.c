/* bench/scene.c - synthetic problems, made as one would from photographs. */
#include "scene.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Each photo sees the reflection this far from where the one before saw it. */
#define SHIFT_X 16
#define SHIFT_Y 8

#define NOISE             0.005
#define REFLECTION        0.35
#define GRADIENT_NOISE    0.002
#define OUTLIERS          0.02
#define OUTLIER_NOISE     0.1
#define SMALLEST_GRADIENT 0.01f
#define SHAPES            60

/* A channel's light over that of the channel before it. */
#define TINT 0.85

static double uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double r = sqrt(-2 * log(1 - uniform(state)));
    return r * cos(6.283185307179586 * uniform(state));
}

/* One opaque shape: an ellipse or a box, shaded and textured. */
struct shape {
    double x, y, across, down, cosine, sine, level, slope, texture, pitch;
    bool box;
};

static struct shape random_shape(uint64_t *state, int n)
{
    double angle = 6.283185307179586 * uniform(state), size = 0.6 * pow(1 + n, -0.45);
    struct shape s = {uniform(state),
                      uniform(state),
                      size * (0.2 + uniform(state)),
                      size * (0.2 + uniform(state)),
                      cos(angle),
                      sin(angle),
                      uniform(state),
                      0.3 * (uniform(state) - 0.5),
                      uniform(state) < 0.5 ? 0.05 * uniform(state) : 0,
                      20 + 200 * uniform(state),
                      uniform(state) < 0.4};
    return s;
}

static bool inside(const struct shape *shape, double x, double y, double *u, double *v)
{
    double dx = x - shape->x, dy = y - shape->y;
    *u = (shape->cosine * dx + shape->sine * dy) / shape->across;
    *v = (shape->cosine * dy - shape->sine * dx) / shape->down;
    return shape->box ? fabs(*u) < 0.5 && fabs(*v) < 0.5 : *u * *u + *v * *v < 0.25;
}

/* Painted back to front; linear light, so code values to the power 2.2. Coordinates are shares of `side`. */
static double paint(const struct shape *shapes, double x, double y)
{
    double light = 0.4 + 0.3 * x - 0.2 * y, u, v;
    for (int n = 0; n < SHAPES; n++)
        if (inside(&shapes[n], x, y, &u, &v))
            light = shapes[n].level + shapes[n].slope * u +
                    shapes[n].texture * sin(shapes[n].pitch * u) * sin(shapes[n].pitch * v);
    return pow(fmin(fmax(light, 0), 1), 2.2);
}

static void paint_image(float *out, int width, int height, int side, int offset_x, int offset_y, double scale,
                        uint64_t seed)
{
    struct shape shapes[SHAPES];
    for (int n = 0; n < SHAPES; n++)
        shapes[n] = random_shape(&seed, n);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[(size_t)y * (size_t)width + (size_t)x] =
                (float)(scale * paint(shapes, (x + offset_x + 0.5) / side, (y + offset_y + 0.5) / side));
}

static void differences(const float *image, int width, int height, float *vertical, float *horizontal)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * (size_t)width + (size_t)x;
            vertical[at] = y < height - 1 ? image[at + (size_t)width] - image[at] : 0;
            horizontal[at] = x < width - 1 ? image[at + 1] - image[at] : 0;
        }
}

static float *channel_of(const esra_image *image, int channel)
{
    return image->data + channel * image->channel_stride;
}

static void good_gradients(struct scene *scene, int channel, uint64_t *state)
{
    size_t pixels = (size_t)scene->width * (size_t)scene->height;
    for (int l = 0; l <= scene->photos; l++) {
        float *own[2] = {channel_of(&scene->gradients[2 * l], channel),
                         channel_of(&scene->gradients[2 * l + 1], channel)};
        differences(channel_of(&scene->layers[l], channel), scene->width, scene->height, own[0], own[1]);
        for (int d = 0; d < 2; d++)
            for (size_t n = 0; n < pixels; n++) {
                double wrong = uniform(state) < OUTLIERS ? OUTLIER_NOISE * normal(state) : 0;
                own[d][n] += (float)(GRADIENT_NOISE * normal(state) + wrong);
            }
    }
}

static float median(float *values, int count)
{
    for (int n = 1; n < count; n++)
        for (int k = n; k > 0 && values[k - 1] > values[k]; k--) {
            float swap = values[k];
            values[k] = values[k - 1];
            values[k - 1] = swap;
        }
    return count % 2 ? values[count / 2] : 0.5f * (values[count / 2 - 1] + values[count / 2]);
}

static float large_only(float value)
{
    return fabsf(value) > SMALLEST_GRADIENT ? value : 0;
}

/* The photos' differences stand where the reflections' gradients go, and are turned into them in place. */
static void poor_gradients(struct scene *scene, int channel)
{
    size_t pixels = (size_t)scene->width * (size_t)scene->height;
    const esra_image *gradients = scene->gradients;
    for (int i = 0; i < scene->photos; i++)
        differences(channel_of(&scene->mixtures[i], channel), scene->width, scene->height,
                    channel_of(&gradients[2 * i + 2], channel), channel_of(&gradients[2 * i + 3], channel));
    for (int d = 0; d < 2; d++)
        for (size_t n = 0; n < pixels; n++) {
            float ratio[64];
            for (int i = 0; i < scene->photos; i++)
                ratio[i] = channel_of(&gradients[2 * i + 2 + d], channel)[n] / (float)scene->mixing[i];
            float common = median(ratio, scene->photos);
            channel_of(&gradients[d], channel)[n] = large_only(common);
            for (int i = 0; i < scene->photos; i++) {
                float *own = &channel_of(&gradients[2 * i + 2 + d], channel)[n];
                *own = large_only(*own - (float)scene->mixing[i] * common);
            }
        }
}

static void place(struct scene *scene, size_t samples)
{
    float *next = scene->samples;
    int layers = scene->photos + 1;
    esra_image *groups[] = {scene->mixtures, scene->gradients, scene->layers, scene->duals};
    int counts[] = {scene->photos, 2 * layers, layers, 2 * layers};
    for (int g = 0; g < 4; g++)
        for (int n = 0; n < counts[g]; n++, next += samples)
            groups[g][n] = esra_image_planar(next, scene->width, scene->height, scene->channels);
}

/* One channel's layers and photos. */
static void photograph(struct scene *scene, int channel, uint64_t *state)
{
    int width = scene->width, height = scene->height, side = width > height ? width : height;
    double light = pow(TINT, channel);
    const float *first = channel_of(&scene->layers[0], channel);
    paint_image(channel_of(&scene->layers[0], channel), width, height, side, 0, 0, light, 100);
    for (int i = 0; i < scene->photos; i++) {
        float *own = channel_of(&scene->layers[i + 1], channel), *mixture = channel_of(&scene->mixtures[i], channel);
        paint_image(own, width, height, side + 96, SHIFT_X * i, SHIFT_Y * i, REFLECTION * light, 200);
        for (size_t n = 0; n < (size_t)width * (size_t)height; n++) {
            double sum = scene->mixing[i] * first[n] + own[n] + NOISE * normal(state);
            mixture[n] = (float)fmin(fmax(sum, 0), 1);
        }
    }
}

bool scene_make(struct scene *scene, int width, int height, int photos, int channels, bool good)
{
    size_t samples = (size_t)width * (size_t)height * (size_t)channels;
    uint64_t state = 1;
    *scene = (struct scene){.width = width, .height = height, .photos = photos, .channels = channels};
    scene->samples = malloc(samples * (size_t)(6 * photos + 5) * sizeof(float));
    if (!scene->samples)
        return false;
    place(scene, samples);
    for (int i = 0; i < photos; i++)
        scene->mixing[i] = photos > 1 ? 0.75 + 0.15 * i / (photos - 1) : 0.8;
    for (int c = 0; c < channels; c++) {
        photograph(scene, c, &state);
        if (good)
            good_gradients(scene, c, &state);
        else
            poor_gradients(scene, c);
    }
    return true;
}

void scene_free(struct scene *scene)
{
    free(scene->samples);
    *scene = (struct scene){0};
}

esra_problem scene_problem(const struct scene *scene)
{
    esra_problem problem = ESRA_PROBLEM_INIT;
    problem.photos = scene->photos;
    problem.mixing = scene->mixing;
    problem.mixtures = scene->mixtures;
    problem.gradients = scene->gradients;
    return problem;
}

esra_result scene_result(const struct scene *scene, bool duals)
{
    esra_result result = ESRA_RESULT_INIT;
    result.layers = scene->layers;
    result.duals = duals ? scene->duals : NULL;
    return result;
}
