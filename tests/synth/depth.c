/* tests/synth/depth.c - scenes with depth: cameras and inverse depths tell where every point of photo 1 is in the
 * others, and what is near hides what is behind it. */
#include "synth.h"

#include "colour/light.h"

#define PHOTOS 3
#define WIDTH  100
#define HEIGHT 80

struct scene {
    struct image photos[PHOTOS], inverse;
    esra_image views[PHOTOS];
    esra_camera cameras[PHOTOS];
    esra_synth_result result;
};

static esra_synth_settings settings(void)
{
    esra_synth_settings s = settings_for(PHOTOS, WIDTH, HEIGHT, 8);
    s.reflection = 0;
    s.gain_spread = 0;
    s.noise = 0;
    s.bits = 0;
    s.depth = 1;
    return s;
}

static void scene_make(struct scene *scene, const esra_synth_settings *s, const struct image *picture)
{
    esra_image layer = view(picture);
    scene->result = (esra_synth_result)ESRA_SYNTH_RESULT_INIT;
    for (int i = 0; i < PHOTOS; i++) {
        create(&scene->photos[i], WIDTH, HEIGHT, 1);
        scene->views[i] = view(&scene->photos[i]);
    }
    create(&scene->inverse, WIDTH, HEIGHT, 1);
    scene->result.photos = scene->views;
    scene->result.cameras = scene->cameras;
    scene->result.transmitted_inverse = view(&scene->inverse);
    CHECK(esra_synth(&layer, &layer, s, &scene->result) == ESRA_OK);
    CHECK_TEXT(scene->result.message, "");
}

static void scene_free(struct scene *scene)
{
    for (int i = 0; i < PHOTOS; i++)
        esra_image_free(&scene->photos[i]);
    esra_image_free(&scene->inverse);
}

/* The formula of esra.h, by itself. */
static void project(const struct scene *scene, int photo, double x, double y, double q, double *u, double *v)
{
    const double *r = scene->cameras[photo].rotation, *t = scene->cameras[photo].translation;
    double f = scene->result.focal_px, cx = (WIDTH - 1) / 2., cy = (HEIGHT - 1) / 2.;
    double X[3] = {(x - cx) / f, (y - cy) / f, 1}, P[3];
    for (int k = 0; k < 3; k++)
        P[k] = r[3 * k] * X[0] + r[3 * k + 1] * X[1] + r[3 * k + 2] * X[2] + q * t[k];
    *u = cx + f * P[0] / P[2];
    *v = cy + f * P[1] / P[2];
}

/* Bilinear, in linear light; negative outside. */
static double light_at(const struct image *image, double x, double y)
{
    double sum = 0;
    if (!(x >= 0 && y >= 0 && x < image->width - 1 && y < image->height - 1))
        return -1;
    for (int k = 0; k < 4; k++) {
        int i = (int)x + k % 2, j = (int)y + k / 2;
        double weight = (1 - fabs(x - i)) * (1 - fabs(y - j));
        sum += weight * esra_srgb_to_linear(plane_row(image_plane(image, 0), j)[i]);
    }
    return sum;
}

static void the_truth_explains_every_photo(void)
{
    struct image picture, slope;
    struct scene scene;
    esra_synth_settings s = settings();
    create(&picture, 160, 120, 1);
    create(&slope, 160, 120, 1);
    for (int y = 0; y < 120; y++)
        for (int x = 0; x < 160; x++) {
            plane_row(image_plane(&picture, 0), y)[x] = (float)(.5 + .25 * sin(.15 * x) + .2 * cos(.11 * y));
            plane_row(image_plane(&slope, 0), y)[x] = (float)(.5 + .4 * sin(.03 * x + .02 * y)); /* hides nothing */
        }
    esra_image depth = view(&slope);
    s.transmitted_depth = &depth;
    scene_make(&scene, &s, &picture);
    double worst = 0, lowest = 1, highest = 0;
    int compared = 0;
    for (int i = 1; i < PHOTOS; i++)
        for (int y = 2; y < HEIGHT - 2; y++)
            for (int x = 2; x < WIDTH - 2; x++) {
                double u, v, q = plane_row(image_plane(&scene.inverse, 0), y)[x];
                project(&scene, i, x, y, q, &u, &v);
                double there = light_at(&scene.photos[i], u, v);
                lowest = fmin(lowest, q);
                highest = fmax(highest, q);
                if (there < 0)
                    continue;
                worst = fmax(worst, fabs(there - light_at(&scene.photos[0], x, y)));
                compared++;
            }
    CHECK(compared > WIDTH * HEIGHT);
    CHECK(highest - lowest > .1);
    CHECK(worst < .004); /* a tenth of a pixel would be .0035, next to what interpolation leaves */
    scene_free(&scene);
    esra_image_free(&picture);
    esra_image_free(&slope);
}

