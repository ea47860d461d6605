/* tests/ops/enlarge.c - enlarging is resampling through a scaling, to the bit. */
#include "ops/enlarge.h"

#include "check.h"
#include "ops/resample.h"

#define WIDTH    300
#define HEIGHT   171
#define CHANNELS 3
#define SAMPLES  (WIDTH * HEIGHT * CHANNELS)

static struct context *context;

static struct image make_image(int width, int height)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, width, height, CHANNELS, &message) == ESRA_OK);
    check_fill(image.data, (size_t)(width * height * CHANNELS), 0, 1);
    return image;
}

/* The small image reaches to the last pixel of the large one, or falls short of it as halving leaves it. */
static struct image make_small(double scale)
{
    return make_image((int)ceil(WIDTH * scale), (int)ceil(HEIGHT * scale));
}

static void it_is_resampling(double scale)
{
    struct image small = make_small(scale), large = make_image(WIDTH, HEIGHT), wanted = make_image(WIDTH, HEIGHT);
    struct transform shrink = {{scale, 0, 0, 0, scale, 0, 0, 0, 1}};
    esra_image view = esra_image_planar(large.data, WIDTH, HEIGHT, CHANNELS);
    esra_resample(context, &small, &shrink, &wanted, (struct plane){0});
    esra_enlarge(context, &small, scale, NULL, &view);
    CHECK(memcmp(large.data, wanted.data, SAMPLES * sizeof(float)) == 0);
    esra_image_free(&small);
    esra_image_free(&large);
    esra_image_free(&wanted);
}

static void any_scale_is_resampling(void)
{
    it_is_resampling(.5);
    it_is_resampling(.25);
    it_is_resampling(.125);
    it_is_resampling(1. / 256); /* of two pixels by one */
    it_is_resampling(.37);
}

/* Interleaved as callers may have it; added to itself, and kept within [0,1]. */
static void a_base_is_added_to(void)
{
    struct image small = make_small(.25), base = make_image(WIDTH, HEIGHT), wanted = make_image(WIDTH, HEIGHT);
    struct transform shrink = {{.25, 0, 0, 0, .25, 0, 0, 0, 1}};
    esra_image view = {base.data, WIDTH, HEIGHT, CHANNELS, CHANNELS, (ptrdiff_t)WIDTH * CHANNELS, 1};
    int low = 0, high = 0, wrong = 0;
    for (size_t n = 0; n < image_samples(&small); n++)
        small.data[n] -= .5f;
    esra_resample(context, &small, &shrink, &wanted, (struct plane){0});
    for (int n = 0; n < SAMPLES; n++) {
        float *sum = plane_row(image_plane(&wanted, n % CHANNELS), n / CHANNELS / WIDTH) + n / CHANNELS % WIDTH;
        *sum += base.data[n];
        *sum = fminf(fmaxf(*sum, 0), 1);
        low += *sum == 0;
        high += *sum == 1;
    }
    esra_enlarge(context, &small, .25, &view, &view);
    for (int n = 0; n < SAMPLES; n++)
        wrong +=
            base.data[n] != plane_row(image_plane(&wanted, n % CHANNELS), n / CHANNELS / WIDTH)[n / CHANNELS % WIDTH];
    CHECK(low > 0 && high > 0 && wrong == 0);
    esra_image_free(&small);
    esra_image_free(&base);
    esra_image_free(&wanted);
}

int main(void)
{
    struct message message;
    if (esra_context_create(&context, 3, &message) != ESRA_OK)
        return 1;
    RUN(any_scale_is_resampling);
    RUN(a_base_is_added_to);
    esra_context_free(&context);
    return check_report();
}
