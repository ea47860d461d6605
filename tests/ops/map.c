/* tests/ops/map.c - dense maps: where two meet, and that a homography written out as a map warps as it does itself, in
 * tables and in Lanczos resampling. */
#include "ops/map.h"

#include "check.h"
#include "ops/resample.h"
#include "ops/warp.h"

#define WIDTH  64
#define HEIGHT 48
#define PIXELS (WIDTH * HEIGHT)

static struct context *context;
static const double motion[9] = {1.02, .03, -2.4, -.025, .98, 3.1, 1e-4, -2e-4, 1};

static struct image make_image(int width, int height, int channels)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, width, height, channels, &message) == ESRA_OK);
    return image;
}

/* A homography as a map. */
static struct image make_map(const double h[9])
{
    struct image map = make_image(WIDTH, HEIGHT, 2);
    for (int n = 0; n < PIXELS; n++) {
        double x = n % WIDTH, y = n / WIDTH, w = h[6] * x + h[7] * y + h[8];
        map.data[n] = (float)((h[0] * x + h[1] * y + h[2]) / w);
        map.data[PIXELS + n] = (float)((h[3] * x + h[4] * y + h[5]) / w);
    }
    return map;
}

/* A scene's displacement: a slope and a bump, whose steepest is a third of a pixel a pixel. */
static void bump(double x, double y, double *u, double *v)
{
    double b = exp(-((x - 30) * (x - 30) + (y - 22) * (y - 22)) / 200);
    *u = x + 7 + 4 * b + .05 * y;
    *v = y - 3 + 2 * b - .03 * x;
}

/* meet(target = map(x + s)) must give x + s. */
static void maps_meet_where_they_should(void)
{
    struct image map = make_image(WIDTH + 20, HEIGHT + 16, 2), target = make_image(WIDTH, HEIGHT, 2);
    struct image out = make_image(WIDTH, HEIGHT, 2), met = make_image(WIDTH, HEIGHT, 1);
    int all = map.width * map.height;
    for (int n = 0; n < all; n++) {
        double u, v;
        bump(n % map.width - 10, n / map.width - 8, &u, &v);
        map.data[n] = (float)u;
        map.data[all + n] = (float)v;
    }
    for (int n = 0; n < PIXELS; n++) {
        double u, v;
        bump(n % WIDTH + 3.25, n / WIDTH - 1.5, &u, &v);
        target.data[n] = (float)u;
        target.data[PIXELS + n] = (float)v;
    }
    esra_map_meet(context, &target, &(struct placed_map){&map, -10, -8}, &out, image_plane(&met, 0));
    for (int n = 0; n < PIXELS; n++) {
        CHECK(met.data[n] == 1);
        /* A 64th of a pixel where the iteration stops, over the least slope, and the map's bilinear interpolation. */
        CHECK_NEAR(out.data[n], n % WIDTH + 3.25, .04);
        CHECK_NEAR(out.data[PIXELS + n], n / WIDTH - 1.5, .04);
    }
    esra_image_free(&map);
    esra_image_free(&target);
    esra_image_free(&out);
    esra_image_free(&met);
}

/* Without a target it is the inverse; beyond the map's border its displacement goes on. */
static void a_map_is_inverted(void)
{
    struct image map = make_map((double[9]){1, 0, 5.5, 0, 1, -4.25, 0, 0, 1}), out = make_image(WIDTH, HEIGHT, 2);
    esra_map_meet(context, NULL, &(struct placed_map){&map, 0, 0}, &out, (struct plane){0});
    for (int n = 0; n < PIXELS; n++) {
        CHECK_NEAR(out.data[n], n % WIDTH - 5.5, .02);
        CHECK_NEAR(out.data[PIXELS + n], n / WIDTH + 4.25, .02);
    }
    esra_image_free(&map);
    esra_image_free(&out);
}

/* The left half moves right, the right half left: near the middle two places are seen in one, and far from it none;
 * whatever comes out is finite, and what is flagged as met is. A map of nonsense meets nowhere. */
