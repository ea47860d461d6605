/* tests/measure/compare.c - the measures on cases whose answer is known. */
#include <esra/esra.h>

#include <limits.h>

#include "check.h"

#define SIDE 24

static float a[3 * SIDE * SIDE], b[3 * SIDE * SIDE];

static esra_comparison compare(int width, int height, int channels_a, int channels_b)
{
    esra_image image = esra_image_planar(a, width, height, channels_a);
    esra_image truth = esra_image_planar(b, width, height, channels_b);
    esra_comparison result = ESRA_COMPARISON_INIT;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_OK);
    return result;
}

static void equal_images_are_perfect(void)
{
    check_fill(a, 3 * SIDE * SIDE, 0, 1);
    memcpy(b, a, sizeof a);
    esra_comparison c = compare(SIDE, SIDE, 3, 3);
    CHECK(isinf(c.psnr) && c.psnr > 0);
    CHECK_NEAR(c.ssim, 1, 1e-12);
    CHECK_NEAR(c.ncc, 1, 1e-12);
}

static void a_known_error_has_its_decibels(void)
{
    check_fill(b, SIDE * SIDE, 0.2, 0.8);
    for (int n = 0; n < SIDE * SIDE; n++)
        a[n] = b[n] + (n % 2 ? 0.1f : -0.1f);
    CHECK_NEAR(compare(SIDE, SIDE, 1, 1).psnr, 20, 1e-5);
}

/* A fit undoes gain and offset of each channel, whatever they are. */
static void a_fit_undoes_gain_and_offset(void)
{
    check_fill(b, 3 * SIDE * SIDE, 0, 1);
    for (int n = 0; n < 3 * SIDE * SIDE; n++)
        a[n] = 0.5f * b[n] + 0.1f * (float)(n / (SIDE * SIDE));
    esra_comparison c = compare(SIDE, SIDE, 3, 3);
    CHECK(c.psnr < 20 && c.psnr_fit > 100 && c.ssim_fit > 0.999999);
}

/* One gain for all channels undoes itself; of channels with gains of their own it is the one of least squares. */
static void one_exposure_is_one_gain(void)
{
    check_fill(b, 3 * SIDE * SIDE, 0, 1);
    for (int n = 0; n < 3 * SIDE * SIDE; n++)
        a[n] = 0.5f * b[n];
    esra_comparison c = compare(SIDE, SIDE, 3, 3);
    CHECK_NEAR(c.exposure, 2, 1e-12);
    CHECK(c.psnr < 20 && isinf(c.psnr_exposure));
    CHECK_NEAR(c.ssim_exposure, 1, 1e-12);
}

/* Of (.5, .25) towards (.5, .5) it is .375 / .3125 = 1.2: errors of .1 and .2, ten log of 1 / .025 dB. */
static void one_exposure_leaves_a_cast(void)
{
    for (int n = 0; n < 2 * SIDE * SIDE; n++) {
        a[n] = n < SIDE * SIDE ? 0.5f : 0.25f;
        b[n] = 0.5f;
    }
    esra_comparison c = compare(SIDE, SIDE, 2, 2);
    CHECK_NEAR(c.exposure, 1.2, 1e-12);
    CHECK_NEAR(c.psnr_exposure, 10 * log10(40), 1e-9);
    CHECK_NEAR(c.ssim_exposure, ((2 * .6 * .5 + 1e-4) / (.61 + 1e-4) + (2 * .3 * .5 + 1e-4) / (.34 + 1e-4)) / 2, 1e-9);
}

/* A program built before there was an exposure has no room for it. */
static void a_shorter_comparison_is_filled_as_far_as_it_goes(void)
{
    esra_image image = esra_image_planar(a, SIDE, SIDE, 1), truth = esra_image_planar(b, SIDE, SIDE, 1);
    esra_comparison old = {.struct_size = offsetof(esra_comparison, psnr_exposure), .psnr_exposure = 7, .exposure = 7};
    check_fill(a, SIDE * SIDE, 0, 1);
    check_fill(b, SIDE * SIDE, 0, 1);
    CHECK(esra_compare(&image, &truth, &old) == ESRA_OK);
    CHECK(old.ssim_fit != 0 && old.psnr_exposure == 7 && old.exposure == 7);
}

static void grey_stands_for_three_channels(void)
{
    check_fill(a, SIDE * SIDE, 0, 1);
    for (int c = 0; c < 3; c++)
        memcpy(b + c * SIDE * SIDE, a, SIDE * SIDE * sizeof(float));
    CHECK_NEAR(compare(SIDE, SIDE, 1, 3).ssim, 1, 1e-12);
}

static void small_and_flat_images_are_finite(void)
{
    memset(a, 0, sizeof a);
    for (int n = 0; n < SIDE * SIDE; n++)
        b[n] = 0.5f;
    for (int side = 1; side < 13; side++) {
        esra_comparison c = compare(side, 1, 1, 1);
        CHECK(isfinite(c.psnr) && isfinite(c.ssim) && c.ncc == 0);
        CHECK(c.exposure == 0 && c.psnr_exposure == c.psnr && isfinite(c.ssim_exposure));
    }
}

static void images_of_different_size_are_refused(void)
{
    esra_image image = esra_image_planar(a, 4, 4, 1), truth = esra_image_planar(b, 4, 5, 1);
    esra_comparison result = ESRA_COMPARISON_INIT;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_BAD_DATA);
    truth = esra_image_planar(b, 4, 4, 3);
    image.channels = 2;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_BAD_DATA);
    image.channels = -3;
    truth.channels = 1;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_BAD_DATA);
}

static void what_is_no_number_is_refused(void)
{
    esra_image image = esra_image_planar(a, 4, 4, 1), truth = esra_image_planar(b, 4, 4, 1);
    esra_comparison result = ESRA_COMPARISON_INIT;
    memset(a, 0, sizeof a);
    memset(b, 0, sizeof b);
    a[5] = NAN;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_BAD_DATA);
    CHECK(esra_compare(&truth, &image, &result) == ESRA_BAD_DATA);
    a[5] = 0;
    image.data = NULL;
    CHECK(esra_compare(&image, &truth, &result) == ESRA_BAD_ARGUMENT);
    CHECK(esra_compare(NULL, &truth, &result) == ESRA_BAD_ARGUMENT);
    CHECK(esra_compare(&truth, &truth, NULL) == ESRA_BAD_ARGUMENT);
}

/* One sample with strides of zero, for which no sum would ever end. */
static void images_beyond_every_memory_are_refused_at_once(void)
{
    esra_image image = {a, INT_MAX, INT_MAX, 1, 0, 0, 0};
    esra_comparison result = ESRA_COMPARISON_INIT;
    CHECK(esra_compare(&image, &image, &result) == ESRA_OUT_OF_MEMORY);
}

int main(void)
{
    RUN(equal_images_are_perfect);
    RUN(a_known_error_has_its_decibels);
    RUN(a_fit_undoes_gain_and_offset);
    RUN(one_exposure_is_one_gain);
    RUN(one_exposure_leaves_a_cast);
    RUN(a_shorter_comparison_is_filled_as_far_as_it_goes);
    RUN(grey_stands_for_three_channels);
    RUN(small_and_flat_images_are_finite);
    RUN(images_of_different_size_are_refused);
    RUN(what_is_no_number_is_refused);
    RUN(images_beyond_every_memory_are_refused_at_once);
    return check_report();
}
