/* tests/ops/resample.c - Lanczos resampling keeps what it should: samples at whole shifts, constants, smooth functions.
 */
#include "ops/resample.h"

#include "check.h"

#define WIDTH  61
#define HEIGHT 47

static struct context *context;

static struct image make_image(int channels)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    return image;
}

static void whole_shifts_are_exact(void)
{
    struct image from = make_image(2), to = make_image(2), mask = make_image(1);
    struct transform shift = esra_transform_shift(5, -3);
    check_fill(from.data, 2 * WIDTH * HEIGHT, 0, 1);
    esra_resample(context, &from, &shift, &to, image_plane(&mask, 0));
    for (int c = 0; c < 2; c++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                bool inside = x + 5 < WIDTH && y - 3 >= 0;
                CHECK(plane_row(image_plane(&mask, 0), y)[x] == inside);
                if (inside)
                    CHECK_NEAR(plane_row(image_plane(&to, c), y)[x], plane_row(image_plane(&from, c), y - 3)[x + 5],
                               1e-6);
            }
    esra_image_free(&from);
    esra_image_free(&to);
    esra_image_free(&mask);
}

static double wave(double x, double y)
{
    return .5 + .3 * sin(.5 * x + .2 * y) + .2 * cos(.4 * y - .1 * x);
}

/* Waves of 12 px and more: Lanczos' pass band is flat to .6 % there, for every phase. */
static void smooth_functions_are_kept(void)
{
    struct image from = make_image(1), to = make_image(1), mask = make_image(1);
    struct transform t = {{1.01, .02, .37, -.015, .99, 1.21, 1e-5, -2e-5, 1}};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            plane_row(image_plane(&from, 0), y)[x] = (float)wave(x, y);
    esra_resample(context, &from, &t, &to, image_plane(&mask, 0));
    for (int y = 4; y < HEIGHT - 6; y++)
        for (int x = 4; x < WIDTH - 6; x++) {
            double u, v;
            CHECK(transform_apply(&t, x, y, &u, &v));
            CHECK_NEAR(plane_row(image_plane(&to, 0), y)[x], wave(u, v), .004);
        }
    esra_image_free(&from);
    esra_image_free(&to);
    esra_image_free(&mask);
}

/* Pixels go eight at a time where they lie beside one another; in strips of seven none does. */
static void runs_have_the_bits_of_single_pixels(void)
{
    enum { STRIP = 7 };
    struct image from = make_image(2), to = make_image(2), mask = make_image(1), map = make_image(2);
    struct image strip, strip_mask, strip_map;
    struct message message;
    check_fill(from.data, 2 * WIDTH * HEIGHT, 0, 1);
    for (int n = 0; n < WIDTH * HEIGHT; n++) {
        map.data[n] = (float)(1.013 * (n % WIDTH) - .5 + .01 * (n / WIDTH));
        map.data[WIDTH * HEIGHT + n] = (float)(n / WIDTH + .04 * (n % WIDTH) - .7);
    }
    esra_resample_map(context, &from, &map, &to, image_plane(&mask, 0));
    CHECK(esra_image_create(&strip, STRIP, HEIGHT, 2, &message) == ESRA_OK);
    CHECK(esra_image_create(&strip_mask, STRIP, HEIGHT, 1, &message) == ESRA_OK);
    CHECK(esra_image_create(&strip_map, STRIP, HEIGHT, 2, &message) == ESRA_OK);
    for (int left = 0; left + STRIP <= WIDTH; left += STRIP) {
        for (int c = 0; c < 2; c++)
            for (int y = 0; y < HEIGHT; y++)
                memcpy(plane_row(image_plane(&strip_map, c), y), plane_row(image_plane(&map, c), y) + left,
                       STRIP * sizeof(float));
        esra_resample_map(context, &from, &strip_map, &strip, image_plane(&strip_mask, 0));
        for (int y = 0; y < HEIGHT; y++) {
            CHECK(memcmp(plane_row(image_plane(&strip_mask, 0), y), plane_row(image_plane(&mask, 0), y) + left,
                         STRIP * sizeof(float)) == 0);
            for (int c = 0; c < 2; c++)
                CHECK(memcmp(plane_row(image_plane(&strip, c), y), plane_row(image_plane(&to, c), y) + left,
                             STRIP * sizeof(float)) == 0);
        }
    }
    esra_image_free(&strip);
    esra_image_free(&strip_mask);
    esra_image_free(&strip_map);
    esra_image_free(&from);
    esra_image_free(&to);
    esra_image_free(&mask);
    esra_image_free(&map);
}

static void constants_and_the_horizon(void)
{
    struct image from = make_image(1), to = make_image(1), mask = make_image(1);
    struct transform wild = {{1, .1, 200, .3, 1, -100, -.05, 0, 1}};
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        from.data[n] = .25f;
    esra_resample(context, &from, &wild, &to, image_plane(&mask, 0));
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        CHECK(fabs(to.data[n] - .25) < 1e-6 || (n % WIDTH >= 20 && to.data[n] == 0 && mask.data[n] == 0));
    esra_image_free(&from);
    esra_image_free(&to);
    esra_image_free(&mask);
}

int main(void)
{
    struct message message;
    if (esra_context_create(&context, 3, &message) != ESRA_OK)
        return 1;
    RUN(whole_shifts_are_exact);
    RUN(runs_have_the_bits_of_single_pixels);
    RUN(smooth_functions_are_kept);
    RUN(constants_and_the_horizon);
    esra_context_free(&context);
    return check_report();
}
