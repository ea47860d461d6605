/* tests/camera/maps.c - the tools of depth maps, each against what it promises. */
#include <stdint.h>

#include "camera/labelling.h"
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

static void a_median_drops_single_samples(void)
{
    enum { SIDE = 25 };
    float from[SIDE * SIDE] = {0}, to[SIDE * SIDE];
    struct plane map = {from, SIDE, SIDE, SIDE}, out = {to, SIDE, SIDE, SIDE};
    struct context *context = make_context(2);
    from[11 * SIDE + 13] = 2;
    esra_label_median(context, map, out);
    for (int n = 0; n < SIDE * SIDE; n++)
        CHECK(to[n] == 0);
    esra_context_free(&context);
}

/* The value of which as many of the window's are less as are more, borders repeated. */
static bool is_median(struct plane map, int x, int y, float value)
{
    int less = 0, equal = 0;
    for (int j = y - 2; j <= y + 2; j++)
        for (int i = x - 2; i <= x + 2; i++) {
            int row = j < 0 ? 0 : j >= map.height ? map.height - 1 : j;
            int column = i < 0 ? 0 : i >= map.width ? map.width - 1 : i;
            float other = plane_row(map, row)[column];
            less += other < value;
            equal += other == value;
        }
    return less <= 12 && less + equal > 12;
}

static void medians_have_the_middle_rank(void)
{
    static const int sizes[][2] = {{1, 1}, {3, 2}, {7, 9}, {8, 5}, {13, 4}, {41, 17}};
    struct context *context = make_context(2);
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        int width = sizes[n][0], height = sizes[n][1];
        float from[41 * 17], to[41 * 17];
        struct plane map = {from, width, height, width}, out = {to, width, height, width};
        for (int k = 0; k < width * height; k++)
            from[k] = (float)(k * 7919 % 101 / 3);
        esra_label_median(context, map, out);
        for (int k = 0; k < width * height; k++)
            CHECK(is_median(map, k % width, k / width, to[k]));
    }
    esra_context_free(&context);
}

int main(void)
{
    RUN(paths_add_up);
    RUN(speckles_are_marked_by_their_size);
    RUN(a_median_drops_single_samples);
    RUN(medians_have_the_middle_rank);
    return check_report();
}
