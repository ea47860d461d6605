/* tests/ops/extreme.c - extremes of a window are those found by looking at every sample of it. */
#include "ops/extreme.h"

#include "check.h"

#define WIDTH  37
#define HEIGHT 29

static float from[WIDTH * HEIGHT], to[WIDTH * HEIGHT], room[WIDTH * HEIGHT];

static float by_looking(int width, int height, int x, int y, int reach, float sign)
{
    float best = sign * from[y * width + x];
    for (int v = y - reach; v <= y + reach; v++)
        for (int u = x - reach; u <= x + reach; u++)
            if (u >= 0 && v >= 0 && u < width && v < height)
                best = fmaxf(best, sign * from[v * width + u]);
    return sign * best;
}

static void extremes_are_found(void)
{
    struct message message;
    struct context *context;
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    for (int reach = 0; reach < 9; reach++)
        for (int narrow = 0; narrow < 3; narrow++) {
            int width = narrow == 1 ? 1 : WIDTH, height = narrow == 2 ? 1 : HEIGHT;
            struct plane in = {from, width, height, width}, out = {to, width, height, width},
                         scratch = {room, width, height, width};
            check_fill(from, (size_t)(width * height), -1, 1);
            esra_largest(context, in, out, reach, scratch);
            for (int n = 0; n < width * height; n++)
                CHECK(to[n] == by_looking(width, height, n % width, n / width, reach, 1));
            esra_smallest(context, in, out, reach, scratch);
            for (int n = 0; n < width * height; n++)
                CHECK(to[n] == by_looking(width, height, n % width, n / width, reach, -1));
            esra_smallest(context, in, in, reach, scratch); /* in place */
            CHECK(memcmp(from, to, (size_t)(width * height) * sizeof *to) == 0);
        }
    esra_context_free(&context);
}

int main(void)
{
    RUN(extremes_are_found);
    return check_report();
}
