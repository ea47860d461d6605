/* tests/camera/degenerate.c - photos from which no camera can be told: nothing fails, and what is found says so. */
#include "camera/depth.h"

#include "camera/scene.h"

/* The whole way on `count` photos; returns the camera's quality, its poses gone. */
static struct camera go_through(const struct image *photos, int count)
{
    struct context *context = make_context(2);
    struct message message = {""};
    struct camera camera;
    struct depth depth;
    struct image map, seen;
    CHECK(esra_camera_find(&camera, context, photos, count, count - 1) == ESRA_OK);
    CHECK(esra_image_create(&map, photos->width, photos->height, 2, &message) == ESRA_OK);
    CHECK(esra_image_create(&seen, photos->width, photos->height, 1, &message) == ESRA_OK);
    for (int layer = 0; layer < 2; layer++) {
        CHECK((layer ? esra_depth_reflected : esra_depth_transmitted)(&depth, context, &camera, photos, NULL) ==
              ESRA_OK);
        CHECK(depth.inverse.width == photos->width && depth.inverse.height == photos->height);
        for (int n = 0; n < photos->width * photos->height; n++)
            CHECK(isfinite(depth.inverse.data[n]));
        CHECK(esra_camera_unmap(context, &camera, 0, &depth.inverse, (struct canvas_offset){0, 0}, &map) == ESRA_OK);
        CHECK(esra_camera_visible(context, &camera, 0, &depth.inverse, (struct canvas_offset){0, 0}, .1, &seen) ==
              ESRA_OK);
        esra_depth_free(&depth);
    }
    struct camera quality = camera;
    esra_camera_free(&camera);
    esra_image_free(&map);
    esra_image_free(&seen);
    esra_context_free(&context);
    return quality;
}

static void make_photos(struct image *photos, int count, int width, int height, int channels)
{
    struct message message = {""};
    for (int n = 0; n < count; n++)
        CHECK(esra_image_create(&photos[n], width, height, channels, &message) == ESRA_OK);
}

static void free_photos(struct image *photos, int count)
{
    for (int n = 0; n < count; n++)
        esra_image_free(&photos[n]);
}

static void nothing_to_see(void)
{
    struct image photos[3];
    make_photos(photos, 3, 120, 90, 3);
    for (int n = 0; n < 120 * 90 * 3; n++)
        photos[0].data[n] = photos[1].data[n] = photos[2].data[n] = .5f;
    CHECK(!go_through(photos, 3).found);
    free_photos(photos, 3);
}

/* Noise that no two photos share. */
static void nothing_in_common(void)
{
    struct image photos[3];
    make_photos(photos, 3, 160, 120, 1);
    for (int k = 0; k < 3; k++)
        check_fill(photos[k].data, 160 * 120, 0, 1);
    struct camera camera = go_through(photos, 3);
    CHECK(!camera.found || camera.tracks < 100);
    free_photos(photos, 3);
}

static void the_same_photo_again(void)
{
    struct scene s;
    scene_motion(&s, 240, 180, 0);
    memset(s.r, 0, sizeof s.r);
    for (int n = 0; n < SCENE_PHOTOS; n++)
        s.r[n][0] = s.r[n][4] = s.r[n][8] = 1;
    s.photos = 3;
    scene_render(&s);
    struct camera camera = go_through(s.photo, 3);
    CHECK(camera.found && camera.error_px < .01 && camera.parallax_px < .01);
    scene_free(&s);
}

static void a_camera_that_only_turns(void)
{
    struct scene s;
    scene_motion(&s, 240, 180, 0);
    scene_render(&s);
    struct camera camera = go_through(s.photo, s.photos);
    CHECK(camera.found && camera.error_px < .1 && camera.parallax_px < .1);
    scene_free(&s);
}

static void two_photos(void)
{
    struct scene s;
    scene_motion(&s, 240, 180, 6);
    s.board = 2;
    s.left = 80, s.right = 160, s.top = 60, s.bottom = 130;
    s.photos = 2;
    scene_render(&s);
    struct camera camera = go_through(s.photo, 2);
    CHECK(camera.found && camera.error_px < .2);
    scene_free(&s);
}

static void small_photos(void)
{
    static const int sides[][2] = {{1, 1}, {1, 60}, {60, 1}, {2, 3}, {17, 5}, {33, 40}};
    for (size_t k = 0; k < sizeof sides / sizeof *sides; k++) {
        struct image photos[2];
        make_photos(photos, 2, sides[k][0], sides[k][1], 3);
        check_fill(photos[0].data, (size_t)sides[k][0] * sides[k][1] * 3, 0, 1);
        memcpy(photos[1].data, photos[0].data, sizeof(float) * (size_t)sides[k][0] * sides[k][1] * 3);
        go_through(photos, 2);
        free_photos(photos, 2);
    }
}

static void what_is_no_number(void)
{
    struct scene s;
    scene_motion(&s, 160, 120, 4);
    s.photos = 3;
    scene_render(&s);
    for (int n = 0; n < 40; n++) {
        s.photo[1].data[n * 97] = NAN;
        s.photo[0].data[n * 89] = INFINITY;
        s.photo[2].data[n * 101] = -INFINITY;
    }
    go_through(s.photo, 3);
    scene_free(&s);
}

int main(void)
{
    RUN(nothing_to_see);
    RUN(nothing_in_common);
    RUN(the_same_photo_again);
    RUN(a_camera_that_only_turns);
    RUN(two_photos);
    RUN(small_photos);
    RUN(what_is_no_number);
    return check_report();
}