static void folds_and_nonsense_are_told(void)
{
    struct image map = make_image(WIDTH, HEIGHT, 2), out = make_image(WIDTH, HEIGHT, 2),
                 met = make_image(WIDTH, HEIGHT, 1);
    for (int n = 0; n < PIXELS; n++) {
        map.data[n] = (float)(n % WIDTH + (n % WIDTH < WIDTH / 2 ? -6 : 6));
        map.data[PIXELS + n] = (float)(n / WIDTH);
    }
    esra_map_meet(context, NULL, &(struct placed_map){&map, 0, 0}, &out, image_plane(&met, 0));
    for (int n = 0; n < PIXELS; n++) {
        int x = n % WIDTH;
        CHECK(isfinite(out.data[n]) && isfinite(out.data[PIXELS + n]));
        if (x < WIDTH / 2 - 8)
            CHECK(met.data[n] == 1 && fabs((double)out.data[n] - (x + 6)) < .1);
        if (x > WIDTH / 2 + 8)
            CHECK(met.data[n] == 1 && fabs((double)out.data[n] - (x - 6)) < .1);
    }
    for (int n = 0; n < 2 * PIXELS; n++)
        map.data[n] = n % 2 ? NAN : -1e6f;
    esra_map_meet(context, NULL, &(struct placed_map){&map, 0, 0}, &out, image_plane(&met, 0));
    for (int n = 0; n < PIXELS; n++)
        CHECK(met.data[n] == 0 && isfinite(out.data[n]) && isfinite(out.data[PIXELS + n]));
    esra_image_free(&map);
    esra_image_free(&out);
    esra_image_free(&met);
}

static void fill_warp(struct warp *warp, struct arena *arena)
{
    esra_arena_count(arena);
    esra_warp_layout(warp, true, arena);
    CHECK(esra_arena_place(arena));
    esra_warp_layout(warp, true, arena);
}

/* At full size a table from a map is the homography's own but for float32; a coarser one shifts by the middle of
 * blocks. */
static void tables_are_the_homographys(void)
{
    struct image map = make_map(motion);
    struct arena arena[2] = {{0}};
    struct warp direct = {.width = WIDTH, .height = HEIGHT, .canvas_width = WIDTH, .canvas_height = HEIGHT},
                dense = direct;
    struct warp_map from = {image_plane(&map, 0), image_plane(&map, 1), 1, 0, 0};
    fill_warp(&direct, &arena[0]);
    fill_warp(&dense, &arena[1]);
    memcpy(direct.motion, motion, sizeof direct.motion);
    esra_warp_fill(&direct, 0, HEIGHT);
    esra_warp_fill_map(&dense, &from, 0, HEIGHT);
    for (int n = 0; n < PIXELS; n++) {
        struct warp_point a = direct.points[n], b = dense.points[n];
        if (a.index < 0 || b.index < 0)
            continue; /* within rounding of the border */
        CHECK_NEAR(a.index % WIDTH + (double)warp_right(a), b.index % WIDTH + (double)warp_right(b), 1e-4);
        CHECK_NEAR(a.index / WIDTH + (double)warp_down(a), b.index / WIDTH + (double)warp_down(b), 1e-4);
    }
    struct warp half = {
        .width = WIDTH / 2, .height = HEIGHT / 2, .canvas_width = WIDTH / 2 + 4, .canvas_height = HEIGHT / 2};
    from = (struct warp_map){image_plane(&map, 0), image_plane(&map, 1), 2, -4, 2};
    fill_warp(&half, &arena[0]);
    esra_warp_fill_map(&half, &from, 0, HEIGHT / 2);
    for (int n = 0; n < PIXELS / 4; n++) {
        double x = 2 * (n % (WIDTH / 2)) + .5, y = 2 * (n / (WIDTH / 2)) + .5, w = motion[6] * x + motion[7] * y + 1;
        struct warp_point point = half.points[n];
        if (point.index < 0)
            continue;
        double u = ((motion[0] * x + motion[1] * y + motion[2]) / w + 4 - .5) / 2;
        double v = ((motion[3] * x + motion[4] * y + motion[5]) / w - 2 - .5) / 2;
        CHECK_NEAR(point.index % half.canvas_width + (double)warp_right(point), u, 1e-3);
        CHECK_NEAR(point.index / half.canvas_width + (double)warp_down(point), v, 1e-3);
    }
    esra_arena_free(&arena[0]);
    esra_arena_free(&arena[1]);
    esra_image_free(&map);
}

