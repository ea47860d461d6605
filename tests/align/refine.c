/* tests/align/refine.c - a rough transform becomes exact; weights keep a second layer out; correlation peaks at
 * the shift. */
#include "align/refine.h"

#include "align/correlate.h"
#include "align/scene.h"

static void a_rough_start_becomes_exact(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct refined refined;
    struct refine_options options = {
        .motion = MOTION_HOMOGRAPHY, .coarsest = 3, .iterations = 15, .rough = true, .blur_px = .7};
    struct transform found = TRANSFORM_IDENTITY;
    make_scene(context, &scene, 2, 0);
    CHECK(esra_refine_images(context, &scene.photo[0], &scene.photo[1], &options, &found, &refined) == ESRA_OK);
    CHECK_NEAR(corner_error(&found, &scene.transmitted[1]), 0, .03);
    /* Noise adds to the shorter gradients of the darker photo: a few per cent. */
    CHECK_NEAR(refined.gain, scene.a[1], .05);
    free_scene(&scene);
    esra_context_free(&context);
}

/* Left half still, right half moving: weights choose which. */
static void weights_choose_the_motion(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct message message;
    struct image weights;
    make_scene(context, &scene, 2, 0);
    for (int c = 0; c < 3; c++)
        for (int y = 0; y < SCENE_HEIGHT; y++)
            memcpy(plane_row(image_plane(&scene.photo[1], c), y), plane_row(image_plane(&scene.photo[0], c), y),
                   sizeof(float) * SCENE_WIDTH / 2);
    CHECK(esra_image_create(&weights, SCENE_WIDTH, SCENE_HEIGHT, 1, &message) == ESRA_OK);
    for (int right = 0; right < 2; right++) {
        struct plane plane = image_plane(&weights, 0);
        struct refine_options options = {.motion = MOTION_AFFINE, .iterations = 20, .weights = &plane, .blur_px = .7};
        struct transform still = TRANSFORM_IDENTITY, found = right ? scene.transmitted[1] : still;
        struct refined refined;
        found.h[2] += .4;
        for (int y = 0; y < SCENE_HEIGHT; y++)
            for (int x = 0; x < SCENE_WIDTH; x++)
                plane_row(plane, y)[x] = (x > SCENE_WIDTH / 2) == right;
        CHECK(esra_refine_images(context, &scene.photo[0], &scene.photo[1], &options, &found, &refined) == ESRA_OK);
        CHECK_NEAR(corner_error(&found, right ? &scene.transmitted[1] : &still), 0, .2);
    }
    esra_image_free(&weights);
    free_scene(&scene);
    esra_context_free(&context);
}

static void correlation_peaks_at_the_shift(void)
{
    struct context *context = make_context(2);
    struct image layer, photos[2];
    struct field fields[2];
    struct message message;
    struct transform moved = esra_transform_shift(-17, 9);
    draw_layer(context, &layer, 300);
    for (int n = 0; n < 2; n++) {
        CHECK(esra_image_create(&photos[n], SCENE_WIDTH, SCENE_HEIGHT, 3, &message) == ESRA_OK);
        add_layer(context, &layer, n ? &moved : &TRANSFORM_IDENTITY, 1, &photos[n]);
        CHECK(esra_field_of_image(&fields[n], context, &photos[n], .7) == ESRA_OK);
    }
    for (int whiten = 0; whiten < 2; whiten++) {
        struct peak peaks[3];
        int count;
        struct correlate_options options = {whiten, 40, 3};
        CHECK(esra_correlate(context, &fields[0], &fields[1], &options, peaks, &count) == ESRA_OK);
        CHECK(count > 0 && peaks[0].right == -17 && peaks[0].down == 9);
        CHECK(count < 2 || peaks[1].height < peaks[0].height);
    }
    for (int n = 0; n < 2; n++) {
        esra_image_free(&photos[n]);
        esra_field_free(&fields[n]);
    }
    esra_image_free(&layer);
    esra_context_free(&context);
}

int main(void)
{
    RUN(a_rough_start_becomes_exact);
    RUN(weights_choose_the_motion);
    RUN(correlation_peaks_at_the_shift);
    return check_report();
}
