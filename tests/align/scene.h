/* tests/align/scene.h - two-layer scenes whose motions are known: photo_i = a_i T(f_i) + b_i R(g_i), T and R being
 * discs of random colour, drawn on canvases larger than the photos. */
#ifndef ESRA_TESTS_ALIGN_SCENE_H
#define ESRA_TESTS_ALIGN_SCENE_H

#include "align/align.h"
#include "check.h"
#include "context.h"
#include "ops/blur.h"
#include "ops/resample.h"

#define SCENE_WIDTH  320
#define SCENE_HEIGHT 240
#define SCENE_MARGIN 60
#define SCENE_PHOTOS 4

struct scene {
    struct image photo[SCENE_PHOTOS];
    struct transform transmitted[SCENE_PHOTOS], reflected[SCENE_PHOTOS]; /* reference -> photo */
    double a[SCENE_PHOTOS];
    int photos;
};

static inline void draw_disc(struct plane plane, double cx, double cy, double radius, double value)
{
    for (int y = 0; y < plane.height; y++)
        for (int x = 0; x < plane.width; x++)
            if ((x - cx) * (x - cx) + (y - cy) * (y - cy) < radius * radius)
                plane_row(plane, y)[x] = (float)value;
}

static inline void draw_layer(struct context *context, struct image *layer, int discs)
{
    struct message message;
    struct image sharp;
    int width = SCENE_WIDTH + 2 * SCENE_MARGIN, height = SCENE_HEIGHT + 2 * SCENE_MARGIN;
    CHECK(esra_image_create(&sharp, width, height, 3, &message) == ESRA_OK);
    CHECK(esra_image_create(layer, width, height, 3, &message) == ESRA_OK);
    for (int n = 0; n < discs; n++) {
        double x = check_random(0, width), y = check_random(0, height), radius = check_random(4, 30);
        for (int c = 0; c < 3; c++)
            draw_disc(image_plane(&sharp, c), x, y, radius, check_random(0, 1));
    }
    for (int c = 0; c < 3; c++)
        esra_blur(context, image_plane(&sharp, c), image_plane(layer, c), .8);
    esra_image_free(&sharp);
}

/* A handheld motion: a shift of up to shift_px, a degree, a per cent, a touch of perspective. */
static inline struct transform random_motion(double shift_px)
{
    double turn = check_random(-.015, .015), scale = 1 + check_random(-.01, .01);
    struct transform centre = esra_transform_shift(-.5 * SCENE_WIDTH, -.5 * SCENE_HEIGHT);
    struct transform move = {{scale * cos(turn), -scale * sin(turn),
                              .5 * SCENE_WIDTH + check_random(-shift_px, shift_px), scale * sin(turn),
                              scale * cos(turn), .5 * SCENE_HEIGHT + check_random(-shift_px, shift_px),
                              check_random(-2e-5, 2e-5), check_random(-2e-5, 2e-5), 1}};
    return esra_transform_compose(&move, &centre);
}

/* Adds weight * layer seen by a photo: its pixel x shows the canvas at margin + motion^-1 (x). */
static inline void add_layer(struct context *context, const struct image *layer, const struct transform *motion,
                             double weight, const struct image *photo)
{
    struct message message;
    struct image seen;
    struct transform back, margin = esra_transform_shift(SCENE_MARGIN, SCENE_MARGIN);
    CHECK(esra_transform_invert(motion, &back));
    back = esra_transform_compose(&margin, &back);
    CHECK(esra_image_create(&seen, SCENE_WIDTH, SCENE_HEIGHT, 3, &message) == ESRA_OK);
    esra_resample(context, layer, &back, &seen, (struct plane){0});
    for (size_t n = 0; n < 3 * (size_t)SCENE_WIDTH * SCENE_HEIGHT; n++)
        photo->data[n] += (float)weight * seen.data[n];
    esra_image_free(&seen);
}

/* reflection: b_i/a_i, 0 for a scene without glass. */
static inline void make_scene(struct context *context, struct scene *scene, int photos, double reflection)
{
    struct image transmitted, reflected;
    struct message message;
    draw_layer(context, &transmitted, 400);
    draw_layer(context, &reflected, 400);
    scene->photos = photos;
    for (int n = 0; n < photos; n++) {
        scene->transmitted[n] = n ? random_motion(12) : TRANSFORM_IDENTITY;
        scene->reflected[n] = n ? random_motion(20) : TRANSFORM_IDENTITY;
        scene->a[n] = n ? check_random(.9, 1.1) : 1;
        CHECK(esra_image_create(&scene->photo[n], SCENE_WIDTH, SCENE_HEIGHT, 3, &message) == ESRA_OK);
        add_layer(context, &transmitted, &scene->transmitted[n], .7 * scene->a[n], &scene->photo[n]);
        add_layer(context, &reflected, &scene->reflected[n], .7 * reflection * scene->a[n], &scene->photo[n]);
        for (size_t k = 0; k < 3 * (size_t)SCENE_WIDTH * SCENE_HEIGHT; k++)
            scene->photo[n].data[k] += (float)check_random(-.004, .004);
    }
    esra_image_free(&transmitted);
    esra_image_free(&reflected);
}

static inline void free_scene(struct scene *scene)
{
    for (int n = 0; n < scene->photos; n++)
        esra_image_free(&scene->photo[n]);
}

static inline double corner_error(const struct transform *a, const struct transform *b)
{
    return esra_transform_distance(a, b, SCENE_WIDTH, SCENE_HEIGHT);
}

#endif
