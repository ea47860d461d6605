/* tests/synth/scene.c - scenes are the same for the same seed, and the truth told of them is true. */
#include "synth.h"

#include "colour/light.h"
#include "ops/resample.h"

#define PHOTOS   4
#define WIDTH    120
#define HEIGHT   90
#define CHANNELS 3

/* A scene and room for all that is told of it. */
struct scene {
    struct image photos[PHOTOS], transmitted, reflected;
    esra_image views[PHOTOS];
    esra_transform transmitted_motion[PHOTOS], reflected_motion[PHOTOS];
    double mixing[PHOTOS], gain[PHOTOS];
    esra_synth_result result;
};

/* Smooth, so that resampling it loses next to nothing; frequency in waves across. */
static void paint(struct image *image, int width, int height, int channels, double frequency)
{
    create(image, width, height, channels);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                plane_row(image_plane(image, c), y)[x] = (float)(.5 + .25 * sin(frequency * 6.28 * x / width + c) +
                                                                 .2 * cos(frequency * 5 * y / height - c));
}

static esra_synth_settings settings(void)
{
    return settings_for(PHOTOS, WIDTH, HEIGHT, 5);
}

static void scene_make(struct scene *scene, const esra_synth_settings *s, int channels_t, int channels_r)
{
    struct image t, r;
    int channels = channels_t > channels_r ? channels_t : channels_r;
    paint(&t, 300, 200, channels_t, 5);
    paint(&r, 90, 130, channels_r, 3);
    scene->result = (esra_synth_result)ESRA_SYNTH_RESULT_INIT;
    for (int i = 0; i < PHOTOS; i++) {
        create(&scene->photos[i], WIDTH, HEIGHT, channels);
        scene->views[i] = view(&scene->photos[i]);
    }
    create(&scene->transmitted, WIDTH, HEIGHT, channels);
    create(&scene->reflected, WIDTH, HEIGHT, channels);
    scene->result.photos = scene->views;
    scene->result.transmitted = view(&scene->transmitted);
    scene->result.reflected = view(&scene->reflected);
    scene->result.transmitted_motion = scene->transmitted_motion;
    scene->result.reflected_motion = scene->reflected_motion;
    scene->result.mixing = scene->mixing;
    scene->result.reflection_gain = scene->gain;
    esra_image views[2] = {view(&t), view(&r)};
    CHECK(esra_synth(&views[0], &views[1], s, &scene->result) == ESRA_OK);
    CHECK_TEXT(scene->result.message, "");
    esra_image_free(&t);
    esra_image_free(&r);
}

static void scene_free(struct scene *scene)
{
    for (int i = 0; i < PHOTOS; i++)
        esra_image_free(&scene->photos[i]);
    esra_image_free(&scene->transmitted);
    esra_image_free(&scene->reflected);
}

static bool same(const struct image *a, const struct image *b)
{
    return memcmp(a->data, b->data, sizeof(float) * (size_t)a->width * (size_t)a->height * (size_t)a->channels) == 0;
}

static bool same_scene(const struct scene *a, const struct scene *b)
{
    bool equal = same(&a->transmitted, &b->transmitted) && same(&a->reflected, &b->reflected);
    for (int i = 0; i < PHOTOS; i++)
        equal = equal && same(&a->photos[i], &b->photos[i]);
    return equal && memcmp(a->transmitted_motion, b->transmitted_motion, sizeof a->transmitted_motion) == 0 &&
           memcmp(a->reflected_motion, b->reflected_motion, sizeof a->reflected_motion) == 0 &&
           memcmp(a->mixing, b->mixing, sizeof a->mixing) == 0 && memcmp(a->gain, b->gain, sizeof a->gain) == 0;
}

static void a_seed_has_one_scene(void)
{
    struct scene one, two;
    esra_synth_settings s = settings();
    s.threads = 1;
    scene_make(&one, &s, CHANNELS, CHANNELS);
    for (s.threads = 1; s.threads <= 5; s.threads += 2) {
        scene_make(&two, &s, CHANNELS, CHANNELS);
        CHECK(same_scene(&one, &two));
        scene_free(&two);
    }
    s.seed++;
    scene_make(&two, &s, CHANNELS, CHANNELS);
    CHECK(!same(&one.photos[1], &two.photos[1]));
    scene_free(&two);
    scene_free(&one);
}