/* <S v, u> = <v, S'u> through any map, positions that are not finite being outside. */
static void the_adjoint_is_exact(void)
{
    static colours canvas[40 * 37], back[40 * 37];
    struct image map = make_image(WIDTH, HEIGHT, 2), a = make_image(40, 37, 1), b = make_image(WIDTH, HEIGHT, 1);
    struct arena arena = {0};
    struct warp warp = {.width = WIDTH, .height = HEIGHT, .canvas_width = 40, .canvas_height = 37};
    check_fill(map.data, 2 * PIXELS, -5, 45);
    map.data[7] = NAN;
    map.data[PIXELS + 9] = INFINITY;
    check_fill(a.data, 40 * 37, -1, 1);
    check_fill(b.data, PIXELS, -1, 1);
    fill_warp(&warp, &arena);
    esra_warp_fill_map(&warp, &(struct warp_map){image_plane(&map, 0), image_plane(&map, 1), 1, 0, 0}, 0, HEIGHT);
    CHECK(warp.points[7].index < 0 && warp.points[9].index < 0);
    double forward = 0, adjoint = 0;
    for (int n = 0; n < 40 * 37; n++)
        canvas[n] = (colours){a.data[n], 0, 0, 0};
    for (int n = 0; n < PIXELS; n++)
        if (warp.points[n].index >= 0) {
            forward += (double)warp_sample(&warp, canvas, warp.points[n])[0] * b.data[n];
            warp_scatter(&warp, back, 0, warp.points[n], (colours){b.data[n], 0, 0, 0});
        }
    for (int n = 0; n < 40 * 37; n++)
        adjoint += (double)a.data[n] * back[n][0];
    CHECK(fabs(forward) > 1e-3);
    CHECK_NEAR(forward, adjoint, 8.0 * PIXELS * 0x1p-24);
    esra_arena_free(&arena);
    esra_image_free(&map);
    esra_image_free(&a);
    esra_image_free(&b);
}

static void resampling_is_the_homographys(void)
{
    struct image map = make_map(motion), from = make_image(WIDTH, HEIGHT, 3), to[2], mask[2];
    struct transform transform;
    memcpy(transform.h, motion, sizeof motion);
    check_fill(from.data, 3 * PIXELS, 0, 1);
    for (int k = 0; k < 2; k++) {
        to[k] = make_image(WIDTH, HEIGHT, 3);
        mask[k] = make_image(WIDTH, HEIGHT, 1);
    }
    map.data[5] = NAN;
    esra_resample(context, &from, &transform, &to[0], image_plane(&mask[0], 0));
    esra_resample_map(context, &from, &map, &to[1], image_plane(&mask[1], 0));
    CHECK(to[1].data[5] == 0 && mask[1].data[5] == 0);
    for (int n = 6; n < PIXELS; n++)
        if (mask[0].data[n] > 0 && mask[1].data[n] > 0)
            for (int c = 0; c < 3; c++) /* a phase of 1/2048 px at most, of samples that differ by up to 1 */
                CHECK_NEAR(to[0].data[c * PIXELS + n], to[1].data[c * PIXELS + n], 3e-3);
    esra_image_free(&map);
    esra_image_free(&from);
    for (int k = 0; k < 2; k++) {
        esra_image_free(&to[k]);
        esra_image_free(&mask[k]);
    }
}

int main(void)
{
    struct message message;
    if (!CHECK(esra_context_create(&context, 3, &message) == ESRA_OK))
        return check_report();
    RUN(maps_meet_where_they_should);
    RUN(a_map_is_inverted);
    RUN(folds_and_nonsense_are_told);
    RUN(tables_are_the_homographys);
    RUN(the_adjoint_is_exact);
    RUN(resampling_is_the_homographys);
    esra_context_free(&context);
    return check_report();
}
