/* tests/evidence/leave_out.c - photos left out: right motions predict them better than wrong ones and than other
 * photos; what the photos do not decide is found in doubt, and nothing else is. */
#include "evidence/leave_out.h"
#include "check.h"
#include "evidence/doubt.h"

#define WIDTH  120
#define HEIGHT 92
#define PIXELS (WIDTH * HEIGHT)
#define PHOTOS 4

static const double ones[PHOTOS] = {1, 1, 1, 1};
static const double shifts[PHOTOS][2] = {{0, 0}, {7, -3}, {-5, 6}, {11, 4}};
static struct image photos[PHOTOS], masks[PHOTOS];
static struct context *context;
static struct message message;

static struct image make_image(int channels)
{
    struct image image;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    return image;
}

/* Two scenes of flat patches: one stands still, the other shifts. */
static double patches(double x, double y, int seed)
{
    double s = sin(.37 * x + seed) * cos(.29 * y - seed) + sin(.13 * x - .21 * y + 2 * seed);
    return s > .4 ? .3 : s > -.3 ? .15 : 0;
}

static void make_photos(void)
{
    for (int i = 0; i < PHOTOS; i++) {
        photos[i] = make_image(1);
        masks[i] = make_image(1);
        for (int n = 0; n < PIXELS; n++) {
            double x = n % WIDTH, y = n / WIDTH;
            photos[i].data[n] = (float)(.1 + patches(x, y, 1) + .6 * patches(x + shifts[i][0], y + shifts[i][1], 5) +
                                        check_random(-.002, .002));
            masks[i].data[n] = 1;
        }
    }
}

static void free_photos(void)
{
    for (int i = 0; i < PHOTOS; i++) {
        esra_image_free(&photos[i]);
        esra_image_free(&masks[i]);
    }
}

static struct leave_out leave_out_with(int count, double right, const double *confidence,
                                       const struct leave_out_options *options)
{
    struct leave_out result;
    double motion[9 * PHOTOS];
    for (int i = 0; i < count; i++)
        memcpy(motion + 9 * i, (double[]){1, 0, right * shifts[i][0], 0, 1, right * shifts[i][1], 0, 0, 1}, 72);
    struct joint_photos given = {count, photos, masks};
    struct joint_model model = {.mixing = ones, .reflection_gain = ones, .motion = motion, .confidence = confidence};
    CHECK(esra_leave_out(context, &given, &model, options, &result) == ESRA_OK);
    return result;
}

static struct leave_out leave_out(int count, double right, const double *confidence)
{
    return leave_out_with(count, right, confidence, &(struct leave_out_options){.alone = true, .doubt = true});
}

static void right_motions_predict(void)
{
    make_photos();
    struct leave_out right = leave_out(PHOTOS, 1, NULL), wrong = leave_out(PHOTOS, -1, NULL);
    CHECK(isfinite(right.error) && isfinite(wrong.error));
    CHECK(right.error < .6 * right.baseline);
    CHECK(wrong.error > 1.3 * right.error);
    CHECK(right.error < .8 * right.alone);
    CHECK(wrong.error > .95 * wrong.alone);
    CHECK(right.doubt.width == WIDTH && right.doubt.height == HEIGHT);
    esra_leave_out_free(&right);
    esra_leave_out_free(&wrong);
    free_photos();
}

/* What was not measured is not a number: 0 in its place would be taken for one. */
static void errors_are_the_same_without_the_rest(void)
{
    make_photos();
    struct leave_out all = leave_out(PHOTOS, 1, NULL);
    for (int alone = 0; alone < 2; alone++) {
        struct leave_out errors = leave_out_with(PHOTOS, 1, NULL, &(struct leave_out_options){.alone = alone});
        CHECK(errors.error == all.error && errors.baseline == all.baseline);
        CHECK(alone ? errors.alone == all.alone : isnan(errors.alone));
        CHECK(isnan(errors.opposed) && !errors.doubt.data);
    }
    esra_leave_out_free(&all);
    free_photos();
}

