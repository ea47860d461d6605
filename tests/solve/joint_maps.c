/* tests/solve/joint_maps.c - the joint solve with dense maps and expected gradients: a homography as a map gives what
 * the homography gives, bent maps are solved as well, E pulls T, confidences count, and nothing degenerate breaks it.
 */
#include "check.h"
#include "ops/diff.h"
#include "solve/joint.h"

#define WIDTH   110
#define HEIGHT  84
#define PIXELS  (WIDTH * HEIGHT)
#define SAMPLES (3 * PIXELS)
#define PHOTOS  4

static const double mixing[PHOTOS] = {1, 1.05, .96, 1.02}, gain[PHOTOS] = {1, 1, 1, 1};
static const double motion[9 * PHOTOS] = {1, 0,    0,    0,    1, 0,    0, 0, 1, /* the reference */
                                          1, .01,  6.3,  -.01, 1, -4.6, 0, 0, 1, /* and others */
                                          1, -.02, -5.4, .02,  1, 7.2,  0, 0, 1, /* */
                                          1, 0,    9.1,  0,    1, 4.3,  0, 0, 1};
static struct image photos[PHOTOS], masks[PHOTOS], maps[PHOTOS], truth, expected[2];

static struct image make_image(int channels)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    return image;
}

/* Where photo i's pixel lies in R's frame; bent: with a relief that a homography has not. */
static void place(int i, bool bent, double x, double y, double *u, double *v)
{
    const double *g = motion + 9 * i;
    double relief = bent ? 3 * exp(-((x - 50) * (x - 50) + (y - 40) * (y - 40)) / 600) * (i % 2 ? 1 : -1) : 0;
    *u = g[0] * x + g[1] * y + g[2] + (i ? relief : 0);
    *v = g[3] * x + g[4] * y + g[5];
}

static double scene_at(double x, double y, int c)
{
    return .35 + .25 * sin(.21 * x + c) * cos(.17 * y) + .1 * (sin(.05 * x * .9 + .7 * y) > 0);
}

static double mirrored_at(double x, double y, int c)
{
    double s = sin(.31 * x - .2 * y + 2 * c) + cos(.11 * x + .27 * y);
    return s > 0 ? .15 * s : 0;
}

static void make_scene(bool bent)
{
    truth = make_image(3);
    for (int n = 0; n < SAMPLES; n++)
        truth.data[n] = (float)scene_at(n % WIDTH, n / WIDTH % HEIGHT, n / PIXELS);
    for (int i = 0; i < PHOTOS; i++) {
        photos[i] = make_image(3);
        masks[i] = make_image(1);
        maps[i] = make_image(2);
        for (int n = 0; n < PIXELS; n++) {
            double u, v;
            place(i, bent, n % WIDTH, n / WIDTH, &u, &v);
            maps[i].data[n] = (float)u;
            maps[i].data[PIXELS + n] = (float)v;
            masks[i].data[n] = 1;
            for (int c = 0; c < 3; c++)
                photos[i].data[c * PIXELS + n] =
                    (float)(mixing[i] * truth.data[c * PIXELS + n] + mirrored_at(u, v, c) + check_random(-.002, .002));
        }
    }
    for (int k = 0; k < 2; k++)
        expected[k] = make_image(3);
    for (int c = 0; c < 3; c++)
        esra_diff_forward(image_plane(&truth, c), image_plane(&expected[0], c), image_plane(&expected[1], c));
}

static void free_scene(void)
{
    esra_image_free(&truth);
    for (int k = 0; k < 2; k++)
        esra_image_free(&expected[k]);
    for (int i = 0; i < PHOTOS; i++) {
        esra_image_free(&photos[i]);
        esra_image_free(&masks[i]);
        esra_image_free(&maps[i]);
    }
}

static double rms(const struct image *a, const struct image *b)
{
    double sum = 0;
    for (int n = 0; n < SAMPLES; n++)
        sum += ((double)a->data[n] - b->data[n]) * ((double)a->data[n] - b->data[n]);
    return sqrt(sum / SAMPLES);
}

/* The same, but for a constant a channel. */
static double rms_fitted(const struct image *a, const struct image *b)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double mean = 0;
        for (int n = c * PIXELS; n < (c + 1) * PIXELS; n++)
            mean += ((double)a->data[n] - b->data[n]) / PIXELS;
        for (int n = c * PIXELS; n < (c + 1) * PIXELS; n++)
            sum += pow((double)a->data[n] - b->data[n] - mean, 2);
    }
    return sqrt(sum / SAMPLES);
}

static struct joint_info solve(const struct joint_model *model, const struct joint_settings *settings, int threads,
                               struct image *t)
{
    struct message message = {""};
    struct context *context;
    struct joint *joint;
    struct joint_info info = {0};
    CHECK(esra_context_create(&context, threads, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, masks}, 4, context) == ESRA_OK);
    if (!CHECK(esra_joint_solve(joint, model, settings, 0, &info) == ESRA_OK))
        printf("    %s\n", message.text);
    CHECK(esra_joint_transmitted(joint, t) == ESRA_OK);
    esra_joint_free(&joint);
    esra_context_free(&context);
    return info;
}

static struct joint_settings usual(void)
{
    struct joint_settings settings;
    esra_joint_settings_default(&settings);
    return settings;
}

/* Tables differ by float32's rounding and, in coarse levels, by the curvature of a homography in a block: none here.
 * Descents are too short for cells, which homographies alone have. */
