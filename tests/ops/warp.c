/* tests/ops/warp.c - the warp's adjoint is exact, its weights add to one, and the identity is the identity. */
#include "ops/warp.h"

#include "check.h"
#include "ops/vectors.h"

#define SIDE 48

static float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE], d[SIDE * SIDE];
static colours canvas_colours[SIDE * SIDE], strip[SIDE * SIDE];

static void lay_out(struct warp *warp, bool table, struct arena *arena)
{
    esra_arena_count(arena);
    esra_warp_layout(warp, table, arena);
    CHECK(esra_arena_place(arena));
    esra_warp_layout(warp, table, arena);
}

static void make_warp(struct warp *warp, struct arena *arena, const double h[9])
{
    lay_out(warp, true, arena);
    memcpy(warp->motion, h, sizeof warp->motion);
    esra_warp_fill(warp, 0, warp->height);
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

/* S canvas and S'u, pixel by pixel as the solver does, in the first lane. */
static void warp_all(const struct warp *warp, const float *canvas, const float *u, float *out, float *back)
{
    int pixels = warp->width * warp->height, samples = warp->canvas_width * warp->canvas_height;
    memset(strip, 0, sizeof strip);
    for (int i = 0; i < samples; i++)
        canvas_colours[i] = (colours){canvas[i], 0, -canvas[i], 0};
    for (int i = 0; i < pixels; i++) {
        out[i] = 0;
        if (warp->points[i].index < 0)
            continue;
        colours v = warp_sample(warp, canvas_colours, warp->points[i]);
        CHECK(v[2] == -v[0] && v[1] == 0);
        out[i] = v[0];
        warp_scatter(warp, strip, 0, warp->points[i], (colours){u[i], 0, 0, 0});
        int row = warp->points[i].index / warp->canvas_width, y = i / warp->width;
        CHECK(warp->low[y] <= row && row + (warp->down > 0) < warp->high[y]);
    }
    for (int i = 0; i < samples; i++)
        back[i] = strip[i][0];
}

/* <S v, u> = <v, S'u> for every size; weights are not negative and add to 1, so that S of ones is one wherever it is
 * seen. */
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
            warp_all(&warp, a, b, c, d);
            /* Rounding: 8 operations a pixel on numbers of size at most 1, each exact to 2^-24. */
            CHECK_NEAR(dot(c, b, n), dot(a, d, k), 8.0 * n * 0x1p-24 + 1e-12);
            for (int i = 0; i < k; i++)
                a[i] = 1;
            warp_all(&warp, a, b, c, d);
            for (int i = 0; i < n; i++)
                CHECK_NEAR(c[i], warp.points[i].index < 0 ? 0 : 1, 0x1p-23);
        }
    esra_arena_free(&arena);
}

/* Rows made of h, and single points, are those of the table, bit for bit; so are the canvas rows. */
static void rows_are_the_tables(void)
{
    static struct warp_point room[SIDE];
    struct arena arena[2] = {{0}};
    for (int width = 1; width <= SIDE; width += 1 + width / 5) {
        struct warp table = {.width = width, .height = 7, .canvas_width = 1 + width * 5 % SIDE, .canvas_height = 9};
        struct warp rows = table;
        double h[9];
        random_motion(h);
        make_warp(&table, &arena[0], h);
        lay_out(&rows, false, &arena[1]);
        memcpy(rows.motion, h, sizeof rows.motion);
        esra_warp_fill(&rows, 0, rows.height);
        for (int y = 0; y < rows.height; y++) {
            const struct warp_point *expected = warp_row(&table, y, NULL), *row = warp_row(&rows, y, room);
            CHECK(row == room && memcmp(row, expected, (size_t)width * sizeof *row) == 0);
            CHECK(rows.low[y] == table.low[y] && rows.high[y] == table.high[y]);
            for (int x = 0; x < width; x++) {
                struct warp_point here = warp_at(&rows, x, y), there = warp_at(&table, x, y);
                CHECK(here.index == row[x].index && here.fractions == row[x].fractions);
                CHECK(there.index == row[x].index && there.fractions == row[x].fractions);
            }
        }
    }
    esra_arena_free(&arena[0]);
    esra_arena_free(&arena[1]);
}

static void the_identity_sees_every_pixel(void)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    struct arena arena = {0};
    for (int side = 1; side <= SIDE; side += 11) {
        struct warp warp = {.width = side, .height = side, .canvas_width = side, .canvas_height = side};
        make_warp(&warp, &arena, identity);
        check_fill(a, (size_t)(side * side), -1, 1);
        warp_all(&warp, a, a, b, c);
        for (int i = 0; i < side * side; i++)
            CHECK_NEAR(b[i], a[i], 0x1p-23);
        CHECK(memcmp(a, c, (size_t)(side * side) * sizeof *a) == 0);
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
    RUN(rows_are_the_tables);
    RUN(the_identity_sees_every_pixel);
    RUN(outside_and_nonsense_are_not_seen);
    return check_report();
}
