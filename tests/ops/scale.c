/* tests/ops/scale.c - scaling down and up keeps the place of what is shown. */
#include "ops/scale.h"

#include "context.h"

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
    CHECK(esra_scale_down(&small, context, &large, width, height, (struct range){0, 1}) == ESRA_OK);
    esra_scale_up(context, image_plane(&small, 0), image_plane(&again, 0));
    for (int y = 2; y < HEIGHT - 2; y++)
        for (int x = 2; x < WIDTH - 2; x++)
            CHECK_NEAR(plane_row(image_plane(&again, 0), y)[x], plane_row(image_plane(&large, 0), y)[x], .125 * .008);
    esra_image_free(&small);
    large.data[0] = NAN;
    large.data[1] = INFINITY;
    CHECK(esra_scale_down(&small, context, &large, 1, 1, (struct range){0, 1}) == ESRA_OK);
    CHECK(small.data[0] > 0 && small.data[0] < 1);
    esra_image_free(&large);
    esra_image_free(&small);
    esra_image_free(&again);
    esra_context_free(&context);
}

int main(void)
{
    RUN(scaling_keeps_the_place);
    return check_report();
}