static void a_homography_as_a_map_is_the_same(void)
{
    struct joint_settings settings = usual();
    settings.iterations = settings.iterations_flat = 7;
    settings.reweighings = 12;
    struct image direct, dense;
    make_scene(false);
    struct joint_info a = solve(&(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = motion},
                                &settings, 2, &direct);
    struct joint_info b =
        solve(&(struct joint_model){.mixing = mixing, .reflection_gain = gain, .maps = maps}, &settings, 2, &dense);
    CHECK(rms(&direct, &dense) < 2e-3);
    CHECK_NEAR(a.objective, b.objective, .02 * a.objective);
    esra_image_free(&direct);
    esra_image_free(&dense);
    free_scene();
}

/* Maps that bend as depth does: solved with them, not with the homographies they are bent from; any threads, one
 * answer. */
static void bent_maps_are_solved(void)
{
    struct joint_settings settings = usual();
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .maps = maps};
    struct image straight, dense, again;
    make_scene(true);
    solve(&(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = motion}, &settings, 2, &straight);
    solve(&model, &settings, 1, &dense);
    solve(&model, &settings, 4, &again);
    CHECK(memcmp(dense.data, again.data, SAMPLES * sizeof(float)) == 0);
    CHECK(rms_fitted(&dense, &truth) < .02);
    CHECK(rms_fitted(&dense, &truth) < .8 * rms_fitted(&straight, &truth));
    esra_image_free(&straight);
    esra_image_free(&dense);
    esra_image_free(&again);
    free_scene();
}

/* With one photo nothing but E tells the layers apart. */
static void expected_gradients_pull(void)
{
    struct joint_settings settings = usual();
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .maps = maps};
    struct image without, with;
    make_scene(true);
    for (int i = 1; i < PHOTOS; i++)
        memset(masks[i].data, 0, PIXELS * sizeof(float));
    settings.lambda_transmitted = 0;
    solve(&model, &settings, 2, &without);
    model.expected = expected;
    solve(&model, &settings, 2, &with);
    CHECK(rms_fitted(&with, &truth) < .01);
    CHECK(rms_fitted(&with, &truth) < .2 * rms_fitted(&without, &truth));
    esra_image_free(&without);
    esra_image_free(&with);
    free_scene();
}

static bool in_the_square(int n)
{
    int x = n % WIDTH, y = n / WIDTH % HEIGHT;
    return x > 40 && x < 60 && y > 30 && y < 50;
}

/* How much brighter than the truth the square is, against the rest. */
static double square_of(const struct image *t)
{
    double sum[2] = {0, 0};
    int count[2] = {0, 0};
    for (int n = 0; n < SAMPLES; n++) {
        sum[in_the_square(n)] += (double)t->data[n] - truth.data[n];
        count[in_the_square(n)]++;
    }
    return sum[1] / count[1] - sum[0] / count[0];
}

/* One photo has a square that stands still and the others have not: T shows it as far as that photo counts. */
static void confidence_counts(void)
{
    struct joint_settings settings = usual();
    double confidence[PHOTOS] = {1, 1, 1, .01};
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .maps = maps, .confidence = confidence};
    struct image doubted, believed;
    make_scene(true);
    for (int n = 0; n < SAMPLES; n++)
        photos[3].data[n] += in_the_square(n) ? .015f : 0;
    struct joint_info info = solve(&model, &settings, 2, &doubted);
    CHECK(info.trusted > 0 && info.trusted <= 1);
    confidence[3] = 20;
    info = solve(&model, &settings, 2, &believed);
    CHECK(info.trusted > 0 && info.trusted <= 1);
    CHECK(fabs(square_of(&doubted)) < .004 && square_of(&believed) > .006);
    esra_image_free(&doubted);
    esra_image_free(&believed);
    free_scene();
}

static bool all_finite(const struct image *image)
{
    for (int n = 0; n < SAMPLES; n++)
        if (!isfinite(image->data[n]))
            return false;
    return true;
}

static void degenerate_maps_stay_finite(void)
{
    struct joint_settings settings = usual();
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .maps = maps, .expected = expected};
    struct image t;
    make_scene(true);
    for (int n = 0; n < 2 * PIXELS; n++) {
        maps[1].data[n] = -1e6f; /* behind the camera */
        maps[2].data[n] = 40;    /* all in one place */
        maps[3].data[n] = NAN;
    }
    solve(&model, &settings, 2, &t);
    CHECK(all_finite(&t));
    esra_image_free(&t);
    for (int i = 0; i < PHOTOS; i++)
        memset(masks[i].data, 0, PIXELS * sizeof(float));
    solve(&model, &settings, 2, &t);
    CHECK(all_finite(&t));
    esra_image_free(&t);
    free_scene();
}

static void nonsense_is_refused(void)
{
    struct message message;
    struct context *context;
    struct joint *joint;
    struct joint_info info;
    struct joint_settings settings = usual();
    double none[PHOTOS] = {1, -1, 1, 1};
    make_scene(true);
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, masks}, 4, context) == ESRA_OK);
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .maps = photos};
    CHECK(esra_joint_solve(joint, &model, &settings, 0, &info) == ESRA_BAD_ARGUMENT);
    model = (struct joint_model){.mixing = mixing, .reflection_gain = gain, .maps = maps, .expected = masks};
    CHECK(esra_joint_solve(joint, &model, &settings, 0, &info) == ESRA_BAD_ARGUMENT);
    model = (struct joint_model){.mixing = mixing, .reflection_gain = gain, .maps = maps, .confidence = none};
    CHECK(esra_joint_solve(joint, &model, &settings, 0, &info) == ESRA_BAD_DATA);
    esra_joint_free(&joint);
    esra_context_free(&context);
    free_scene();
}

int main(void)
{
    RUN(a_homography_as_a_map_is_the_same);
    RUN(bent_maps_are_solved);
    RUN(expected_gradients_pull);
    RUN(confidence_counts);
    RUN(degenerate_maps_stay_finite);
    RUN(nonsense_is_refused);
    return check_report();
}
