/* tests/evidence/sharpness.c - focus is seen whatever moves, and which of two layers is the stronger whatever its
 * colour. */
#include "evidence/sharpness.h"

#include "../pipeline/patches.h"
#include "check.h"

#define WIDTH  160
#define HEIGHT 120

static struct context *context;
static struct message message;

/* Patches with edges so many px wide, moved by `right`. */
static struct image paint(const struct patches *patches, double edge, double right, double strength)
{
    struct image image;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        image.data[n] = (float)(strength * patch_at(patches, n % WIDTH - right, n / WIDTH, edge));
    return image;
}

static double sharpness(const struct image *image)
{
    double result = 0;
    CHECK(esra_sharpness(context, image, true, &result) == ESRA_OK);
    return result;
}

static void motion_leaves_it_and_focus_does_not(void)
{
    struct patches patches;
    make_patches(&patches, WIDTH, HEIGHT);
    struct image still = paint(&patches, 1, 0, 1), moved = paint(&patches, 1, 6.4, 1), soft = paint(&patches, 7, 0, 1);
    CHECK_NEAR(sharpness(&moved) / sharpness(&still), 1, .15);
    CHECK(sharpness(&soft) < .6 * sharpness(&still));
    esra_image_free(&still);
    esra_image_free(&moved);
    esra_image_free(&soft);
}

static void an_even_image_has_one(void)
{
    struct image even;
    CHECK(esra_image_create(&even, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    CHECK(sharpness(&even) == 1);
    esra_image_free(&even);
}

static double energy(const struct image *transmitted, const struct image *reflected)
{
    double result = 0;
    CHECK(esra_layer_energy(context, transmitted, reflected, &result) == ESRA_OK);
    return result;
}

static void the_stronger_layer_has_more_energy(void)
{
    struct patches one, other;
    make_patches(&one, WIDTH, HEIGHT);
    make_patches(&other, WIDTH, HEIGHT);
    struct image sharp = paint(&one, 1, 0, 1), soft = paint(&other, 8, 0, .5);
    CHECK(energy(&sharp, &soft) < .5);
    CHECK_NEAR(energy(&sharp, &soft) * energy(&soft, &sharp), 1, 1e-6);
    esra_image_free(&sharp);
    esra_image_free(&soft);
}

/* What is red has a third of the brightness, and as many edges. */
static void colours_count(void)
{
    struct patches patches;
    struct image red, grey = {0};
    make_patches(&patches, WIDTH, HEIGHT);
    struct image one = paint(&patches, 1, 0, 1);
    CHECK(esra_image_create(&red, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    CHECK(esra_image_create(&grey, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++) {
        red.data[n] = one.data[n];
        for (int c = 0; c < 3; c++)
            grey.data[c * WIDTH * HEIGHT + n] = .5f * one.data[n];
    }
    CHECK_NEAR(energy(&red, &grey), .75, 1e-5);
    esra_image_free(&one);
    esra_image_free(&red);
    esra_image_free(&grey);
}

int main(void)
{
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    RUN(motion_leaves_it_and_focus_does_not);
    RUN(an_even_image_has_one);
    RUN(the_stronger_layer_has_more_energy);
    RUN(colours_count);
    esra_context_free(&context);
    return check_report();
}
