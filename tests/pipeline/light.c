/* tests/pipeline/light.c - gain fields and offsets that are in the photos come out of them; photos without any stay as
 * they are. T stands still, R moves by shifts, and both are known. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "ops/diff.h"
#include "pipeline/deep_light.h"

#define WIDTH  160
#define HEIGHT 120
#define PIXELS (WIDTH * HEIGHT)
#define PHOTOS 4

static const double shifts[PHOTOS][2] = {{0, 0}, {9, 3}, {-8, 5}, {4, -9}};

static double wave(double x, double y, double salt)
{
    return .5 + .25 * (sin(.31 * x + .17 * y + salt) + sin(.11 * x - .23 * y + 2 * salt));
}

static double scene(double x, double y)
{
    return .1 + .4 * wave(x, y, 1) + .2 * (wave(2 * x, 2 * y, 3) > .5);
}

static double mirrored(double x, double y)
{
    return .3 * (wave(.7 * x, .7 * y, 5) > .55);
}

/* What the lens does to photo i: darker towards the corners of another place in each. */
static double gain(int i, int x, int y)
{
    double u = (2 * x + 1.) / WIDTH - 1 - .3 * i, v = (2 * y + 1.) / HEIGHT - 1 + .2 * i;
    return i ? 1.02 - .06 * (u * u + v * v) : 1;
}

static void make_map(struct image *map, int i)
{
    for (int n = 0; n < PIXELS; n++) {
        map->data[n] = (float)(n % WIDTH + shifts[i][0]);
        map->data[PIXELS + n] = (float)(n / WIDTH + shifts[i][1]);
    }
}

static void make_photo(struct model *model, int i, double strength, bool clean, struct image *photo)
{
    for (int n = 0; n < PIXELS; n++) {
        int x = n % WIDTH, y = n / WIDTH;
        double light = scene(x, y) + mirrored(x + shifts[i][0], y + shifts[i][1]);
        double field = clean ? 1 : 1 + strength * (gain(i, x, y) - 1);
        photo->data[n] = (float)(field * light + (clean || !i ? 0 : .02 * strength));
    }
    model->motions[i].aligned = true;
}

/* Voted gradients: T's own. */
static void make_gradients(struct model *model, struct message *message)
{
    struct image *gradients = model->depth.agreement.gradients, t;
    CHECK(esra_image_create(&t, WIDTH, HEIGHT, 1, message) == ESRA_OK);
    for (int n = 0; n < PIXELS; n++)
        t.data[n] = (float)scene(n % WIDTH, n / WIDTH);
    for (int k = 0; k < 2; k++)
        CHECK(esra_image_create(&gradients[k], WIDTH, HEIGHT, 1, message) == ESRA_OK);
    esra_diff_forward(image_plane(&t, 0), image_plane(&gradients[0], 0), image_plane(&gradients[1], 0));
    esra_image_free(&t);
}

static struct model make_model(double strength, struct message *message)
{
    struct series series = {.photos = PHOTOS, .width = WIDTH, .height = HEIGHT, .channels = 1, .scale = 1};
    struct model model;
    CHECK(esra_model_create(&model, MODEL_DEPTH, &series, message) == ESRA_OK);
    make_gradients(&model, message);
    for (int i = 0; i < PHOTOS; i++) {
        CHECK(esra_image_create(&model.aligned[i], WIDTH, HEIGHT, 1, message) == ESRA_OK);
        CHECK(esra_image_create(&model.masks[i], WIDTH, HEIGHT, 1, message) == ESRA_OK);
        CHECK(esra_image_create(&model.depth.mirror[i], WIDTH, HEIGHT, 2, message) == ESRA_OK);
        make_map(&model.depth.mirror[i], i);
        make_photo(&model, i, strength, false, &model.aligned[i]);
        for (int n = 0; n < PIXELS; n++)
            model.masks[i].data[n] = 1;
    }
    return model;
}

/* Root mean square distance of the aligned photos from what no lens has touched. */
static double distance(struct model *model, struct message *message)
{
    struct image clean;
    double sum = 0;
    CHECK(esra_image_create(&clean, WIDTH, HEIGHT, 1, message) == ESRA_OK);
    for (int i = 1; i < PHOTOS; i++) {
        make_photo(model, i, 0, true, &clean);
        for (int n = 0; n < PIXELS; n++)
            sum += pow((double)model->aligned[i].data[n] - (double)clean.data[n], 2);
    }
    esra_image_free(&clean);
    return sqrt(sum / ((PHOTOS - 1) * PIXELS));
}

/* How far the photos are from untouched ones before and after the fit. */
static void fit(double strength, double *before, double *after)
{
    const struct deep_prior prior = {.ridge = 1e-3};
    struct message message = {""};
    struct context *context = NULL;
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    struct model model = make_model(strength, &message);
    *before = distance(&model, &message);
    CHECK(esra_deep_fit_light(&model, &prior, context) == ESRA_OK);
    *after = distance(&model, &message);
    for (int i = 0; i < PHOTOS; i++)
        CHECK_NEAR(model.reflection_gain[i], 1, .05);
    printf("  strength %g: %.4f before, %.4f after\n", strength, *before, *after);
    esra_model_free(&model);
    esra_context_free(&context);
}

static void a_lens_is_taken_out(void)
{
    double before, after;
    fit(1, &before, &after);
    CHECK(after < .5 * before);
}

static void photos_without_one_stay(void)
{
    double before, after;
    fit(0, &before, &after);
    CHECK(before < 1e-6 && after < .004);
}

int main(void)
{
    RUN(a_lens_is_taken_out);
    RUN(photos_without_one_stay);
    return check_report();
}
