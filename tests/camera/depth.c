/* tests/camera/depth.c - from photos to depth, maps and visibility on scenes whose truth is known. */
#include "camera/depth.h"

#include "camera/scene.h"

#define WIDTH  320
#define HEIGHT 240

/* A slanted wall, and a board that hides a part of it. */
static void make_board(struct scene *s)
{
    scene_motion(s, WIDTH, HEIGHT, 8);
    s->slant = .5;
    s->board = 2.2;
    s->left = 110;
    s->right = 210;
    s->top = 80;
    s->bottom = 170;
    scene_render(s);
}

static void make_image(struct image *image, int channels)
{
    struct message message = {""};
    CHECK(esra_image_create(image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
}

/* Depths have a unit of their own; where things are seen has not. */
static void maps_meet_the_truth(void)
{
    struct context *context = make_context(2);
    struct scene s;
    struct camera camera;
    struct depth depth;
    struct image map;
    make_board(&s);
    make_image(&map, 2);
    CHECK(esra_camera_find(&camera, context, s.photo, s.photos, 0) == ESRA_OK);
    CHECK(camera.found && camera.error_px < .15 && camera.parallax_px > 1);
    CHECK(esra_depth_transmitted(&depth, context, &camera, s.photo, NULL) == ESRA_OK);
    CHECK(depth.explained > .7 && depth.count > 10 && depth.labels.width == WIDTH);
    CHECK(plane_row(image_plane(&depth.inverse, 0), 120)[160] > plane_row(image_plane(&depth.inverse, 0), 30)[160]);
    for (int n = 0; n < s.photos; n++) {
        int close = 0, all = 0;
        esra_camera_map(context, &camera, n, &depth.inverse, (struct canvas_offset){0, 0}, &map);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                double u, v;
                scene_project(&s, n, x, y, scene_depth(&s, x, y), &u, &v);
                if (u < 3 || v < 3 || u > WIDTH - 4 || v > HEIGHT - 4)
                    continue;
                close +=
                    hypot(plane_row(image_plane(&map, 0), y)[x] - u, plane_row(image_plane(&map, 1), y)[x] - v) < .5;
                all++;
            }
        CHECK(close > .93 * all);
        if (n == 0)
            CHECK(close == all);
    }
    esra_image_free(&map);
    esra_depth_free(&depth);
    esra_camera_free(&camera);
    scene_free(&s);
    esra_context_free(&context);
}

/* The true camera and the true depth, on a canvas that reaches past the photo. */
struct known {
    struct scene scene;
    struct camera camera;
    struct pose pose[SCENE_PHOTOS];
    struct image inverse;
    struct canvas_offset offset;
};

static void make_known(struct known *k, int left, int top)
{
    struct message message = {""};
    scene_motion(&k->scene, WIDTH, HEIGHT, 8);
    k->scene.slant = .2;
    k->scene.board = 2.2;
    k->scene.left = 110, k->scene.right = 210, k->scene.top = 80, k->scene.bottom = 170;
    k->offset = (struct canvas_offset){left, top};
    k->camera = (struct camera){.photos = SCENE_PHOTOS,
                                .width = WIDTH,
                                .height = HEIGHT,
                                .focal_px = k->scene.focal,
                                .cx = .5 * (WIDTH - 1),
                                .cy = .5 * (HEIGHT - 1),
                                .pose = k->pose,
                                .found = true};
    for (int n = 0; n < SCENE_PHOTOS; n++) {
        memcpy(k->pose[n].r, k->scene.r[n], sizeof k->pose[n].r);
        memcpy(k->pose[n].t, k->scene.t[n], sizeof k->pose[n].t);
        k->pose[n].tracks = 100;
    }
    CHECK(esra_image_create(&k->inverse, WIDTH + 2 * left, HEIGHT + 2 * top, 1, &message) == ESRA_OK);
    for (int y = 0; y < k->inverse.height; y++)
        for (int x = 0; x < k->inverse.width; x++)
            plane_row(image_plane(&k->inverse, 0), y)[x] = (float)scene_depth(&k->scene, x - left, y - top);
}

/* 1: photo n sees the wall's or the board's point (x, y) of the reference; -1 within three pixels of where that
 * changes. */
static int seen_by(const struct scene *s, int n, double x, double y)
{
    double u, v, w = scene_depth(s, x, y);
    int seen = -2;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
            double a, b;
            w = scene_depth(s, x + i, y + j);
            scene_project(s, n, x + i, y + j, w, &u, &v);
            scene_back(s, n, u, v, s->board, &a, &b);
            int here =
                u >= 0 && v >= 0 && u <= WIDTH - 1 && v <= HEIGHT - 1 && (w == s->board || !scene_on_board(s, a, b));
            if (seen != -2 && seen != here)
                return -1;
            seen = here;
        }
    return seen;
}

