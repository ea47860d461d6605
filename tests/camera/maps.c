/* tests/camera/maps.c - the tools of depth maps, each against what it promises. */
#include <stdint.h>

#include "camera/fill.h"
#include "camera/labelling.h"
#include "camera/scale.h"
#include "camera/scene.h"
#include "camera/sgm.h"

#define LABELS 7
#define PADDED 16

/* L of sgm.h along one line, term by term, added to sums. */
static void follow_path(const uint8_t *volume, int small, int large, int first, int step, int length, int *sums)
{
    int before[LABELS] = {0}, now[LABELS];
    for (int n = 0; n < length; n++) {
        int pixel = first + n * step, least = before[0];
        for (int k = 1; k < LABELS; k++)
            least = before[k] < least ? before[k] : least;
        for (int k = 0; k < LABELS; k++) {
            int best = before[k] < least + large ? before[k] : least + large;
            if (k > 0 && before[k - 1] + small < best)
                best = before[k - 1] + small;
            if (k < LABELS - 1 && before[k + 1] + small < best)
                best = before[k + 1] + small;
            now[k] = volume[pixel * PADDED + k] + best - least;
            sums[pixel * LABELS + k] += now[k];
        }
        memcpy(before, now, sizeof now);
    }
}

static void paths_add_up(void)
{
    enum { WIDTH = 37, HEIGHT = 21, PIXELS = WIDTH * HEIGHT };
    static uint8_t volume[PIXELS * PADDED];
    static int16_t small[PIXELS], large[PIXELS], sums[PIXELS * PADDED];
    static int truth[PIXELS * LABELS];
    struct context *context = make_context(2);
    for (int n = 0; n < PIXELS * PADDED; n++)
        volume[n] = (uint8_t)(n % PADDED < LABELS ? check_random(0, 251) : 255);
    for (int n = 0; n < PIXELS; n++)
        small[n] = 17, large[n] = 120;
    struct sgm sgm = {WIDTH, HEIGHT, LABELS, PADDED, volume, small, large, sums};
    CHECK(esra_sgm_run(&sgm, context) == ESRA_OK);
    for (int y = 0; y < HEIGHT; y++) {
        follow_path(volume, 17, 120, y * WIDTH, 1, WIDTH, truth);
        follow_path(volume, 17, 120, y * WIDTH + WIDTH - 1, -1, WIDTH, truth);
    }
    for (int x = 0; x < WIDTH; x++) {
        follow_path(volume, 17, 120, x, WIDTH, HEIGHT, truth);
        follow_path(volume, 17, 120, (HEIGHT - 1) * WIDTH + x, -WIDTH, HEIGHT, truth);
    }
    for (int n = 0; n < PIXELS; n++) {
        int best = 0;
        for (int k = 0; k < LABELS; k++) {
            CHECK(sums[n * PADDED + k] == truth[n * LABELS + k]);
            best = truth[n * LABELS + k] < truth[n * LABELS + best] ? k : best;
        }
        CHECK_NEAR(esra_sgm_choose(&sgm, (size_t)n), best, .5);
    }
    esra_context_free(&context);
}

