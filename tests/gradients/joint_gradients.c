/* tests/gradients/joint_gradients.c - the guide of layers is their gradients, and nothing across the border of what is
 * known. */
#include "gradients/joint_gradients.h"

#include "check.h"

#define WIDTH  20
#define HEIGHT 15
#define PIXELS (WIDTH * HEIGHT)

static void layers_become_gradients(void)
{
    struct message message;
    struct guide guide;
    struct image t, seen[2], trust[2];
    CHECK(esra_image_create(&t, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    check_fill(t.data, 3 * PIXELS, -0.2, 1.2);
    for (int i = 0; i < 2; i++) {
        CHECK(esra_image_create(&seen[i], WIDTH, HEIGHT, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&trust[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        check_fill(seen[i].data, 3 * PIXELS, 0, 1);
        check_fill(trust[i].data, PIXELS, 0.1, 1);
    }
    trust[1].data[3 * WIDTH + 4] = 0;
    CHECK(esra_guide_create(&guide, 2, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    esra_guide_take_transmitted(&guide, &t);
    for (int i = 0; i < 2; i++)
        esra_guide_take_reflected(&guide, i, &seen[i], &trust[i]);
    CHECK(guide.gradients[0].data[PIXELS + 7] == t.data[PIXELS + 7 + WIDTH] - t.data[PIXELS + 7]);
    CHECK(guide.gradients[3].data[30] == seen[0].data[31] - seen[0].data[30]);
    /* The four differences around the unknown pixel. */
    int hole = 2 * PIXELS + 3 * WIDTH + 4;
    CHECK(guide.gradients[4].data[hole] == 0 && guide.gradients[4].data[hole - WIDTH] == 0);
    CHECK(guide.gradients[5].data[hole] == 0 && guide.gradients[5].data[hole - 1] == 0);
    CHECK(guide.gradients[5].data[hole + 1] != 0);
    CHECK(guide.weights[1].data[3 * WIDTH + 4] == 0 && guide.weights[0].data[9] == trust[0].data[9]);
    esra_guide_free(&guide);
    for (int i = 0; i < 2; i++) {
        esra_image_free(&seen[i]);
        esra_image_free(&trust[i]);
    }
    esra_image_free(&t);
}

int main(void)
{
    RUN(layers_become_gradients);
    return check_report();
}
