/* tests/colour/primaries.c - from one RGB space to another. */
#include "colour/primaries.h"

#include "check.h"

static const struct primaries srgb = PRIMARIES_SRGB;

/* As Apple's profile has them, brought to D50. */
static const struct primaries p3 = {{0.51512, 0.29198, 0.15710, 0.24120, 0.69225, 0.06657, -0.00105, 0.04189, 0.78407}};

/* Both spaces have D65 for white, so the matrix follows from their chromaticities alone: SMPTE RP 431-2's red, green
 * and blue against those of IEC 61966-2-1. */
static void srgb_in_display_p3(void)
{
    static const double wanted[9] = {0.82246, 0.17754, 0, 0.03319, 0.96681, 0, 0.01708, 0.07240, 0.91052};
    struct colour_map map = esra_colour_map(&srgb, &p3);
    CHECK(!map.same);
    for (int n = 0; n < 9; n++)
        CHECK_NEAR(map.m[n], wanted[n], 1e-3);
}

static void there_and_back(void)
{
    struct colour_map there = esra_colour_map(&srgb, &p3), back = esra_colour_map(&p3, &srgb);
    float samples[3 * 50], before[3 * 50];
    struct image image = {.data = samples, .width = 10, .height = 5, .channels = 3};
    for (int n = 0; n < 150; n++)
        before[n] = samples[n] = (float)check_random(-0.2, 1.2);
    esra_colour_map_apply(&there, &image);
    CHECK(memcmp(samples, before, sizeof samples) != 0);
    esra_colour_map_apply(&back, &image);
    for (int n = 0; n < 150; n++)
        CHECK_NEAR(samples[n], before[n], 1e-6);
}

/* Also where a profile's columns do not add up to D50: Adobe RGB as it stands, with D65 for white. */
static void greys_stay_grey(void)
{
    static const struct primaries unadapted = {
        {0.57667, 0.18556, 0.18823, 0.29734, 0.62736, 0.07529, 0.02703, 0.07069, 0.99134}};
    struct colour_map map = esra_colour_map(&unadapted, &srgb);
    for (float grey = 0; grey <= 1; grey += 0.125f) {
        float samples[3] = {grey, grey, grey};
        esra_colour_map_apply(&map, &(struct image){.data = samples, .width = 1, .height = 1, .channels = 3});
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(samples[c], grey, 1e-6);
    }
}

static void rounding_makes_no_other_space(void)
{
    static const struct primaries rounded = {
        {0.43607, 0.38515, 0.14307, 0.22249, 0.71687, 0.06061, 0.01392, 0.09708, 0.71410}};
    struct colour_map map = esra_colour_map(&rounded, &srgb);
    float samples[3] = {0.25f, 0.5f, 0.75f};
    esra_colour_map_apply(&map, &(struct image){.data = samples, .width = 1, .height = 1, .channels = 3});
    CHECK(map.same && samples[0] == 0.25f && samples[1] == 0.5f && samples[2] == 0.75f);
}

static void grey_images_have_no_primaries(void)
{
    struct colour_map map = esra_colour_map(&p3, &srgb);
    float sample = 0.5f;
    esra_colour_map_apply(&map, &(struct image){.data = &sample, .width = 1, .height = 1, .channels = 1});
    CHECK(sample == 0.5f);
}

static void what_spans_no_space_is_told(void)
{
    struct primaries odd = srgb;
    CHECK(esra_primaries_usable(&srgb) && esra_primaries_usable(&p3));
    CHECK(!esra_primaries_usable(&(struct primaries){{0}}));
    for (int n = 0; n < 9; n++) {
        static const double values[] = {NAN, INFINITY, -INFINITY, 1e9, -1e9};
        for (int k = 0; k < 5; k++) {
            odd = srgb;
            odd.xyz[n] = values[k];
            CHECK(!esra_primaries_usable(&odd));
        }
    }
    for (int row = 0; row < 3; row++) /* green stands where red does */
        odd.xyz[3 * row + 1] = odd.xyz[3 * row] = srgb.xyz[3 * row];
    CHECK(!esra_primaries_usable(&odd));
}

int main(void)
{
    RUN(srgb_in_display_p3);
    RUN(there_and_back);
    RUN(greys_stay_grey);
    RUN(rounding_makes_no_other_space);
    RUN(grey_images_have_no_primaries);
    RUN(what_spans_no_space_is_told);
    return check_report();
}
