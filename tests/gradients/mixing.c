/* tests/gradients/mixing.c - mixing coefficients are found to half a per cent below a reflection. */
#include "gradients/mixing.h"

#include "align/scene.h"

/* Photos in the reference's frame by their true motions, with masks. */
static void bring_to_reference(struct context *context, const struct scene *scene, struct image *aligned,
                               struct image *masks)
{
    struct message message;
    for (int n = 0; n < scene->photos; n++) {
        CHECK(esra_image_create(&aligned[n], SCENE_WIDTH, SCENE_HEIGHT, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&masks[n], SCENE_WIDTH, SCENE_HEIGHT, 1, &message) == ESRA_OK);
        esra_resample(context, &scene->photo[n], &scene->transmitted[n], &aligned[n], image_plane(&masks[n], 0));
    }
}

static void coefficients_are_found_below_a_reflection(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct image aligned[SCENE_PHOTOS], masks[SCENE_PHOTOS];
    struct mixing mixing[SCENE_PHOTOS];
    make_scene(context, &scene, 4, .5);
    bring_to_reference(context, &scene, aligned, masks);
    CHECK(esra_mixing_estimate(context, aligned, masks, 4, 0, mixing) == ESRA_OK);
    CHECK(mixing[0].coefficient == 1);
    for (int n = 1; n < 4; n++) {
        CHECK_NEAR(mixing[n].coefficient / scene.a[n], 1, .005);
        CHECK(mixing[n].support > .3);
    }
    for (int n = 0; n < 4; n++) {
        esra_image_free(&aligned[n]);
        esra_image_free(&masks[n]);
    }
    free_scene(&scene);
    esra_context_free(&context);
}

static void nothing_to_measure_is_one(void)
{
    struct context *context = make_context(1);
    struct image photos[2], masks[2];
    struct mixing mixing[2];
    struct message message;
    for (int n = 0; n < 2; n++) {
        CHECK(esra_image_create(&photos[n], 9, 7, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&masks[n], 9, 7, 1, &message) == ESRA_OK);
    }
    CHECK(esra_mixing_estimate(context, photos, masks, 2, 1, mixing) == ESRA_OK);
    CHECK(mixing[0].coefficient == 1 && mixing[0].support == 0);
    for (int n = 0; n < 2; n++) {
        esra_image_free(&photos[n]);
        esra_image_free(&masks[n]);
    }
    esra_context_free(&context);
}

int main(void)
{
    RUN(coefficients_are_found_below_a_reflection);
    RUN(nothing_to_measure_is_one);
    return check_report();
}