/* A bright square near the camera, before a dark wall. */
static void what_is_near_hides_what_is_behind(void)
{
    struct image picture, steps;
    struct scene scene;
    esra_synth_settings s = settings();
    s.shift_px = 12;
    s.seed = 1; /* motions of which some must hide: by others the square fills every frame */
    create(&picture, 150, 120, 1);
    create(&steps, 150, 120, 1);
    for (int y = 40; y < 80; y++)
        for (int x = 50; x < 100; x++)
            plane_row(image_plane(&picture, 0), y)[x] = plane_row(image_plane(&steps, 0), y)[x] = 1;
    esra_image depth = view(&steps);
    s.transmitted_depth = &depth;
    scene_make(&scene, &s, &picture);
    int hidden = 0, wrong = 0;
    for (int i = 1; i < PHOTOS; i++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                double u, v, q = plane_row(image_plane(&scene.inverse, 0), y)[x],
                             here = light_at(&scene.photos[0], x, y);
                project(&scene, i, x, y, q, &u, &v);
                double there = light_at(&scene.photos[i], u, v);
                bool near = q > .999, far = q < .6; /* not the edges, which may be foreshortened */
                if (there < 0 || here < 0 || (!near && !far))
                    continue;
                /* What is near is seen wherever it goes; what is far may be hidden by it, and never the other way. */
                wrong += near && here > .7 && there < .3;
                hidden += far && here < .05 && there > .7;
            }
    CHECK(wrong == 0);
    CHECK(hidden > 20);
    scene_free(&scene);
    esra_image_free(&picture);
    esra_image_free(&steps);
}

static void threads_change_nothing(void)
{
    struct image picture;
    struct scene one, three;
    esra_synth_settings s = settings();
    create(&picture, 160, 120, 1);
    check_fill(picture.data, 160 * 120, 0, 1);
    s.threads = 1;
    scene_make(&one, &s, &picture);
    s.threads = 3;
    scene_make(&three, &s, &picture);
    for (int i = 0; i < PHOTOS; i++)
        CHECK(memcmp(one.photos[i].data, three.photos[i].data, sizeof(float) * WIDTH * HEIGHT) == 0);
    CHECK(memcmp(one.inverse.data, three.inverse.data, sizeof(float) * WIDTH * HEIGHT) == 0);
    scene_free(&one);
    scene_free(&three);
    esra_image_free(&picture);
}

static void mistakes_are_told(void)
{
    struct image picture;
    esra_synth_settings s = settings();
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    create(&picture, 20, 20, 1);
    esra_image layer = view(&picture), colours = layer;
    s.focal_px = 3;
    CHECK(esra_synth(&layer, &layer, &s, &result) == ESRA_BAD_ARGUMENT);
    CHECK_TEXT(result.message, "focal_px is 3: with photos of this size it must lie in [20, 1e+07]");
    s.focal_px = 20;
    s.rotation_deg = 10;
    s.shift_px = HEIGHT / 2.;
    s.photos = 20;
    CHECK(esra_synth(&layer, &layer, &s, &result) == ESRA_BAD_ARGUMENT);
    CHECK(strstr(result.message, "sees what is beside photo 1 or behind it: turn and shift less") != NULL);
    s = settings();
    colours.channels = 3;
    s.reflected_depth = &colours;
    CHECK(esra_synth(&layer, &layer, &s, &result) == ESRA_BAD_DATA);
    CHECK_TEXT(result.message, "a depth map needs one channel and at least 2 x 2 pixels");
    esra_image_free(&picture);
}

int main(void)
{
    RUN(the_truth_explains_every_photo);
    RUN(what_is_near_hides_what_is_behind);
    RUN(threads_change_nothing);
    RUN(mistakes_are_told);
    return check_report();
}