static void linearise(struct image *image)
{
    size_t samples = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
    for (size_t n = 0; n < samples; n++)
        image->data[n] = (float)esra_srgb_to_linear(image->data[n]);
}

static struct transform inner(const esra_transform *t)
{
    struct transform copy;
    memcpy(copy.h, t->h, sizeof copy.h);
    return copy;
}

/* Root mean square of photo_i(f x)/a_i - b_i/a_i R(g^-1 f x) - T(x) over the pixels x where all are seen. */
static double misfit(const struct scene *scene, int i, struct context *context)
{
    struct transform f = inner(&scene->transmitted_motion[i]), g = inner(&scene->reflected_motion[i]), back;
    struct image photo, reflected, masks;
    double sum = 0, count = 0;
    CHECK(esra_transform_invert(&g, &back));
    back = esra_transform_compose(&back, &f);
    create(&photo, WIDTH, HEIGHT, CHANNELS);
    create(&reflected, WIDTH, HEIGHT, CHANNELS);
    create(&masks, WIDTH, HEIGHT, 2);
    esra_resample(context, &scene->photos[i], &f, &photo, image_plane(&masks, 0));
    esra_resample(context, &scene->reflected, &back, &reflected, image_plane(&masks, 1));
    for (size_t n = 0, pixels = WIDTH * HEIGHT; n < CHANNELS * pixels; n++) {
        double seen = masks.data[n % pixels] * masks.data[n % pixels + pixels];
        double rest =
            (photo.data[n] - scene->gain[i] * reflected.data[n]) / scene->mixing[i] - scene->transmitted.data[n];
        sum += seen * rest * rest;
        count += seen;
    }
    CHECK(count > CHANNELS * WIDTH * HEIGHT / 4);
    esra_image_free(&photo);
    esra_image_free(&reflected);
    esra_image_free(&masks);
    return sqrt(sum / count);
}

/* The curve's slope from code values to light is at most 2.3; the borders that resampling repeats add a little. */
static void truth_explains_every_photo(void)
{
    const double noises[] = {0, 0.01};
    struct context *context;
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    for (int n = 0; n < 2; n++) {
        struct scene scene;
        esra_synth_settings s = settings();
        s.noise = noises[n];
        s.transmission = 0.6;
        s.bits = 16;
        scene_make(&scene, &s, CHANNELS, CHANNELS);
        for (int i = 0; i < PHOTOS; i++)
            linearise(&scene.photos[i]);
        linearise(&scene.transmitted);
        linearise(&scene.reflected);
        for (int i = 0; i < PHOTOS; i++)
            CHECK_NEAR(misfit(&scene, i, context), 0, 0.001 + 2.5 * s.noise);
        /* ... and nothing else does: half a pixel of error shows. */
        scene.transmitted_motion[1].h[2] += 0.5;
        CHECK(n > 0 || misfit(&scene, 1, context) > 0.003);
        scene_free(&scene);
    }
    esra_context_free(&context);
}

static void the_reference_stands_still(void)
{
    struct scene scene;
    esra_synth_settings s = settings();
    scene_make(&scene, &s, CHANNELS, CHANNELS);
    for (int n = 0; n < 9; n++) {
        CHECK(scene.transmitted_motion[0].h[n] == TRANSFORM_IDENTITY.h[n]);
        CHECK(scene.reflected_motion[0].h[n] == TRANSFORM_IDENTITY.h[n]);
    }
    CHECK(scene.mixing[0] == 1 && scene.gain[0] == 1);
    for (int i = 1; i < PHOTOS; i++) {
        struct transform f = inner(&scene.transmitted_motion[i]), g = inner(&scene.reflected_motion[i]);
        CHECK(esra_transform_distance(&f, &g, WIDTH, HEIGHT) >= .2 * s.shift_px);
        CHECK(fabs(scene.mixing[i] - 1) <= s.gain_spread);
    }
    scene_free(&scene);
}

