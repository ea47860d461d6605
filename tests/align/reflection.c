/* tests/align/reflection.c - the reflected layer's motion is the first candidate with three photos, among them with
 * two. */
#include "align/reflection.h"

#include "align/scene.h"

static struct transform true_motion(const struct scene *scene, int photo)
{
    struct transform back;
    CHECK(esra_transform_invert(&scene->transmitted[photo], &back));
    return esra_transform_compose(&back, &scene->reflected[photo]);
}

static void find(struct context *context, const struct scene *scene, struct reflection_candidates *found)
{
    struct image aligned[SCENE_PHOTOS], masks[SCENE_PHOTOS];
    struct message message;
    struct reflection_problem problem = {aligned, masks, scene->a, scene->photos, 0, NULL, MOTION_HOMOGRAPHY};
    for (int n = 0; n < scene->photos; n++) {
        CHECK(esra_image_create(&aligned[n], SCENE_WIDTH, SCENE_HEIGHT, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&masks[n], SCENE_WIDTH, SCENE_HEIGHT, 1, &message) == ESRA_OK);
        esra_resample(context, &scene->photo[n], &scene->transmitted[n], &aligned[n], image_plane(&masks[n], 0));
    }
    CHECK(esra_reflection_find(context, &problem, found) == ESRA_OK);
    for (int n = 0; n < scene->photos; n++) {
        esra_image_free(&aligned[n]);
        esra_image_free(&masks[n]);
    }
}

static void four_photos_put_the_motion_first(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct reflection_candidates found[SCENE_PHOTOS];
    make_scene(context, &scene, 4, .4);
    find(context, &scene, found);
    CHECK(found[0].count == 0);
    for (int n = 1; n < scene.photos; n++) {
        struct transform truth = true_motion(&scene, n);
        CHECK(found[n].count > 0 && found[n].each[0].score > .3);
        CHECK_NEAR(corner_error(&found[n].each[0].transform, &truth), 0, 1);
        for (int k = 1; k < found[n].count; k++)
            CHECK(found[n].each[k].score <= found[n].each[k - 1].score);
    }
    free_scene(&scene);
    esra_context_free(&context);
}

static void two_photos_list_the_motion(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    struct reflection_candidates found[SCENE_PHOTOS];
    make_scene(context, &scene, 2, .4);
    find(context, &scene, found);
    struct transform truth = true_motion(&scene, 1);
    double best = INFINITY;
    for (int k = 0; k < found[1].count; k++)
        best = fmin(best, corner_error(&found[1].each[k].transform, &truth));
    CHECK(found[1].count > 0);
    CHECK_NEAR(best, 0, 3);
    free_scene(&scene);
    esra_context_free(&context);
}

int main(void)
{
    RUN(four_photos_put_the_motion_first);
    RUN(two_photos_list_the_motion);
    return check_report();
}
