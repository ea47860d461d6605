/* tests/camera/pair.c - two surfaces from a made cost volume, of which every pixel shows one. */
#include "camera/pair.h"

#include <stdlib.h>

#include "base/random.h"
#include "camera/thresholds.h"
#include "context.h"

enum { WIDTH = 90, HEIGHT = 66, LABELS = 20, PADDED = 32 };

static uint8_t volume[WIDTH * HEIGHT * PADDED];

/* The farther surface is a plane with a step, the nearer one slants. */
static int farther_at(int x)
{
    return x < WIDTH / 2 ? 3 : 5;
}

static int nearer_at(int y)
{
    return 11 + y * 6 / HEIGHT;
}

/* Every pixel tells one surface, by chance; the nearer one is not seen in a place away from the step. */
static void fill_volume(void)
{
    uint64_t random = 1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            bool bare = abs(x - WIDTH / 4) < 9 && abs(y - HEIGHT / 2) < 9;
            int own = bare || random_below(&random, 10) < 6 ? farther_at(x) : nearer_at(y);
            for (int k = 0; k < PADDED; k++)
                volume[(y * WIDTH + x) * PADDED + k] = k >= LABELS ? 255
                                                       : k == own  ? 10
                                                                   : (uint8_t)(120 + random_below(&random, 100));
        }
}

static struct sweep made_sweep(void)
{
    return (struct sweep){.width = WIDTH,
                          .height = HEIGHT,
                          .labels = LABELS,
                          .padded = PADDED,
                          .lowest = .5,
                          .step = .25,
                          .options = {.truncate = camera_thresholds.sweep_truncate, .labels_a_px = 2.5}};
}

/* Blocks whose inverse depth is more than a label off. */
static int count_wrong(const struct pair *pair, int surface)
{
    int wrong = 0;
    for (int y = 0; y < pair->height; y++)
        for (int x = 0; x < pair->width; x++) {
            int column = x * pair->block_px + pair->block_px / 2, row = y * pair->block_px + pair->block_px / 2;
            double label = (pair->inverse[surface].data[y * pair->width + x] - .5) / .25;
            wrong += fabs(label - (surface == PAIR_FARTHER ? farther_at(column) : nearer_at(row))) > 1.01;
        }
    return wrong;
}

/* Both come out where both are seen, and go on where one is not. */
static void two_surfaces_are_told_apart(void)
{
    struct context *context = make_context(1);
    struct sweep sweep = made_sweep();
    struct pair pair;
    fill_volume();
    CHECK(esra_pair_find(&pair, &sweep, volume, context) == ESRA_OK);
    CHECK(pair.width == WIDTH / pair.block_px && pair.height == HEIGHT / pair.block_px);
    CHECK(count_wrong(&pair, PAIR_FARTHER) <= pair.height); /* blocks along the step */
    CHECK(count_wrong(&pair, PAIR_NEARER) == 0);
    for (int n = 0; n < pair.width * pair.height; n++)
        CHECK(pair.inverse[PAIR_FARTHER].data[n] <= pair.inverse[PAIR_NEARER].data[n]);
    esra_pair_free(&pair);
    CHECK(!pair.inverse[PAIR_FARTHER].data && !pair.inverse[PAIR_NEARER].data);
    esra_context_free(&context);
}

int main(void)
{
    RUN(two_surfaces_are_told_apart);
    return check_report();
}