/* Noise has the deviation asked for, in code values, and photos have their own. */
static void noise_is_as_asked(void)
{
    struct scene clean, noisy;
    esra_synth_settings s = settings();
    double sum = 0, cross = 0;
    size_t samples = CHANNELS * WIDTH * HEIGHT;
    s.bits = 0;
    s.transmission = s.reflection = 0.4; /* away from where values are cut */
    s.noise = 0.02;
    scene_make(&noisy, &s, CHANNELS, CHANNELS);
    s.noise = 0;
    scene_make(&clean, &s, CHANNELS, CHANNELS);
    for (size_t n = 0; n < samples; n++) {
        double first = noisy.photos[0].data[n] - clean.photos[0].data[n];
        sum += first * first;
        cross += first * (noisy.photos[1].data[n] - clean.photos[1].data[n]);
    }
    CHECK_NEAR(sqrt(sum / (double)samples), 0.02, 0.0005);
    CHECK_NEAR(cross / sum, 0, 0.03);
    scene_free(&clean);
    scene_free(&noisy);
}

static void values_are_those_of_the_depth(void)
{
    struct scene scene;
    esra_synth_settings s = settings();
    scene_make(&scene, &s, CHANNELS, CHANNELS);
    for (size_t n = 0; n < CHANNELS * WIDTH * HEIGHT; n++)
        if (!CHECK(fabs(255 * scene.photos[1].data[n] - round(255 * scene.photos[1].data[n])) < 1e-4))
            break;
    scene_free(&scene);
}

static void grey_and_colour_mix(void)
{
    struct scene scene;
    esra_synth_settings s = settings();
    scene_make(&scene, &s, 1, CHANNELS);
    CHECK(memcmp(image_plane(&scene.transmitted, 0).data, image_plane(&scene.transmitted, 2).data,
                 sizeof(float) * WIDTH * HEIGHT) == 0);
    scene_free(&scene);
    scene_make(&scene, &s, 1, 1);
    scene_free(&scene);
}

static void nothing_wanted_is_fine(void)
{
    struct image t;
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    paint(&t, 20, 20, 1, 2);
    esra_image picture = view(&t);
    esra_synth_settings s = settings();
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_OK);
    s.shift_px = s.rotation_deg = s.blur_px = 0;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_OK);
    esra_image_free(&t);
}

static int has_enough(void *user, const esra_info *so_far)
{
    CHECK_TEXT(so_far->stage, "synth");
    return ++*(int *)user;
}

static void who_has_had_enough_gets_no_photo(void)
{
    struct scene scene;
    int asked = 0;
    esra_synth_settings s = settings();
    s.progress = has_enough;
    s.user = &asked;
    scene_make(&scene, &s, 1, 1);
    CHECK(asked == 1);
    for (int i = 0; i < PHOTOS; i++)
        CHECK(esra_image_mean(&scene.photos[i]) == 0);
    scene_free(&scene);
}

static void mistakes_are_told(void)
{
    struct image t;
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    paint(&t, 20, 20, 2, 2);
    esra_image picture = view(&t), three = picture;
    esra_synth_settings s = settings();
    three.channels = 3;
    CHECK(esra_synth(&picture, &three, &s, &result) == ESRA_BAD_DATA);
    CHECK_TEXT(result.message, "the layers have 2 and 3 channels: equal numbers are needed, or a grey one");
    result.transmitted = picture;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_DATA);
    CHECK_TEXT(result.message, "the images to be filled are not 120 x 90 of 2 channel(s)");
    s.noise = NAN;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_ARGUMENT);
    s = settings();
    s.blur_px = 5;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_ARGUMENT);
    CHECK_TEXT(result.message, "blur_px is 5: it must lie in [0, 4]");
    s = settings();
    s.bits = 12;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_ARGUMENT);
    CHECK_TEXT(result.message, "bits is 12: it must be one of 0|8|16");
    s = settings();
    s.shift_px = 50;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_ARGUMENT);
    CHECK_TEXT(result.message, "shift_px is 50: with photos of this size it must lie in [0, 45]");
    result.struct_size = 0;
    CHECK(esra_synth(&picture, &picture, &s, &result) == ESRA_BAD_ARGUMENT);
    esra_image_free(&t);
}

int main(void)
{
    RUN(a_seed_has_one_scene);
    RUN(truth_explains_every_photo);
    RUN(the_reference_stands_still);
    RUN(noise_is_as_asked);
    RUN(values_are_those_of_the_depth);
    RUN(grey_and_colour_mix);
    RUN(nothing_wanted_is_fine);
    RUN(who_has_had_enough_gets_no_photo);
    RUN(mistakes_are_told);
    return check_report();
}
