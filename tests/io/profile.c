/* tests/io/profile.c - the curves and primaries of colour profiles, and what is done without. */
#include "made.h"

#include "colour/primaries.h"

static int wrong_codes(const struct light *light, int channel, int last)
{
    int wrong = 0;
    for (int k = 0; k <= last; k++) {
        float code = (float)k / (float)last;
        float back = esra_light_encode_one(light, channel, esra_light_decode_one(light, channel, code));
        wrong += (int)lrintf(back * (float)last) != k;
    }
    return wrong;
}

static enum light_origin origin_of(struct light *light, int channels, struct bytes icc)
{
    struct photo photo = {.pixels = {.channels = channels}, .icc = icc};
    struct message message;
    CHECK(made_light(light, &photo, &message) == ESRA_OK);
    for (int c = 0; c < channels; c++)
        CHECK(wrong_codes(light, c, 255) == 0 && wrong_codes(light, c, 65535) == 0);
    esra_bytes_free(&icc);
    return light->origin;
}

static void gamma_curves(void)
{
    static const double gammas[] = {1.0, 1.8, 2.19921875, 2.6};
    struct light light;
    for (int channels = 1; channels <= 3; channels += 2)
        for (int n = 0; n < 4; n++) {
            CHECK(origin_of(&light, channels, made_profile(channels, cmsBuildGamma(NULL, gammas[n]))) == LIGHT_PROFILE);
            /* The file keeps a gamma in steps of 1/256 or 1/65536. */
            for (double code = 0.05; code < 1; code += 0.05)
                CHECK_NEAR(esra_light_decode_one(&light, 0, (float)code), pow(code, gammas[n]), 1e-3);
            esra_light_free(&light);
        }
}

static void parametric_curve_is_srgb(void)
{
    static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    struct light light;
    CHECK(origin_of(&light, 3, made_profile(3, cmsBuildParametricToneCurve(NULL, 4, srgb))) == LIGHT_PROFILE);
    for (double code = 0; code <= 1; code += 1.0 / 255)
        CHECK_NEAR(esra_light_decode_one(&light, 1, (float)code), esra_srgb_to_linear(code), 3e-5);
    CHECK(light.tones[0] == light.tones[1] && light.tones[1] == light.tones[2]);
    esra_light_free(&light);
}

/* As in the profiles that came with Windows and with HP's scanners: 1,024 samples. Shadows must have no steps. */
static void sampled_curve_is_smooth(void)
{
    cmsUInt16Number table[1024];
    struct light light;
    for (int n = 0; n < 1024; n++)
        table[n] = (cmsUInt16Number)lrint(65535 * esra_srgb_to_linear(n / 1023.0));
    CHECK(origin_of(&light, 3, made_profile(3, cmsBuildTabulatedToneCurve16(NULL, 1024, table))) == LIGHT_PROFILE);
    for (int k = 0; k <= 65535; k++)
        CHECK_NEAR(esra_light_decode_one(&light, 0, (float)k / 65535.0f), esra_srgb_to_linear(k / 65535.0),
                   1.0 / 65535);
    for (int k = 1; k < 600; k++) {
        float step = esra_light_decode_one(&light, 0, (float)k / 65535.0f) -
                     esra_light_decode_one(&light, 0, (float)(k - 1) / 65535.0f);
        CHECK(step > 0.5f / 65535 / 12.92f && step < 2.0f / 65535 / 12.92f);
    }
    esra_light_free(&light);
}

static void channels_have_their_own(void)
{
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *curves[3] = {cmsBuildGamma(NULL, 1.5), cmsBuildGamma(NULL, 2.0), cmsBuildGamma(NULL, 2.5)};
    struct bytes icc = made_saved(cmsCreateRGBProfile(&white, &primaries, curves));
    struct light light;
    CHECK(origin_of(&light, 3, icc) == LIGHT_PROFILE);
    for (int c = 0; c < 3; c++) {
        CHECK_NEAR(esra_light_decode_one(&light, c, 0.5f), pow(0.5, 1.5 + 0.5 * c), 1e-3);
        cmsFreeToneCurve(curves[c]);
    }
    esra_light_free(&light);
}

