/* tests/pipeline/large.c - photos larger than the search works on: what is found on small ones holds for them, to a
 * part of their own pixels. */
#include <esra/esra.h>

#include "base/image.h"
#include "base/transform.h"
#include "check.h"
#include "colour/light.h"

/* More than .6 MP: halved once, with odd sides. */
#define WIDTH  911
#define HEIGHT 675
#define PHOTOS 3

static struct message message;

/* Patches over one another, as scenes made by people have them. */
static void paint(struct image *image, int patches)
{
    CHECK(esra_image_create(image, 500, 380, 1, &message) == ESRA_OK);
    for (int n = 0; n < patches; n++) {
        int size = 6 + 90 / (1 + n / 12), left = (int)check_random(-40, 500), top = (int)check_random(-40, 380);
        float level = (float)check_random(0, 1);
        for (int y = top < 0 ? 0 : top; y < 380 && y < top + size; y++)
            for (int x = left < 0 ? 0 : left; x < 500 && x < left + size; x++)
                plane_row(image_plane(image, 0), y)[x] = level;
    }
}

static esra_image view(const struct image *image)
{
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

struct scene {
    struct image photos[PHOTOS]; /* owned */
    esra_image views[PHOTOS];
    esra_photos input;
    esra_transform truth[2][PHOTOS]; /* motion of the scene, of what is mirrored */
    double mixing[PHOTOS];
};

static void scene_create(struct scene *scene, bool depth)
{
    struct image layers[2];
    esra_image layer_views[2];
    esra_synth_settings settings;
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    esra_synth_settings_default(&settings);
    settings.photos = PHOTOS;
    settings.width = WIDTH;
    settings.height = HEIGHT;
    settings.shift_px = 24;
    settings.noise = .004;
    settings.depth = depth;
    for (int l = 0; l < 2; l++) {
        paint(&layers[l], 200);
        layer_views[l] = view(&layers[l]);
    }
    for (int i = 0; i < PHOTOS; i++) {
        CHECK(esra_image_create(&scene->photos[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        scene->views[i] = view(&scene->photos[i]);
    }
    result.photos = scene->views;
    result.transmitted_motion = scene->truth[0];
    result.reflected_motion = scene->truth[1];
    result.mixing = scene->mixing;
    CHECK(esra_synth(&layer_views[0], &layer_views[1], &settings, &result) == ESRA_OK);
    for (int i = 0; i < PHOTOS; i++)
        for (size_t n = 0; n < (size_t)WIDTH * HEIGHT; n++)
            scene->photos[i].data[n] = (float)esra_srgb_to_linear(scene->photos[i].data[n]);
    esra_image_free(&layers[0]);
    esra_image_free(&layers[1]);
    scene->input = (esra_photos)ESRA_PHOTOS_INIT;
    scene->input.photos = PHOTOS;
    scene->input.images = scene->views;
}

static void scene_free(struct scene *scene)
{
    for (int i = 0; i < PHOTOS; i++)
        esra_image_free(&scene->photos[i]);
}

/* Of the scene, or with the layers exchanged of what it mirrors, which is blurred and fainter. */
static void align_and_check(bool swap, double most_px)
{
    struct scene scene;
    esra_transform found[PHOTOS];
    double gains[PHOTOS];
    esra_separation separation = {.struct_size = sizeof separation, .transmitted_motion = found, .mixing = gains};
    esra_solver *solver;
    scene_create(&scene, false);
    scene.input.swap = swap;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_align(solver, &scene.input, NULL, &separation) == ESRA_OK);
    for (int i = 1; i < PHOTOS; i++) {
        struct transform a, b;
        memcpy(a.h, scene.truth[swap][i].h, sizeof a.h);
        memcpy(b.h, found[i].h, sizeof b.h);
        double apart = esra_transform_distance(&a, &b, WIDTH, HEIGHT);
        CHECK(swap || fabs(gains[i] / scene.mixing[i] - 1) < .01);
        if (!CHECK(apart < most_px))
            printf("  photo %d: corners %.3f px off\n", i + 1, apart);
    }
    esra_solver_free(&solver);
    scene_free(&scene);
}

static void motions_are_exact(void)
{
    if (CHECK_THREADS)
        SKIP("exchanged ones take the same steps, and one more");
    align_and_check(false, .3);
}

static void exchanged_motions_are_exact(void)
{
    align_and_check(true, 1);
}

/* Photos under .6 MP were always measured; of larger ones by depth the gains once stayed 1. */
static void gains_are_found_by_depth_too(void)
{
    struct scene scene;
    double gains[PHOTOS];
    esra_separation separation = ESRA_SEPARATION_INIT;
    esra_settings settings;
    esra_solver *solver;
    if (CHECK_THREADS)
        SKIP("too long at this size; pipeline/depth has the same steps");
    esra_settings_default(&settings);
    settings.gap = .2;
    separation.mixing = gains;
    scene_create(&scene, true);
    scene.input.motion = ESRA_MOTION_DEPTH;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &scene.input, &settings, &separation) == ESRA_OK);
    CHECK(fabs(scene.mixing[1] - 1) > .03 || fabs(scene.mixing[2] - 1) > .03);
    for (int i = 1; i < PHOTOS; i++)
        if (!CHECK(fabs(gains[i] / scene.mixing[i] - 1) < .02))
            printf("  photo %d: gain %.3f, truly %.3f\n", i + 1, gains[i], scene.mixing[i]);
    esra_solver_free(&solver);
    scene_free(&scene);
}

/* Root mean square of a - b - c. */
static double rms_of_rest(const float *a, const float *b, const float *c)
{
    double sum = 0;
    for (size_t n = 0; n < (size_t)WIDTH * HEIGHT; n++)
        sum += ((double)a[n] - b[n] - c[n]) * ((double)a[n] - b[n] - c[n]);
    return sqrt(sum / ((double)WIDTH * HEIGHT));
}

/* Layers of the size of the photos, told apart at half of it; motions in the photos' own pixels. */
static void a_draft_is_separated_small(void)
{
    static float transmitted[WIDTH * HEIGHT], reflected[PHOTOS][WIDTH * HEIGHT], none[WIDTH * HEIGHT];
    struct scene scene;
    esra_image reflections[PHOTOS];
    esra_transform found[PHOTOS];
    esra_separation separation = ESRA_SEPARATION_INIT;
    esra_solver *solver;
    scene_create(&scene, false);
    scene.input.effort = ESRA_EFFORT_DRAFT;
    for (int i = 0; i < PHOTOS; i++)
        reflections[i] = esra_image_planar(reflected[i], WIDTH, HEIGHT, 1);
    separation.transmitted = esra_image_planar(transmitted, WIDTH, HEIGHT, 1);
    separation.reflected = reflections;
    separation.transmitted_motion = found;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &scene.input, NULL, &separation) == ESRA_OK);
    CHECK(separation.scale == .5 && separation.method == ESRA_METHOD_JOINT);
    for (int i = 1; i < PHOTOS; i++) {
        struct transform a, b;
        memcpy(a.h, scene.truth[0][i].h, sizeof a.h);
        memcpy(b.h, found[i].h, sizeof b.h);
        CHECK(esra_transform_distance(&a, &b, WIDTH, HEIGHT) < 1);
    }
    double rest = rms_of_rest(scene.photos[0].data, transmitted, reflected[0]),
           taken = rms_of_rest(scene.photos[0].data, transmitted, none);
    if (!CHECK(rest < .25 * taken && taken > .01))
        printf("  taken off %.4f, not in the reflection %.4f\n", taken, rest);
    esra_solver_free(&solver);
    scene_free(&scene);
}

int main(void)
{
    RUN(motions_are_exact);
    RUN(exchanged_motions_are_exact);
    RUN(gains_are_found_by_depth_too);
    RUN(a_draft_is_separated_small);
    return check_report();
}
