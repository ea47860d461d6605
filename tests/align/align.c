/* tests/align/align.c - the transmitted layer's motion is found below a tenth of a pixel, and what cannot be aligned is
 * told. */
#include "align/align.h"

#include "align/scene.h"

static const struct align_options homography = {.motion = MOTION_HOMOGRAPHY};

static void align(struct context *context, const struct scene *scene, const struct align_options *options,
                  struct photo_motion *motions)
{
    CHECK(esra_align(context, scene->photo, scene->photos, 0, options, motions) == ESRA_OK);
}

/* The fainter layer need not show in every photo; where it does it is the right one. */
static void both_layers_are_found(void)
{
    int found = 0;
    struct context *context = make_context(2);
    struct scene scene;
    struct photo_motion motions[SCENE_PHOTOS];
    make_scene(context, &scene, 4, .6);
    align(context, &scene, &homography, motions);
    CHECK(motions[0].aligned && corner_error(&motions[0].transmitted, &scene.transmitted[0]) == 0);
    for (int n = 1; n < scene.photos; n++) {
        CHECK(motions[n].aligned);
        CHECK_NEAR(corner_error(&motions[n].transmitted, &scene.transmitted[n]), 0, .1);
        CHECK(motions[n].overlap > .8 && motions[n].overlap <= 1);
        if (!motions[n].second)
            continue;
        found++;
        CHECK_NEAR(corner_error(&motions[n].reflected, &scene.reflected[n]), 0, .5);
        CHECK_NEAR(motions[n].apart_px, corner_error(&scene.transmitted[n], &scene.reflected[n]), .6);
    }
    CHECK(found >= 2);
    free_scene(&scene);
    esra_context_free(&context);
}

static void one_layer_has_one_motion(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct photo_motion motions[SCENE_PHOTOS];
    make_scene(context, &scene, 3, 0);
    align(context, &scene, &homography, motions);
    for (int n = 1; n < scene.photos; n++) {
        CHECK(motions[n].aligned && !motions[n].second && motions[n].apart_px == 0);
        CHECK_NEAR(corner_error(&motions[n].transmitted, &scene.transmitted[n]), 0, .05);
        CHECK(motions[n].explained > .8);
    }
    free_scene(&scene);
    esra_context_free(&context);
}

static void the_same_photo_twice_shows(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct photo_motion motions[SCENE_PHOTOS];
    make_scene(context, &scene, 2, .5);
    memcpy(scene.photo[1].data, scene.photo[0].data, 3 * sizeof(float) * SCENE_WIDTH * SCENE_HEIGHT);
    align(context, &scene, &homography, motions);
    CHECK(motions[1].aligned && !motions[1].second);
    CHECK(motions[1].residual < 1e-3);
    CHECK_NEAR(corner_error(&motions[1].transmitted, &motions[0].transmitted), 0, 1e-3);
    free_scene(&scene);
    esra_context_free(&context);
}

static void unrelated_photos_are_not_aligned(void)
{
    struct context *context = make_context(2);
    struct scene one, other;
    struct photo_motion motions[SCENE_PHOTOS];
    make_scene(context, &one, 1, .5);
    make_scene(context, &other, 1, .5);
    one.photo[1] = other.photo[0];
    one.photos = 2;
    align(context, &one, &homography, motions);
    CHECK(!motions[1].aligned);
    CHECK(corner_error(&motions[1].transmitted, &motions[0].transmitted) == 0);
    free_scene(&one);
    esra_context_free(&context);
}

/* Black, constant and tiny photos, one or three channels: no motion, no crash. */
static void empty_photos_are_not_aligned(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {17, 9}, {64, 64}};
    struct context *context = make_context(2);
    for (int k = 0; k < 5; k++)
        for (int channels = 1; channels <= 3; channels += 2) {
            struct image photos[2];
            struct photo_motion motions[2];
            struct message message;
            for (int n = 0; n < 2; n++) {
                CHECK(esra_image_create(&photos[n], sizes[k][0], sizes[k][1], channels, &message) == ESRA_OK);
                for (int i = 0; i < sizes[k][0] * sizes[k][1] * channels; i++)
                    photos[n].data[i] = .5f * (float)(k % 2);
            }
            CHECK(esra_align(context, photos, 2, 1, &homography, motions) == ESRA_OK);
            CHECK(motions[1].aligned && !motions[0].aligned);
            esra_image_free(&photos[0]);
            esra_image_free(&photos[1]);
        }
    esra_context_free(&context);
}

static void a_translation_stays_one(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct photo_motion motions[SCENE_PHOTOS];
    struct align_options options = {.motion = MOTION_TRANSLATION, .stored = true};
    make_scene(context, &scene, 2, 0);
    align(context, &scene, &options, motions);
    const double *h = motions[1].transmitted.h;
    CHECK(h[0] == 1 && h[1] == 0 && h[3] == 0 && h[4] == 1 && h[6] == 0 && h[7] == 0 && h[8] == 1);
    CHECK_NEAR(corner_error(&motions[1].transmitted, &scene.transmitted[1]), 0, 5);
    free_scene(&scene);
    esra_context_free(&context);
}

static void any_number_of_threads_gives_the_same_bits(void)
{
    struct photo_motion motions[3][SCENE_PHOTOS];
    struct context *context = make_context(1);
    struct scene scene;
    make_scene(context, &scene, 3, .5);
    esra_context_free(&context);
    for (int k = 0; k < 3; k++) {
        context = make_context(1 + 2 * k);
        memset(motions[k], 0, sizeof motions[k]);
        align(context, &scene, &homography, motions[k]);
        esra_context_free(&context);
    }
    for (int n = 0; n < scene.photos; n++)
        for (int k = 1; k < 3; k++) {
            CHECK(memcmp(&motions[0][n].transmitted, &motions[k][n].transmitted, sizeof(struct transform)) == 0);
            CHECK(memcmp(&motions[0][n].reflected, &motions[k][n].reflected, sizeof(struct transform)) == 0);
            CHECK(motions[0][n].explained == motions[k][n].explained);
        }
    free_scene(&scene);
}

int main(void)
{
    RUN(both_layers_are_found);
    RUN(one_layer_has_one_motion);
    RUN(the_same_photo_twice_shows);
    RUN(unrelated_photos_are_not_aligned);
    RUN(empty_photos_are_not_aligned);
    RUN(a_translation_stays_one);
    RUN(any_number_of_threads_gives_the_same_bits);
    return check_report();
}