static void who_takes_no_part_is_not_asked(void)
{
    make_photos();
    for (int n = 0; n < PIXELS; n++)
        photos[3].data[n] = (float)check_random(0, 1);
    struct leave_out with = leave_out(PHOTOS, 1, NULL), without = leave_out(PHOTOS, 1, (double[]){1, 1, 1, 0});
    CHECK(without.error < .5 * with.error);
    esra_leave_out_free(&with);
    esra_leave_out_free(&without);
    free_photos();
}

static void two_photos_leave_doubt_but_none_to_predict(void)
{
    make_photos();
    struct leave_out result = leave_out(2, 1, NULL);
    CHECK(isnan(result.error) && isnan(result.baseline) && isnan(result.alone) && result.doubt.data);
    for (int n = 0; n < PIXELS; n++)
        CHECK(isfinite(result.doubt.data[n]));
    esra_leave_out_free(&result);
    free_photos();
}

/* ---- Doubt ---- */

static struct image slow_image(double offset, double amplitude)
{
    struct image image = make_image(1);
    for (int n = 0; n < PIXELS; n++)
        image.data[n] = (float)(offset + amplitude * sin(.05 * (n % WIDTH)) * cos(.06 * (n / WIDTH)));
    return image;
}

static double largest(const struct image *image)
{
    double most = 0;
    for (int n = 0; n < PIXELS; n++)
        most = fmax(most, fabs((double)image->data[n]));
    return most;
}

static void certain_estimates_stand(void)
{
    struct image estimate = slow_image(.3, .2), scatter[2] = {make_image(1), make_image(1)}, doubt;
    CHECK(esra_doubt(context, &(struct replicates){&estimate, scatter, 2, 1, 0}, &doubt) == ESRA_OK);
    CHECK(largest(&doubt) == 0);
    esra_image_free(&estimate);
    esra_image_free(&scatter[0]);
    esra_image_free(&scatter[1]);
    esra_image_free(&doubt);
}

/* All of it but its mean, which no photo decides, and what is finer than the bands looked at. */
static void scattered_estimates_fall(void)
{
    struct image estimate = slow_image(.3, .2), scatter[2] = {slow_image(0, .3), slow_image(0, -.3)}, doubt;
    double mean = 0, all = 0, left = 0;
    CHECK(esra_doubt(context, &(struct replicates){&estimate, scatter, 2, 1, 0}, &doubt) == ESRA_OK);
    for (int n = 0; n < PIXELS; n++)
        mean += estimate.data[n] / PIXELS;
    for (int n = 0; n < PIXELS; n++) {
        all += pow(estimate.data[n] - mean, 2);
        left += pow(estimate.data[n] - mean - doubt.data[n], 2);
    }
    CHECK(left < .02 * all);
    esra_image_free(&estimate);
    esra_image_free(&scatter[0]);
    esra_image_free(&scatter[1]);
    esra_image_free(&doubt);
}

static void tiny_images_are_fine(void)
{
    for (int side = 1; side < 20; side += 3) {
        struct image estimate, scatter, doubt;
        CHECK(esra_image_create(&estimate, side, 20 - side, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&scatter, side, 20 - side, 3, &message) == ESRA_OK);
        for (int n = 0; n < 3 * side * (20 - side); n++)
            estimate.data[n] = scatter.data[n] = (float)check_random(0, 1);
        CHECK(esra_doubt(context, &(struct replicates){&estimate, &scatter, 1, 1, 0}, &doubt) == ESRA_OK);
        for (int n = 0; n < 3 * side * (20 - side); n++)
            CHECK(isfinite(doubt.data[n]));
        esra_image_free(&estimate);
        esra_image_free(&scatter);
        esra_image_free(&doubt);
    }
}

int main(void)
{
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    RUN(right_motions_predict);
    RUN(errors_are_the_same_without_the_rest);
    RUN(who_takes_no_part_is_not_asked);
    RUN(two_photos_leave_doubt_but_none_to_predict);
    RUN(certain_estimates_stand);
    RUN(scattered_estimates_fall);
    RUN(tiny_images_are_fine);
    esra_context_free(&context);
    return check_report();
}
