/* tests/colour/light.c - curves and their way back. */
#include "colour/light.h"

#include "check.h"

static double power(const void *user, int channel, double code)
{
    return pow(code, *(const double *)user + 0.1 * channel);
}

/* Flat up to a tenth, then straight: a sampled curve's toe. */
static double toe(const void *user, int channel, double code)
{
    (void)user;
    (void)channel;
    return code < 0.1 ? 0 : (code - 0.1) / 0.9;
}

/* Nine steps, below zero at first, that bend at one end: thousands of codes next to one value, and then a jump. */
static double stairs(const void *user, int channel, double code)
{
    (void)user;
    (void)channel;
    double part = 9 * code - floor(9 * code);
    return floor(9 * code) / 3.7 - 1 + 0.01 * pow(part, (int)(9 * code) % 2 ? 8 : 0.125);
}

static double falling(const void *user, int channel, double code)
{
    (void)user;
    return channel == 1 ? 1 - code : code;
}

static double flat(const void *user, int channel, double code)
{
    (void)user;
    (void)channel;
    return 0.5 + 1e-3 * code;
}

static double not_a_number(const void *user, int channel, double code)
{
    (void)user;
    (void)channel;
    return code > 0.5 ? (double)NAN : code;
}

static int wrong_codes(const struct light *light, int channel, int last)
{
    int wrong = 0;
    for (int k = 0; k <= last; k++) {
        float code = (float)k / (float)last;
        float back = esra_light_encode_one(light, channel, esra_light_decode_one(light, channel, code));
        wrong += (int)lrintf(back * (float)last) != k || fabsf(back - code) > 1e-7f;
    }
    return wrong;
}

static void srgb_is_the_standard_curve(void)
{
    struct light light;
    struct message message;
    CHECK(esra_light_srgb(&light, LIGHT_ASSUMED, &message) == ESRA_OK);
    CHECK(light.origin == LIGHT_ASSUMED);
    for (int k = 0; k <= 65535; k++) {
        double exact = esra_srgb_to_linear(k / 65535.0);
        CHECK_NEAR(esra_light_decode_one(&light, 0, (float)k / 65535.0f), exact, exact * 0x1p-23);
    }
    CHECK(esra_light_decode_one(&light, 2, 0) == 0 && esra_light_decode_one(&light, 2, 1) == 1);
    /* IEC 61966-2-1: code 188 of 255 is half the light to three digits. */
    CHECK_NEAR(esra_light_decode_one(&light, 1, 188 / 255.0f), 0.5028865, 1e-6);
    esra_light_free(&light);
    esra_light_free(&light);
}

static void every_code_comes_back(void)
{
    static const double gammas[] = {1.0, 1.8, 2.2, 2.4, 3.0};
    struct light light;
    struct message message;
    bool usable;
    CHECK(esra_light_srgb(&light, LIGHT_ASSUMED, &message) == ESRA_OK);
    CHECK(wrong_codes(&light, 0, 255) == 0 && wrong_codes(&light, 0, 65535) == 0);
    esra_light_free(&light);
    for (int n = 0; n < 5; n++) {
        CHECK(esra_light_from_curves(&light, 3, power, &gammas[n], &usable, &message) == ESRA_OK && usable);
        for (int c = 0; c < 3; c++)
            CHECK(wrong_codes(&light, c, 255) == 0 && wrong_codes(&light, c, 65535) == 0);
        esra_light_free(&light);
    }
    CHECK(esra_light_from_curves(&light, 1, toe, NULL, &usable, &message) == ESRA_OK && usable);
    CHECK(wrong_codes(&light, 0, 65535) == 0);
    CHECK_NEAR(esra_light_decode_one(&light, 0, 0.55f), 0.5, 1e-4);
    esra_light_free(&light);
    CHECK(esra_light_from_curves(&light, 1, stairs, NULL, &usable, &message) == ESRA_OK && usable);
    CHECK(wrong_codes(&light, 0, 65535) == 0);
    esra_light_free(&light);
}

/* Float files have values between codes and outside 0..1. */
static void any_value_comes_back(void)
{
    struct light light;
    struct message message;
    CHECK(esra_light_srgb(&light, LIGHT_PROFILE, &message) == ESRA_OK);
    for (int n = 0; n < 100000; n++) {
        float code = (float)check_random(-1, 3);
        float linear = esra_light_decode_one(&light, 0, code);
        CHECK_NEAR(esra_light_encode_one(&light, 0, linear), code, 4e-7);
        if (code >= 0 && code <= 1)
            /* A value within 2^-8 of a code is taken for it: that, times the steepest slope, and rounding. */
            CHECK_NEAR(linear, esra_srgb_to_linear(code), 2.28 * 0x1p-8 / 65535 + 0x1p-23);
    }
    CHECK(isfinite(esra_light_encode_one(&light, 0, 1e30f)) && isfinite(esra_light_encode_one(&light, 0, -1e30f)));
    CHECK_NEAR(esra_light_encode_one(&light, 0, 1e-38f), 0, 1e-30);
    esra_light_free(&light);
}

/* The straight line through the two 16-bit codes around the value, or through the first or last two. */
static float encode_by_search(const float *linear, float value)
{
    int code = 0;
    for (int step = 32768; step > 0; step /= 2)
        if (code + step <= 65534 && linear[code + step] <= value)
            code += step;
    return ((float)code + (value - linear[code]) / (linear[code + 1] - linear[code])) / 65535;
}

