/* tests/evidence/noise.c - of a difference that is white noise a blur leaves next to nothing, of a second layer much.
 */
#include "evidence/noise.h"

#include "../pipeline/patches.h"
#include "check.h"

#define WIDTH   160
#define HEIGHT  120
#define SAMPLES (WIDTH * HEIGHT)

static struct patches behind, mirrored;

static void noise_is_told_from_layers(void)
{
    struct context *context = NULL;
    struct message message = {""};
    struct image images[2], mask;
    struct noise_pair pair = {&images[0], &images[1], &mask, 1.3};
    double share;
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    CHECK(esra_image_create(&mask, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    for (int k = 0; k < 2; k++)
        CHECK(esra_image_create(&images[k], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    make_patches(&behind, WIDTH, HEIGHT);
    make_patches(&mirrored, WIDTH, HEIGHT);
    for (int layers = 0; layers < 2; layers++) {
        for (int n = 0; n < SAMPLES; n++) {
            double value = patch_at(&behind, n % WIDTH, n / WIDTH, 1);
            images[0].data[n] = (float)(value + check_random(-.02, .02));
            value += layers * .1 * patch_at(&mirrored, n % WIDTH, n / WIDTH, 1);
            images[1].data[n] = (float)(1.3 * (value + .05 + check_random(-.02, .02)));
            mask.data[n] = n % WIDTH > 9;
        }
        CHECK(esra_noise_structure(context, &pair, &share) == ESRA_OK);
        CHECK(layers ? share > .4 : fabs(share - 1 / (16 * 3.14159)) < .005);
    }
    for (int n = 0; n < SAMPLES; n++)
        mask.data[n] = 0;
    CHECK(esra_noise_structure(context, &pair, &share) == ESRA_OK && share == 1);
    esra_image_free(&images[0]);
    esra_image_free(&images[1]);
    esra_image_free(&mask);
    esra_context_free(&context);
}

int main(void)
{
    RUN(noise_is_told_from_layers);
    return check_report();
}