static void what_is_hidden_is_told(void)
{
    struct context *context = make_context(2);
    struct known k;
    struct image seen;
    int hidden = 0;
    make_known(&k, 0, 0);
    make_image(&seen, 1);
    for (int n = 1; n < SCENE_PHOTOS; n++) {
        int wrong = 0;
        CHECK(esra_camera_visible(context, &k.camera, n, &k.inverse, k.offset, .2, &seen) == ESRA_OK);
        for (int y = 2; y < HEIGHT - 2; y++)
            for (int x = 2; x < WIDTH - 2; x++) {
                int truth = seen_by(&k.scene, n, x, y);
                hidden += truth == 0;
                wrong += truth >= 0 && plane_row(image_plane(&seen, 0), y)[x] != (float)truth;
            }
        CHECK_NEAR(wrong, 0, 20);
    }
    CHECK(hidden > 1000);
    esra_image_free(&seen);
    esra_image_free(&k.inverse);
    esra_context_free(&context);
}

static void the_way_back_is_the_way_there(void)
{
    struct context *context = make_context(2);
    struct message message = {""};
    struct known k;
    struct image back;
    make_known(&k, 40, 20);
    make_image(&back, 2);
    /* A little distortion must not matter. */
    k.camera.k1 = .01;
    for (int n = 0; n < SCENE_PHOTOS; n++) {
        int close = 0;
        CHECK(esra_camera_unmap(context, &k.camera, n, &k.inverse, k.offset, &back) == ESRA_OK);
        struct image at, map;
        CHECK(esra_image_create(&at, 1, 1, 1, &message) == ESRA_OK &&
              esra_image_create(&map, 1, 1, 2, &message) == ESRA_OK);
        for (int v = 0; v < HEIGHT; v += 3)
            for (int u = 0; u < WIDTH; u += 3) {
                int x = (int)floorf(plane_row(image_plane(&back, 0), v)[u] + .5f);
                int y = (int)floorf(plane_row(image_plane(&back, 1), v)[u] + .5f);
                if (x < 0 || y < 0 || x >= k.inverse.width || y >= k.inverse.height)
                    continue;
                /* The canvas' pixel nearest to where the way back leads, there again: within its rounding. */
                at.data[0] = plane_row(image_plane(&k.inverse, 0), y)[x];
                esra_camera_map(context, &k.camera, n, &at, (struct canvas_offset){k.offset.left - x, k.offset.top - y},
                                &map);
                close += fabs((double)map.data[0] - u) < 1 && fabs((double)map.data[1] - v) < 1;
            }
        CHECK(close > .96 * ((WIDTH + 2) / 3) * ((HEIGHT + 2) / 3));
        esra_image_free(&at);
        esra_image_free(&map);
    }
    esra_image_free(&back);
    esra_image_free(&k.inverse);
    esra_context_free(&context);
}

/* What is left of photos beside T: a plane at a depth of its own, far from T's. */
static void the_mirrored_scene_has_its_depth(void)
{
    struct context *context = make_context(2);
    struct known k;
    struct depth depth, bare;
    struct image map;
    int close = 0;
    make_known(&k, 0, 0);
    make_image(&map, 2);
    k.camera.near = 2.2;
    k.camera.far = .8;
    k.scene.wall = 4;
    k.scene.slant = 0;
    k.scene.right = k.scene.left - 1;
    scene_render(&k.scene);
    CHECK(esra_depth_reflected(&depth, context, &k.camera, k.scene.photo, NULL) == ESRA_OK);
    CHECK(depth.explained > .6 && depth.guard.data == NULL);
    CHECK(esra_depth_reflected(&bare, context, &k.camera, k.scene.photo, &(struct depth_options){.bare = true}) ==
          ESRA_OK);
    CHECK(bare.explained == 0 && memcmp(bare.inverse.data, depth.inverse.data, WIDTH * HEIGHT * sizeof(float)) == 0);
    esra_depth_free(&bare);
    esra_camera_map(context, &k.camera, 1, &depth.inverse, k.offset, &map);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double u, v;
            scene_project(&k.scene, 1, x, y, 4, &u, &v);
            close += hypot(plane_row(image_plane(&map, 0), y)[x] - u, plane_row(image_plane(&map, 1), y)[x] - v) < .7;
        }
    CHECK(close > .85 * WIDTH * HEIGHT);
    esra_image_free(&map);
    esra_depth_free(&depth);
    scene_free(&k.scene);
    esra_image_free(&k.inverse);
    esra_context_free(&context);
}

