/* tests/gradients/joint_gradients.c - the guide of layers has them, within a rounding, and nothing where they are not
 * known. */
#include "gradients/joint_gradients.h"

#include "context.h"

#define WIDTH  20
#define HEIGHT 15
#define PIXELS (WIDTH * HEIGHT)

static float expected(const struct guide *guide, int plane, int n)
{
    float sample;
    esra_codes_load(&guide->expected[plane], (size_t)n, &sample, 1);
    return sample;
}

static void layers_are_expected(void)
{
    struct message message;
    struct guide guide;
    struct image t, seen[2], trust[2];
    CHECK(esra_image_create(&t, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    check_fill(t.data, 3 * PIXELS, -0.2, 1.2);
    for (int i = 0; i < 2; i++) {
        CHECK(esra_image_create(&seen[i], WIDTH, HEIGHT, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&trust[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        check_fill(seen[i].data, 3 * PIXELS, 0, 1);
        check_fill(trust[i].data, PIXELS, 0.1, 1);
    }
    int hole = 3 * WIDTH + 4;
    trust[1].data[hole] = 0;
    struct context *context = make_context(2);
    CHECK(esra_guide_create(&guide, 2, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    CHECK(esra_guide_expect(&guide, &message) == ESRA_OK);
    esra_guide_take_transmitted(context, &guide, &t);
    for (int i = 0; i < 2; i++)
        esra_guide_take_reflected(context, &guide, i, &seen[i], &trust[i]);
    for (int c = 0; c < 3; c++)
        for (int n = 0; n < PIXELS; n++) {
            CHECK_NEAR(expected(&guide, 3 * c, n), fminf(t.data[c * PIXELS + n], 1), 0x1p-15);
            CHECK_NEAR(expected(&guide, 3 * c + 1, n), seen[0].data[c * PIXELS + n], 0x1p-15);
            if (n == hole)
                CHECK(isnan(expected(&guide, 3 * c + 2, n)));
            else
                CHECK_NEAR(expected(&guide, 3 * c + 2, n), seen[1].data[c * PIXELS + n], 0x1p-15);
        }
    CHECK(guide.weights[1].data[hole] == 0 && guide.weights[0].data[9] == trust[0].data[9]);
    esra_guide_free(&guide);
    for (int i = 0; i < 2; i++) {
        esra_image_free(&seen[i]);
        esra_image_free(&trust[i]);
    }
    esra_image_free(&t);
    esra_context_free(&context);
}

int main(void)
{
    RUN(layers_are_expected);
    return check_report();
}