static cmsHPROFILE linear_profile(const cmsCIExyYTRIPLE *primaries)
{
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsToneCurve *line = cmsBuildGamma(NULL, 1), *lines[3] = {line, line, line};
    cmsHPROFILE profile = cmsCreateRGBProfile(&white, primaries, lines);
    cmsFreeToneCurve(line);
    return profile;
}

static struct primaries primaries_of(struct bytes icc)
{
    struct photo photo = {.pixels = {.channels = 3}, .icc = icc};
    struct primaries primaries;
    struct message message;
    CHECK(esra_profile_look(&photo, &message) == ESRA_OK);
    memcpy(primaries.xyz, photo.primaries, sizeof primaries.xyz);
    free(photo.curves);
    esra_bytes_free(&icc);
    return primaries;
}

/* Between any two of sRGB, Display P3, Adobe RGB and Rec. 2020: the same light as by lcms2's own transform. */
static void primaries_lead_where_lcms2_leads(void)
{
    static const cmsCIExyYTRIPLE spaces[] = {{{0.64, 0.33, 1}, {0.30, 0.60, 1}, {0.15, 0.06, 1}},
                                             {{0.680, 0.320, 1}, {0.265, 0.690, 1}, {0.15, 0.06, 1}},
                                             {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}},
                                             {{0.708, 0.292, 1}, {0.170, 0.797, 1}, {0.131, 0.046, 1}}};
    for (int n = 0; n < 16; n++) {
        cmsHPROFILE from = linear_profile(&spaces[n / 4]), to = linear_profile(&spaces[n % 4]);
        cmsHTRANSFORM transform = cmsCreateTransform(from, TYPE_RGB_FLT, to, TYPE_RGB_FLT, INTENT_RELATIVE_COLORIMETRIC,
                                                     cmsFLAGS_NOOPTIMIZE | cmsFLAGS_NOCACHE);
        struct primaries ours = primaries_of(made_saved(from)), theirs = primaries_of(made_saved(to));
        CHECK(esra_primaries_usable(&ours) && esra_primaries_usable(&theirs));
        struct colour_map map = esra_colour_map(&ours, &theirs);
        CHECK(map.same == (n / 4 == n % 4));
        for (int k = 0; k < 20; k++) {
            float light[3] = {(float)check_random(0, 1), (float)check_random(0, 1), (float)check_random(0, 1)},
                  wanted[3];
            cmsDoTransform(transform, light, wanted, 1);
            esra_colour_map_apply(&map, &(struct image){.data = light, .width = 1, .height = 1, .channels = 3});
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(light[c], wanted[c], 5e-4);
        }
        cmsDeleteTransform(transform);
    }
}

static void without_a_curve_it_is_srgb(void)
{
    struct light light;
    struct bytes noise = {calloc(1, 500), 500};
    CHECK(origin_of(&light, 3, (struct bytes){0}) == LIGHT_ASSUMED);
    esra_light_free(&light);
    CHECK(origin_of(&light, 3, noise) == LIGHT_SUBSTITUTED);
    esra_light_free(&light);
    CHECK(origin_of(&light, 1, made_profile(3, cmsBuildGamma(NULL, 2.2))) == LIGHT_SUBSTITUTED);
    esra_light_free(&light);
    CHECK(origin_of(&light, 3, made_saved(cmsCreateLab4Profile(NULL))) == LIGHT_SUBSTITUTED);
    CHECK_NEAR(esra_light_decode_one(&light, 0, 0.5f), esra_srgb_to_linear(0.5), 1e-6);
    esra_light_free(&light);
}

int main(void)
{
    RUN(gamma_curves);
    RUN(parametric_curve_is_srgb);
    RUN(sampled_curve_is_smooth);
    RUN(channels_have_their_own);
    RUN(primaries_lead_where_lcms2_leads);
    RUN(without_a_curve_it_is_srgb);
    return check_report();
}
