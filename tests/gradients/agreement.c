/* tests/gradients/agreement.c - what photos agree on: a reflection in the reference is voted away, what a photo does
 * not see is not counted, offsets are recovered, and its gradients integrate to it. */
#include "gradients/agreement.h"

#include "check.h"
#include "gradients/integrate.h"
#include "gradients/offset.h"
#include "ops/poisson.h"

#define WIDTH   96
#define HEIGHT  72
#define PIXELS  (WIDTH * HEIGHT)
#define SAMPLES (3 * PIXELS)
#define PHOTOS  5

static struct context *context;
static struct image photos[PHOTOS], masks[PHOTOS], scene, layer;
static const double mixing[PHOTOS] = {1, 1.1, .9, 1.05, .97};

static struct image make_image(int channels)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    return image;
}

static double scene_at(int c, int x, int y)
{
    return .25 + .1 * ((x / 12 + y / 9 + c) % 3) + .05 * sin(.13 * x + .21 * y + c);
}

/* A bright disc that is elsewhere in every photo. */
static double disc_at(int i, int x, int y)
{
    double dx = x - (20 + 14 * i), dy = y - (26 + 5 * i);
    return dx * dx + dy * dy < 81 ? .3 : .02;
}

static void make_scene(void)
{
    scene = make_image(3);
    layer = make_image(3);
    for (int i = 0; i < PHOTOS; i++) {
        photos[i] = make_image(3);
        masks[i] = make_image(1);
        for (int n = 0; n < PIXELS; n++)
            masks[i].data[n] = 1;
    }
    for (int n = 0; n < SAMPLES; n++) {
        int c = n / PIXELS, x = n % WIDTH, y = n / WIDTH % HEIGHT;
        scene.data[n] = (float)scene_at(c, x, y);
        for (int i = 0; i < PHOTOS; i++)
            photos[i].data[n] = (float)(mixing[i] * scene_at(c, x, y) + disc_at(i, x, y) + check_random(-.003, .003));
    }
}

static void free_scene(void)
{
    esra_image_free(&scene);
    esra_image_free(&layer);
    for (int i = 0; i < PHOTOS; i++) {
        esra_image_free(&photos[i]);
        esra_image_free(&masks[i]);
    }
}

static struct agreement agree(const struct image *guard)
{
    struct agreement agreement;
    struct agreement_problem problem = {PHOTOS, 0, photos, masks, mixing, guard};
    CHECK(esra_agreement_find(&agreement, &problem, context) == ESRA_OK);
    return agreement;
}

/* Mean |E - D scene|. */
static double error_of(const struct image gradients[2])
{
    double sum = 0;
    for (int n = 0; n < SAMPLES; n++) {
        int x = n % WIDTH, y = n / WIDTH % HEIGHT;
        if (y < HEIGHT - 1)
            sum += fabs(gradients[0].data[n] - (scene.data[n + WIDTH] - scene.data[n]));
        if (x < WIDTH - 1)
            sum += fabs(gradients[1].data[n] - (scene.data[n + 1] - scene.data[n]));
    }
    return sum / (2 * SAMPLES);
}

/* E at the right edge of the reference's disc, where the photo itself has -.28. */
static float edge_of_the_disc(const struct agreement *agreement)
{
    return agreement->gradients[1].data[26 * WIDTH + 28];
}

static void reflections_are_voted_away(void)
{
    make_scene();
    struct agreement agreement = agree(NULL);
    CHECK(error_of(agreement.gradients) < .0025);
    CHECK(edge_of_the_disc(&agreement) > -.06f);
    esra_agreement_free(&agreement);
    free_scene();
}

/* A guard keeps the reference's own gradient. */
static void guards_are_respected(void)
{
    make_scene();
    struct image guard = make_image(1);
    for (int n = 0; n < PIXELS; n++)
        guard.data[n] = 1;
    struct agreement agreement = agree(&guard);
    /* Photos not far from it have a small part in it even so. */
    CHECK(edge_of_the_disc(&agreement) < -.15f);
    esra_agreement_free(&agreement);
    esra_image_free(&guard);
    free_scene();
}

/* Where three of four others show something else behind their masks, the vote is as without them. */
static void what_is_not_seen_does_not_vote(void)
{
    make_scene();
    for (int i = 2; i < PHOTOS; i++)
        for (int n = 0; n < SAMPLES; n++)
            if (n % WIDTH > 70) {
                photos[i].data[n] = (float)check_random(0, 1);
                masks[i].data[n % PIXELS] = 0;
            }
    struct agreement agreement = agree(NULL);
    CHECK(error_of(agreement.gradients) < .004);
    esra_agreement_free(&agreement);
    free_scene();
}

