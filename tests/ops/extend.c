/* tests/ops/extend.c - known pixels stay, gaps take what is around them, whatever their size. */
#include "ops/extend.h"

#include "context.h"

#define WIDTH  37
#define HEIGHT 22
#define PIXELS (WIDTH * HEIGHT)

static struct message message;

static struct image make(int channels)
{
    struct image image;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    return image;
}

/* A hole in a constant is filled with it; across an edge it gets something between. */
static void gaps_take_what_is_around_them(void)
{
    struct context *context = make_context(3);
    struct image image = make(2), known = make(1);
    for (int n = 0; n < PIXELS; n++) {
        known.data[n] = n % WIDTH < 5 || n % WIDTH > 30;
        image.data[n] = known.data[n] > 0 ? .3f : -7;
        image.data[PIXELS + n] = n % WIDTH < 5 ? .1f : n % WIDTH > 30 ? .9f : -7;
    }
    CHECK(esra_extend(context, &image, &known) == ESRA_OK);
    for (int n = 0; n < PIXELS; n++) {
        CHECK(fabsf(image.data[n] - .3f) < 1e-6f);
        CHECK(image.data[PIXELS + n] > .0999f && image.data[PIXELS + n] < .9001f);
    }
    CHECK(image.data[PIXELS + 2] == .1f && image.data[PIXELS + 33] == .9f);
    CHECK(image.data[PIXELS + 6] < image.data[PIXELS + 29]);
    esra_image_free(&image);
    esra_image_free(&known);
    esra_context_free(&context);
}

static void all_or_nothing_known(void)
{
    struct context *context = make_context(1);
    struct image image = make(1), known = make(1);
    check_fill(image.data, PIXELS, -1, 1);
    CHECK(esra_extend(context, &image, &known) == ESRA_OK);
    for (int n = 0; n < PIXELS; n++)
        CHECK(image.data[n] == 0);
    check_fill(known.data, PIXELS, .1, 1);
    check_fill(image.data, PIXELS, 2, 3);
    CHECK(esra_extend(context, &image, &known) == ESRA_OK);
    for (int n = 0; n < PIXELS; n++)
        CHECK(image.data[n] >= 2);
    esra_image_free(&image);
    esra_image_free(&known);
    esra_context_free(&context);
}

int main(void)
{
    RUN(gaps_take_what_is_around_them);
    RUN(all_or_nothing_known);
    return check_report();
}
