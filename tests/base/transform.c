/* tests/base/transform.c - composition, inverse and change of scale of transforms. */
#include "base/transform.h"

#include "check.h"

static struct transform random_transform(void)
{
    return (struct transform){{check_random(.9, 1.1), check_random(-.1, .1), check_random(-30, 30),
                               check_random(-.1, .1), check_random(.9, 1.1), check_random(-30, 30),
                               check_random(-1e-4, 1e-4), check_random(-1e-4, 1e-4), 1}};
}

static void compositions_and_inverses_agree_with_points(void)
{
    for (int k = 0; k < 100; k++) {
        struct transform a = random_transform(), b = random_transform(), ab = esra_transform_compose(&a, &b), back;
        double x = check_random(0, 640), y = check_random(0, 480), u, v, s, t;
        CHECK(transform_apply(&b, x, y, &u, &v) && transform_apply(&a, u, v, &u, &v));
        CHECK(transform_apply(&ab, x, y, &s, &t));
        CHECK_NEAR(s, u, 1e-9);
        CHECK_NEAR(t, v, 1e-9);
        CHECK(esra_transform_invert(&ab, &back) && transform_apply(&back, u, v, &s, &t));
        CHECK_NEAR(s, x, 1e-8);
        CHECK_NEAR(t, y, 1e-8);
    }
}

static void scales_move_with_the_grid(void)
{
    struct transform t = random_transform(), half = esra_transform_rescale(&t, .5);
    double u, v, p = 0, q = 0;
    CHECK(transform_apply(&t, 100, 60, &u, &v) && transform_apply(&half, 50, 30, &p, &q));
    CHECK_NEAR(p, u / 2, 1e-9);
    CHECK_NEAR(q, v / 2, 1e-9);
}

static void bad_maps_are_told(void)
{
    struct transform flat = {{1, 0, 0, 2, 0, 0, 0, 0, 1}}, shift = esra_transform_shift(3, 4), back,
                     identity = TRANSFORM_IDENTITY;
    struct transform beyond = {{1, 0, 0, 0, 1, 0, -.01, 0, 1}};
    CHECK(!esra_transform_invert(&flat, &back));
    CHECK_NEAR(esra_transform_distance(&identity, &shift, 640, 480), 5, 1e-12);
    CHECK(esra_transform_distance(&identity, &beyond, 640, 480) == INFINITY);
    CHECK(esra_transform_plausible(&shift, 640, 480, 6) && !esra_transform_plausible(&shift, 640, 480, 4));
    CHECK(!esra_transform_plausible(&beyond, 640, 480, 1e9));
}

int main(void)
{
    RUN(compositions_and_inverses_agree_with_points);
    RUN(scales_move_with_the_grid);
    RUN(bad_maps_are_told);
    return check_report();
}
