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

/* Of a plateau the first sample is the peak, and no window has two. */
static void peaks_are_the_largest_of_their_window(void)
{
    struct plane in = {from, WIDTH, HEIGHT, WIDTH};
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        from[n] = floorf((float)check_random(0, 40));
    for (int reach = 1; reach < 4; reach++)
        for (int y = reach; y < HEIGHT - reach; y++)
            for (int x = reach; x < WIDTH - reach; x++) {
                bool largest = from[y * WIDTH + x] == by_looking(WIDTH, HEIGHT, x, y, reach, 1), first = true;
                for (int v = y - reach; v <= y; v++)
                    for (int u = x - reach; u <= x + reach && (v < y || u < x); u++)
                        first = first && from[v * WIDTH + u] != from[y * WIDTH + x];
                CHECK(plane_has_peak(in, x, y, reach) == (largest && first));
            }
}

int main(void)
{
    RUN(peaks_are_the_largest_of_their_window);
    RUN(extremes_are_found);
    return check_report();
}