/* A step in the guide stops what is filled in; a constant stays one. */
static void filling_stops_at_edges(void)
{
    enum { WIDTH = 60, HEIGHT = 40 };
    struct context *context = make_context(2);
    struct message message = {""};
    struct image guide, maps;
    CHECK(esra_image_create(&guide, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    CHECK(esra_image_create(&maps, WIDTH, HEIGHT, 2, &message) == ESRA_OK);
    struct plane values = image_plane(&maps, 0), weights = image_plane(&maps, 1);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            plane_row(image_plane(&guide, 1), y)[x] = x < 30 ? .2f : .8f;
            plane_row(values, y)[x] = x < 10 ? 3 : x > 50 ? 7 : 100;
            plane_row(weights, y)[x] = x < 10 || x > 50 ? 1 : 1e-6f;
        }
    CHECK(esra_fill(context, &guide, values, weights, 1000, .03) == ESRA_OK);
    for (int y = 0; y < HEIGHT; y++) {
        CHECK_NEAR(plane_row(values, y)[25], 3, .05);
        CHECK_NEAR(plane_row(values, y)[35], 7, .05);
    }
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        values.data[n] = 5, weights.data[n] = (float)check_random(.01, 1);
    CHECK(esra_fill(context, &guide, values, weights, 100, .03) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        CHECK_NEAR(values.data[n], 5, 1e-3);
    esra_image_free(&guide);
    esra_image_free(&maps);
    esra_context_free(&context);
}

static void speckles_are_marked_by_their_size(void)
{
    enum { WIDTH = 20, HEIGHT = 15 };
    float labels[WIDTH * HEIGHT], marks[WIDTH * HEIGHT];
    struct plane map = {labels, WIDTH, HEIGHT, WIDTH}, marked = {marks, WIDTH, HEIGHT, WIDTH};
    struct message message = {""};
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        labels[n] = (float)(n % WIDTH); /* a slope: one patch */
    for (int y = 4; y < 6; y++)
        for (int x = 7; x < 10; x++)
            plane_row(map, y)[x] = 40;
    for (int most = 5; most < 8; most++) {
        CHECK(esra_label_speckles(map, most, 1.5f, marked, &message) == ESRA_OK);
        for (int n = 0; n < WIDTH * HEIGHT; n++)
            CHECK(marks[n] == (labels[n] == 40 && most >= 6));
    }
}

static void extremes_reach_as_far_as_told(void)
{
    enum { SIDE = 25 };
    float from[SIDE * SIDE] = {0}, work[SIDE * SIDE], to[SIDE * SIDE];
    struct plane map = {from, SIDE, SIDE, SIDE}, scratch = {work, SIDE, SIDE, SIDE}, out = {to, SIDE, SIDE, SIDE};
    struct context *context = make_context(2);
    from[11 * SIDE + 13] = 2;
    esra_label_extreme(context, map, 3, 1, scratch, out);
    for (int n = 0; n < SIDE * SIDE; n++)
        CHECK(to[n] == (abs(n / SIDE - 11) <= 3 && abs(n % SIDE - 13) <= 3 ? 2 : 0));
    esra_label_median(context, map, out);
    for (int n = 0; n < SIDE * SIDE; n++)
        CHECK(to[n] == 0);
    esra_context_free(&context);
}

/* Means over areas keep a slope to an eighth of a pixel, the most by which the middle of an area with parts of pixels
 * is off, and bilinear enlarging keeps it, wherever the border is not near. */
static void scaling_keeps_the_place(void)
{
    enum { WIDTH = 131, HEIGHT = 77 };
    struct context *context = make_context(2);
    struct message message = {""};
    struct image large, small, again;
    int width, height;
    esra_scale_sides(WIDTH, HEIGHT, 70, &width, &height);
    CHECK(width == 70 && height == 41);
    CHECK(esra_image_create(&large, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    CHECK(esra_image_create(&again, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        large.data[n] = .003f * (float)(n % WIDTH) + .005f * (float)(n / WIDTH);
    CHECK(esra_scale_down(&small, context, &large, width, height, 0, 1) == ESRA_OK);
    esra_scale_up(context, image_plane(&small, 0), image_plane(&again, 0));
    for (int y = 2; y < HEIGHT - 2; y++)
        for (int x = 2; x < WIDTH - 2; x++)
            CHECK_NEAR(plane_row(image_plane(&again, 0), y)[x], plane_row(image_plane(&large, 0), y)[x], .125 * .008);
    esra_image_free(&small);
    large.data[0] = NAN;
    large.data[1] = INFINITY;
    CHECK(esra_scale_down(&small, context, &large, 1, 1, 0, 1) == ESRA_OK);
    CHECK(small.data[0] > 0 && small.data[0] < 1);
    esra_image_free(&large);
    esra_image_free(&small);
    esra_image_free(&again);
    esra_context_free(&context);
}

int main(void)
{
    RUN(paths_add_up);
    RUN(filling_stops_at_edges);
    RUN(speckles_are_marked_by_their_size);
    RUN(extremes_reach_as_far_as_told);
    RUN(scaling_keeps_the_place);
    return check_report();
}
