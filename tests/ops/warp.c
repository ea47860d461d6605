/* tests/ops/warp.c - the warp's adjoint is exact, its norm bounded, and the identity is the identity. */
#include "ops/warp.h"

#include "check.h"
#include "ops/vectors.h"

#define SIDE 48

static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], d[SIDE * SIDE];
static lanes canvas_lanes[SIDE * SIDE], strip[SIDE * SIDE];

static void make_warp(struct warp *warp, struct arena *arena, const double h[9])
{
    esra_arena_count(arena);
    esra_warp_layout(warp, arena);
    CHECK(esra_arena_place(arena));
    esra_warp_layout(warp, arena);
    esra_warp_fill(warp, h, 0, warp->height);
}

/* A hand's motion: rotation, scale, perspective and shift. */
static void random_motion(double h[9])
{
    double angle = check_random(-.2, .2), scale = check_random(.8, 1.2);
    double motion[9] = {scale * cos(angle),        -scale * sin(angle),       check_random(-6, 6),
                        scale * sin(angle),        scale * cos(angle),        check_random(-6, 6),
                        check_random(-2e-3, 2e-3), check_random(-2e-3, 2e-3), 1};
    memcpy(h, motion, sizeof motion);
}

/* <S v, u> = <v, S'u> for every size, and |S v|^2 within the bound. */
static void the_adjoint_is_exact(void)
{
    struct arena arena = {0};
    for (int width = 1; width <= SIDE; width += 1 + width / 3)
        for (int height = 1; height <= SIDE; height += 1 + height / 3) {
            struct warp warp = {.width = width,
                                .height = height,
                                .canvas_width = 1 + (height * 7 + width) % SIDE,
                                .canvas_height = 1 + (width * 5 + height) % SIDE};
            int n = width * height, k = warp.canvas_width * warp.canvas_height;
            double h[9];
            random_motion(h);
            make_warp(&warp, &arena, h);
            check_fill(a, (size_t)k, -1, 1);
            check_fill(b, (size_t)n, -1, 1);
            struct plane canvas = plane(a, warp.canvas_width, warp.canvas_height);
            esra_warp_forward(&warp, canvas, plane(c, width, height));
            esra_warp_adjoint(&warp, plane(b, width, height), plane(d, warp.canvas_width, warp.canvas_height));
            /* Rounding: 8 operations a pixel on numbers of size at most 1, each exact to 2^-24. */
            CHECK_NEAR(dot(c, b, n), dot(a, d, k), 8.0 * n * 0x1p-24 + 1e-12);
            double bound = esra_warp_norm_squared(&warp, plane(d, warp.canvas_width, warp.canvas_height));
            CHECK(dot(c, c, n) <= bound * dot(a, a, k) * (1 + 1e-5));
        }
    esra_arena_free(&arena);
}

/* Sample and scatter in lanes are the operator on planes. */
static void lanes_do_the_same(void)
{
    struct warp warp = {.width = 31, .height = 23, .canvas_width = 40, .canvas_height = 29};
    struct arena arena = {0};
    int n = 31 * 23, k = 40 * 29;
    double h[9];
    random_motion(h);
    make_warp(&warp, &arena, h);
    check_fill(a, (size_t)k, -1, 1);
    check_fill(b, (size_t)n, -1, 1);
    for (int i = 0; i < k; i++)
        canvas_lanes[i] = (lanes){a[i], 0, -a[i], 0};
    esra_warp_forward(&warp, plane(a, 40, 29), plane(c, 31, 23));
    esra_warp_adjoint(&warp, plane(b, 31, 23), plane(d, 40, 29));
    memset(strip, 0, sizeof strip);
    for (int i = 0; i < n; i++) {
        if (warp.points[i].index < 0) {
            CHECK(c[i] == 0);
            continue;
        }
        lanes v = warp_sample(&warp, canvas_lanes, (size_t)i);
        CHECK_NEAR(v[0], c[i], 1e-6);
        CHECK(v[2] == -v[0] && v[1] == 0);
        warp_scatter(&warp, strip, 0, (size_t)i, (lanes){b[i], 0, 0, 0});
        CHECK(warp.low[i / 31] <= warp.points[i].index / 40 && warp.points[i].index / 40 + 1 < warp.high[i / 31]);
    }
    for (int i = 0; i < k; i++)
        CHECK_NEAR(strip[i][0], d[i], 1e-5);
    esra_arena_free(&arena);
}

static void the_identity_sees_every_pixel(void)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct arena arena = {0};
    for (int side = 1; side <= SIDE; side += 11) {
        struct warp warp = {.width = side, .height = side, .canvas_width = side, .canvas_height = side};
        make_warp(&warp, &arena, identity);
        check_fill(a, (size_t)(side * side), -1, 1);
        esra_warp_forward(&warp, plane(a, side, side), plane(b, side, side));
        CHECK(memcmp(a, b, (size_t)(side * side) * sizeof *a) == 0);
        CHECK_NEAR(esra_warp_norm_squared(&warp, plane(c, side, side)), 1, 0);
    }
    esra_arena_free(&arena);
}

static void outside_and_nonsense_are_not_seen(void)
{
    static const double motions[][9] = {{1, 0, 1e9, 0, 1, 0, 0, 0, 1},
                                        {1, 0, 0, 0, 1, 0, 0, 0, -1},
                                        {0, 0, 0, 0, 0, 0, 0, 0, 0},
                                        {1, 0, -400, 0, 1, 0, 0, 0, 1}};
    struct arena arena = {0};
    for (int k = 0; k < 4; k++) {
        struct warp warp = {.width = 9, .height = 7, .canvas_width = 9, .canvas_height = 7};
        make_warp(&warp, &arena, motions[k]);
        for (int n = 0; n < 63; n++)
            CHECK(warp.points[n].index < 0);
        CHECK(warp.low[3] == 0 && warp.high[3] == 0);
    }
    esra_arena_free(&arena);
}

int main(void)
{
    RUN(the_adjoint_is_exact);
    RUN(lanes_do_the_same);
    RUN(the_identity_sees_every_pixel);
    RUN(outside_and_nonsense_are_not_seen);
    return check_report();
}