/* Nobody else sees anything: the reference's gradients stand, and no number is not finite. */
static void alone_the_reference_decides(void)
{
    make_scene();
    for (int i = 1; i < PHOTOS; i++)
        memset(masks[i].data, 0, PIXELS * sizeof(float));
    struct agreement agreement = agree(NULL);
    for (int n = 0; n < SAMPLES; n++) {
        int x = n % WIDTH;
        float own = x < WIDTH - 1 ? photos[0].data[n + 1] - photos[0].data[n] : 0;
        CHECK_NEAR(agreement.gradients[1].data[n], own, 1e-6);
    }
    CHECK(esra_integrate(agreement.gradients, &photos[0], &layer, context) == ESRA_OK);
    for (int n = 0; n < SAMPLES; n++)
        CHECK(layer.data[n] >= 0 && layer.data[n] <= fmaxf(photos[0].data[n], 0));
    double offset[3] = {1, 1, 1};
    float *scratch = malloc(PIXELS * sizeof *scratch);
    esra_offset_estimate(&photos[0], &photos[1], &masks[1], mixing[1], offset, scratch);
    CHECK(offset[0] == 0 && offset[2] == 0);
    free(scratch);
    esra_agreement_free(&agreement);
    free_scene();
}

static void offsets_are_recovered(void)
{
    static const double truth[3] = {.03, -.02, .01};
    double offset[3];
    float *scratch = malloc(PIXELS * sizeof *scratch);
    make_scene();
    for (int n = 0; n < SAMPLES; n++)
        photos[1].data[n] -= (float)(mixing[1] * truth[n / PIXELS]);
    esra_offset_estimate(&photos[0], &photos[1], &masks[1], mixing[1], offset, scratch);
    /* The disc's surroundings differ by .02 (1 - 1/1.1), noise by .003 over the root of the pixels. */
    for (int c = 0; c < 3; c++)
        CHECK_NEAR(offset[c], truth[c] + .02 * (1 - 1 / mixing[1]), .001);
    free(scratch);
    free_scene();
}

/* What is integrated has no disc in it, and lies below the photo. */
static void the_disc_is_gone(void)
{
    make_scene();
    struct agreement agreement = agree(NULL);
    CHECK(esra_integrate(agreement.gradients, &photos[0], &layer, context) == ESRA_OK);
    double sum = 0;
    for (int n = 0; n < SAMPLES; n++) {
        sum += fabs(layer.data[n] - scene.data[n] - .02);
        CHECK(layer.data[n] <= photos[0].data[n]);
    }
    /* The photo itself is .02 off on average, and .3 in the disc. */
    CHECK(sum / SAMPLES < .012);
    size_t middle = 26 * WIDTH + 20;
    CHECK_NEAR(layer.data[middle], scene.data[middle] + .02, .03);
    esra_agreement_free(&agreement);
    free_scene();
}

/* Mean distance from the scene, a constant a channel aside. */
static double spread_of(const struct image *image)
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        const float *a = image->data + c * PIXELS, *b = scene.data + c * PIXELS;
        double mean = 0;
        for (int n = 0; n < PIXELS; n++)
            mean += ((double)a[n] - b[n]) / PIXELS;
        for (int n = 0; n < PIXELS; n++)
            sum += fabs((double)a[n] - b[n] - mean) / SAMPLES;
    }
    return sum;
}

/* One wrong gradient in fifty, which least squares would spread: what is integrated stays near, whatever the threads.
 */
static void wrong_gradients_stay_where_they_are(void)
{
    struct message message;
    struct image gradients[2] = {make_image(3), make_image(3)}, bright = make_image(3), again = make_image(3);
    struct context *one;
    make_scene();
    for (int n = 0; n < SAMPLES; n++) {
        int x = n % WIDTH, y = n / WIDTH % HEIGHT;
        gradients[0].data[n] = y < HEIGHT - 1 ? scene.data[n + WIDTH] - scene.data[n] : 0;
        gradients[1].data[n] = x < WIDTH - 1 ? scene.data[n + 1] - scene.data[n] : 0;
        bright.data[n] = scene.data[n] + .1f;
        if (n % 53 == 0)
            gradients[n % 2].data[n] += check_random(-1, 1) < 0 ? -.2f : .2f;
    }
    CHECK(esra_integrate(gradients, &bright, &layer, context) == ESRA_OK);
    float *scratch = malloc(esra_poisson_scratch(WIDTH, HEIGHT) * sizeof *scratch);
    for (int c = 0; c < 3; c++)
        esra_poisson_improve(image_plane(&gradients[0], c), image_plane(&gradients[1], c), image_plane(&again, c), 12,
                             scratch);
    free(scratch);
    CHECK(spread_of(&layer) < .5 * spread_of(&again));
    CHECK(esra_context_create(&one, 1, &message) == ESRA_OK);
    CHECK(esra_integrate(gradients, &bright, &again, one) == ESRA_OK);
    CHECK(memcmp(again.data, layer.data, SAMPLES * sizeof(float)) == 0);
    esra_context_free(&one);
    esra_image_free(&gradients[0]);
    esra_image_free(&gradients[1]);
    esra_image_free(&bright);
    esra_image_free(&again);
    free_scene();
}

int main(void)
{
    struct message message;
    if (!CHECK(esra_context_create(&context, 3, &message) == ESRA_OK))
        return check_report();
    RUN(reflections_are_voted_away);
    RUN(guards_are_respected);
    RUN(what_is_not_seen_does_not_vote);
    RUN(alone_the_reference_decides);
    RUN(offsets_are_recovered);
    RUN(the_disc_is_gone);
    RUN(wrong_gradients_stay_where_they_are);
    esra_context_free(&context);
    return check_report();
}
