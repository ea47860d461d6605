/* tests/evidence/opposed.c - unrelated layers share gradients of either sign alike; a ghost that one has and the other
 * takes back does not pass. */
#include "evidence/opposed.h"
#include "check.h"

#define WIDTH  64
#define HEIGHT 48

static struct message message;

static struct image make(int channels)
{
    struct image image;
    CHECK(esra_image_create(&image, WIDTH, HEIGHT, channels, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT * channels; n++)
        image.data[n] = (float)check_random(0, 1);
    return image;
}

static void unrelated_layers_pass(void)
{
    struct image a = make(3), b = make(3);
    double opposed = esra_opposed(&a, &b);
    CHECK(opposed > .9 && opposed < 1.1);
    CHECK(esra_opposed(&a, &a) == 0);
    esra_image_free(&a);
    esra_image_free(&b);
}

static void ghosts_are_seen(void)
{
    struct image a = make(1), b = make(1), ghost = make(1);
    for (int n = 0; n < WIDTH * HEIGHT; n++) {
        a.data[n] += .5f * ghost.data[n];
        b.data[n] -= .5f * ghost.data[n];
    }
    double opposed = esra_opposed(&a, &b);
    CHECK(opposed > 1.3);
    CHECK(esra_opposed(&b, &a) == opposed);
    esra_image_free(&a);
    esra_image_free(&b);
    esra_image_free(&ghost);
}

static void images_without_gradients_are_unrelated(void)
{
    struct image a = make(1), b = make(1);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        b.data[n] = .5f;
    CHECK(esra_opposed(&a, &b) == 1);
    esra_image_free(&a);
    esra_image_free(&b);
}

int main(void)
{
    RUN(unrelated_layers_pass);
    RUN(ghosts_are_seen);
    RUN(images_without_gradients_are_unrelated);
    return check_report();
}