/* Values of every exponent, of either sign, and mostly those of pictures. */
static int wrong_values(const struct light *light)
{
    static float linear[65536];
    int wrong = 0;
    for (int k = 0; k <= 65535; k++)
        linear[k] = esra_light_decode_one(light, 0, (float)k / 65535);
    for (int n = 0; n < 300000; n++) {
        float value = (float)check_random(-.1, 1.1);
        if (n % 3 == 0)
            value = ldexpf(value, (int)check_random(-60, 3));
        else if (n % 3 == 1)
            value = linear[n % 65536];
        wrong += esra_light_encode_one(light, 0, value) != encode_by_search(linear, value);
    }
    return wrong;
}

static void codes_are_those_of_a_search(void)
{
    static const double gamma = 2.2;
    struct light light;
    struct message message;
    bool usable;
    CHECK(esra_light_srgb(&light, LIGHT_ASSUMED, &message) == ESRA_OK);
    CHECK(wrong_values(&light) == 0);
    esra_light_free(&light);
    light_curve *const curves[] = {power, toe, stairs};
    for (int n = 0; n < 3; n++) {
        CHECK(esra_light_from_curves(&light, 1, curves[n], &gamma, &usable, &message) == ESRA_OK && usable);
        CHECK(wrong_values(&light) == 0);
        esra_light_free(&light);
    }
}

static void curves_without_way_back_are_told(void)
{
    struct light light;
    struct message message;
    bool usable = true;
    CHECK(esra_light_from_curves(&light, 3, falling, NULL, &usable, &message) == ESRA_OK && !usable);
    CHECK(!light.tones[0]);
    CHECK(esra_light_from_curves(&light, 1, flat, NULL, &usable, &message) == ESRA_OK && !usable);
    CHECK(esra_light_from_curves(&light, 1, not_a_number, NULL, &usable, &message) == ESRA_OK && !usable);
}

static void images_are_changed_in_place(void)
{
    float data[6] = {0, 0.25f, 0.5f, 0.75f, 1, 0.1f}, before[6];
    struct image image = {.data = data, .width = 1, .height = 2, .channels = 3};
    struct light light;
    struct message message;
    memcpy(before, data, sizeof data);
    esra_light_stored(&light);
    esra_light_decode(&light, &image);
    CHECK(memcmp(before, data, sizeof data) == 0);
    CHECK(esra_light_srgb(&light, LIGHT_ASSUMED, &message) == ESRA_OK);
    esra_light_decode(&light, &image);
    for (int n = 0; n < 6; n++)
        CHECK_NEAR(data[n], esra_srgb_to_linear(before[n]), 1e-7);
    esra_light_encode(&light, &image);
    for (int n = 0; n < 6; n++)
        CHECK_NEAR(data[n], before[n], 1e-7);
    esra_light_free(&light);
}

/* In the public header: every code of 8 and 16 bits comes back, with the bits of the command line's own way. */
static void srgb_is_public(void)
{
    static float codes[65536], light[65536], back[65536];
    struct light srgb;
    struct message message;
    CHECK(esra_light_srgb(&srgb, LIGHT_ASSUMED, &message) == ESRA_OK);
    for (int last = 255; last <= 65535; last += 65280) {
        esra_image in = esra_image_planar(codes, last + 1, 1, 1), middle = esra_image_planar(light, last + 1, 1, 1);
        esra_image out = esra_image_planar(back, last + 1, 1, 1);
        int wrong = 0, other = 0;
        for (int k = 0; k <= last; k++)
            codes[k] = (float)k / (float)last;
        CHECK(esra_srgb_decode(&in, &middle) == ESRA_OK && esra_srgb_encode(&middle, &out) == ESRA_OK);
        for (int k = 0; k <= last; k++) {
            wrong += (int)floorf(back[k] * (float)last + .5f) != k;
            other += light[k] != esra_light_decode_one(&srgb, 0, codes[k]) ||
                     back[k] != esra_light_encode_one(&srgb, 0, light[k]);
        }
        CHECK(wrong == 0 && other == 0);
    }
    esra_light_free(&srgb);
}

/* Any strides, more channels than a photo has, and in place. */
static void srgb_takes_any_view(void)
{
    float data[2 * 3 * 4], before[2 * 3 * 4], planar[2 * 3 * 4];
    check_fill(data, 24, -.1, 1.1);
    memcpy(before, data, sizeof data);
    esra_image side_by_side = esra_image_interleaved(data, 3, 2, 4), planes = esra_image_planar(planar, 3, 2, 4);
    CHECK(esra_srgb_decode(&side_by_side, &planes) == ESRA_OK && memcmp(before, data, sizeof data) == 0);
    CHECK(esra_srgb_decode(&side_by_side, &side_by_side) == ESRA_OK);
    for (int n = 0; n < 24; n++) {
        CHECK(data[n] == planar[n % 4 * 6 + n / 4]);
        if (before[n] >= 0 && before[n] <= 1)
            CHECK_NEAR(data[n], esra_srgb_to_linear(before[n]), 1e-7);
    }
    planes.width = 2;
    CHECK(esra_srgb_decode(&side_by_side, &planes) == ESRA_BAD_DATA &&
          esra_srgb_encode(NULL, &planes) == ESRA_BAD_ARGUMENT);
}

int main(void)
{
    RUN(srgb_is_the_standard_curve);
    RUN(every_code_comes_back);
    RUN(any_value_comes_back);
    RUN(codes_are_those_of_a_search);
    RUN(curves_without_way_back_are_told);
    RUN(images_are_changed_in_place);
    RUN(srgb_is_public);
    RUN(srgb_takes_any_view);
    return check_report();
}
