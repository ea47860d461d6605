/* tests/ops/fill.c - what is filled in stops at the guide's edges. */
#include "ops/fill.h"

#include "context.h"

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

int main(void)
{
    RUN(filling_stops_at_edges);
    return check_report();
}
