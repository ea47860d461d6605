/* tests/fuzz/separate.c - whole separations of tiny photos: refused, or layers of finite numbers. Half of the inputs
 * are photos of a scene that moves, so that the later stages are reached too; the bytes then disturb it. */
#include <math.h>
#include <stdbool.h>

#include <esra/esra.h>

#include "fuzz.h"

enum { MOST_PHOTOS = 4, MOST_SIDE = 28, MOST_CHANNELS = 3 };
#define MOST_SAMPLES (MOST_SIDE * MOST_SIDE * MOST_CHANNELS)

struct tiny {
    float photos[MOST_PHOTOS][MOST_SAMPLES], reflected[MOST_PHOTOS][MOST_SAMPLES];
    float transmitted[MOST_SAMPLES], confidence[MOST_SAMPLES];
    esra_image photo_views[MOST_PHOTOS], reflected_views[MOST_PHOTOS];
    esra_transform motion[2][MOST_PHOTOS], given[2][MOST_PHOTOS];
    double gains[2][MOST_PHOTOS], mixing[MOST_PHOTOS];
    esra_photo_facts facts[MOST_PHOTOS];
    int count, width, height, channels;
};

/* Patches that move by i * (dx, dy), over others that move the other way. */
static float scene_at(int i, int x, int y, int dx, int dy)
{
    int a = (x - i * dx + 256) / 7 * 31 + (y + i * dy + 256) / 6 * 17;
    int b = (x + i * dx + 256) / 9 * 13 + (y - i * dy + 256) / 8 * 29;
    return 0.06f * (float)(a % 11) + 0.03f * (float)(b % 7);
}

static void take_photos(struct tiny *t, struct feed *feed)
{
    bool made = feed_int(feed, 0, 1);
    int dx = feed_int(feed, -5, 5), dy = feed_int(feed, -5, 5);
    t->count = feed_int(feed, 2, MOST_PHOTOS);
    t->width = feed_int(feed, 1, MOST_SIDE);
    t->height = feed_int(feed, 1, MOST_SIDE);
    t->channels = feed_int(feed, 0, 1) ? 3 : 1;
    int pixels = t->width * t->height;
    for (int i = 0; i < t->count; i++) {
        for (int n = 0; n < pixels * t->channels; n++)
            t->photos[i][n] = made ? scene_at(i, n % t->width, n % pixels / t->width, dx, dy) : feed_float(feed);
        t->photo_views[i] = esra_image_planar(t->photos[i], t->width, t->height, t->channels);
        t->reflected_views[i] = esra_image_planar(t->reflected[i], t->width, t->height, t->channels);
    }
    for (int n = 0; made && feed->left > 100 && n < 50; n++)
        t->photos[feed_int(feed, 0, t->count - 1)][feed_byte(feed) * pixels / 256] = feed_float(feed);
}

static esra_transform take_transform(struct feed *feed)
{
    esra_transform t = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int n = feed_int(feed, 0, 3); n > 0; n--)
        t.h[feed_int(feed, 0, 8)] = feed_double(feed);
    return t;
}

static esra_photos take_input(struct tiny *t, struct feed *feed)
{
    esra_photos input = ESRA_PHOTOS_INIT;
    int given = feed_byte(feed);
    for (int i = 0; i < t->count; i++) {
        t->mixing[i] = given & 4 ? feed_double(feed) : 1;
        t->given[0][i] = take_transform(feed);
        t->given[1][i] = take_transform(feed);
    }
    input.photos = t->count;
    input.images = t->photo_views;
    input.reference = feed_int(feed, 0, t->count - 1);
    input.light = given >> 4 & 1 ? ESRA_LIGHT_STORED : ESRA_LIGHT_AUTO;
    input.motion = feed_int(feed, ESRA_MOTION_HOMOGRAPHY, ESRA_MOTION_AUTO);
    input.swap = given >> 3 & 1;
    input.transmitted = given & 1 ? t->given[0] : NULL;
    input.reflected = given & 2 ? t->given[1] : NULL;
    input.mixing = given & 4 ? t->mixing : NULL;
    return input;
}

static void check_finite(const struct tiny *t, const float *image, int channels)
{
    for (int n = 0; n < t->width * t->height * channels; n++)
        MUST(isfinite(image[n]));
}

static void check_answer(const struct tiny *t, const esra_separation *s)
{
    check_finite(t, t->transmitted, t->channels);
    check_finite(t, t->confidence, 1);
    for (int i = 0; i < t->count; i++)
        check_finite(t, t->reflected[i], t->channels);
    MUST(isfinite(s->info->objective) && isfinite(s->info->gap) && s->info->bound <= s->info->objective);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct tiny t;
    struct feed feed = {bytes, size};
    esra_settings settings;
    esra_info info = ESRA_INFO_INIT;
    esra_separation s = ESRA_SEPARATION_INIT;
    esra_solver *solver;
    esra_settings_default(&settings);
    settings.max_iterations = 3;
    settings.threads = feed_int(&feed, 1, 2);
    take_photos(&t, &feed);
    esra_photos input = take_input(&t, &feed);
    s.transmitted = esra_image_planar(t.transmitted, t.width, t.height, t.channels);
    s.reflected = t.reflected_views;
    s.confidence = esra_image_planar(t.confidence, t.width, t.height, 1);
    s.transmitted_motion = t.motion[0];
    s.reflected_motion = t.motion[1];
    s.mixing = t.gains[0];
    s.reflection_gain = t.gains[1];
    s.facts = t.facts;
    s.info = &info;
    MUST(esra_solver_create(&solver) == ESRA_OK);
    esra_status status = esra_solver_separate(solver, &input, &settings, &s);
    if (status == ESRA_OK)
        check_answer(&t, &s);
    else
        MUST((status == ESRA_BAD_DATA || status == ESRA_BAD_ARGUMENT) && esra_solver_message(solver)[0]);
    esra_solver_free(&solver);
    return 0;
}
