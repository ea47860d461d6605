/* tests/base/codes.c - planes in 16 bits come back within half a unit; what lies beyond is the end, and NaN stays. */
#include "base/codes.h"

#include <math.h>

#include "check.h"

#define UNIT    0x1p-15
#define WIDTH   37
#define HEIGHT  3
#define SAMPLES (WIDTH * HEIGHT)

static void samples_come_back(void)
{
    struct message message;
    struct codes codes;
    float samples[SAMPLES], back[SAMPLES];
    check_fill(samples, SAMPLES, -1, 1 - UNIT);
    samples[5] = NAN;
    CHECK(esra_codes_create(&codes, WIDTH, HEIGHT, &message) == ESRA_OK);
    esra_codes_store(&codes, 0, samples, SAMPLES);
    esra_codes_load(&codes, 0, back, SAMPLES);
    for (int n = 0; n < SAMPLES; n++)
        CHECK(n == 5 ? isnan(back[n]) : fabs((double)back[n] - samples[n]) <= UNIT / 2 + 1e-7);
    esra_codes_store(&codes, 7, back + 40, 20); /* a second time they are what they are, wherever they stand */
    esra_codes_load(&codes, 7, samples, 20);
    CHECK(memcmp(samples, back + 40, 20 * sizeof *samples) == 0);
    esra_codes_free(&codes);
    CHECK(codes.data == NULL);
}

static void the_ends_hold(void)
{
    static const float samples[] = {0, 1, 2, 1e30f, INFINITY, -1, -3, -INFINITY, 0.49f * 0x1p-15f, 0.51f * 0x1p-15f};
    static const double wanted[] = {0, 1, 1, 1, 1, -1, -1, -1, 0, UNIT};
    struct message message;
    struct codes codes;
    float back[10];
    CHECK(esra_codes_create(&codes, 10, 1, &message) == ESRA_OK);
    esra_codes_store(&codes, 0, samples, 10);
    esra_codes_load(&codes, 0, back, 10);
    for (int n = 0; n < 10; n++)
        CHECK_NEAR(back[n], wanted[n], UNIT);
    CHECK(back[0] == 0 && back[8] == 0 && back[9] == (float)UNIT && back[2] == back[4]);
    esra_codes_free(&codes);
}

int main(void)
{
    RUN(samples_come_back);
    RUN(the_ends_hold);
    return check_report();
}