/* The wall at 1 and what is mirrored at 3, in units of the camera's. */
static void both_surfaces_are_found(const struct camera *camera, const struct image *photos, struct context *context)
{
    struct depth depths[PAIR_SURFACES] = {{.count = 0}};
    double unit = (camera->group[1].near + camera->group[1].far) / (camera->group[0].near + camera->group[0].far);
    CHECK(esra_depth_pair(depths, context, camera, photos) == ESRA_OK);
    int apart = 0;
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        apart += depths[PAIR_NEARER].inverse.data[n] > .7 * unit * depths[PAIR_FARTHER].inverse.data[n];
    CHECK(apart > .9 * WIDTH * HEIGHT);
    for (int k = 0; k < PAIR_SURFACES; k++)
        esra_depth_free(&depths[k]);
}

/* Both layers give tracks; those of the one that explains less lie among the others' and do not widen the depths of T.
 */
static void layers_are_told_from_things(void)
{
    struct context *context = make_context(2);
    struct scene t, r;
    struct camera camera;
    scene_motion(&t, WIDTH, HEIGHT, 8);
    t.slant = .2;
    r = t;
    r.wall = 3;
    r.slant = 0;
    r.spots = 60;
    scene_render(&t);
    scene_render(&r);
    for (int n = 0; n < SCENE_PHOTOS; n++)
        for (int k = 0; k < WIDTH * HEIGHT * 3; k++)
            t.photo[n].data[k] = .35f * t.photo[n].data[k] + .6f * r.photo[n].data[k];
    CHECK(esra_camera_find(&camera, context, t.photo, SCENE_PHOTOS, 0) == ESRA_OK);
    CHECK(camera.found && camera.groups == 2 && camera.group[1].mixed > .1);
    CHECK(camera.group[0].explained > camera.group[1].explained);
    CHECK(camera.near == camera.group[0].near && camera.group[1].far > 1.5 * camera.near);
    both_surfaces_are_found(&camera, t.photo, context);
    esra_camera_free(&camera);
    scene_free(&t);
    scene_free(&r);
    esra_context_free(&context);
}

static bool same_image(const struct image *a, const struct image *b)
{
    return a->width == b->width && a->height == b->height &&
           !memcmp(a->data, b->data, sizeof(float) * (size_t)a->width * (size_t)a->height * (size_t)a->channels);
}

static void threads_do_not_matter(void)
{
    struct scene s;
    struct camera camera[2];
    struct depth depth[2];
    make_board(&s);
    for (int n = 0; n < 2; n++) {
        struct context *context = make_context(n ? 3 : 1);
        CHECK(esra_camera_find(&camera[n], context, s.photo, s.photos, 0) == ESRA_OK);
        CHECK(esra_depth_transmitted(&depth[n], context, &camera[n], s.photo, NULL) == ESRA_OK);
        esra_context_free(&context);
    }
    CHECK(!memcmp(camera[0].pose, camera[1].pose, SCENE_PHOTOS * sizeof *camera[0].pose));
    CHECK(camera[0].focal_px == camera[1].focal_px && camera[0].tracks == camera[1].tracks);
    CHECK(same_image(&depth[0].inverse, &depth[1].inverse) && same_image(&depth[0].guard, &depth[1].guard));
    CHECK(depth[0].explained == depth[1].explained);
    for (int n = 0; n < 2; n++) {
        esra_depth_free(&depth[n]);
        esra_camera_free(&camera[n]);
    }
    scene_free(&s);
}

int main(void)
{
    RUN(maps_meet_the_truth);
    RUN(what_is_hidden_is_told);
    RUN(the_way_back_is_the_way_there);
    RUN(the_mirrored_scene_has_its_depth);
    RUN(layers_are_told_from_things);
    RUN(threads_do_not_matter);
    return check_report();
}
