/* tests/gradients/vote.c - the median finds the scene's gradients where the reflections do not meet. */
#include "gradients/vote.h"

#include "check.h"

#define WIDTH  64
#define HEIGHT 48
#define PHOTOS 3

static struct image photos[5], masks[5], scene;
static const double mixing[5] = {1, 1.1, 0.9, 1.05, 0.95};

/* A scene of smooth waves; photo i reflects one square that no other photo has. */
static void make_photos(void)
{
    struct message message;
    CHECK(esra_image_create(&scene, WIDTH, HEIGHT, 2, &message) == ESRA_OK);
    for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
        scene.data[n] = (float)(0.3 + 0.3 * sin(n % WIDTH * 0.2) * cos(n / WIDTH * 0.15));
    for (int i = 0; i < 5; i++) {
        CHECK(esra_image_create(&photos[i], WIDTH, HEIGHT, 2, &message) == ESRA_OK);
        CHECK(esra_image_create(&masks[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        for (int n = 0; n < 2 * WIDTH * HEIGHT; n++) {
            int x = n % WIDTH, y = n / WIDTH % HEIGHT;
            bool square = x >= 5 + 11 * i && x < 14 + 11 * i && y > 12 && y < 30;
            photos[i].data[n] = (float)mixing[i] * scene.data[n] + (square ? 0.25f : 0);
        }
        for (int n = 0; n < WIDTH * HEIGHT; n++)
            masks[i].data[n] = 1;
    }
}

static void free_photos(void)
{
    for (int i = 0; i < 5; i++) {
        esra_image_free(&photos[i]);
        esra_image_free(&masks[i]);
    }
    esra_image_free(&scene);
}

static void make_guide(struct guide *guide, int m, const double *a, int threads)
{
    struct message message;
    struct context *context;
    CHECK(esra_context_create(&context, threads, &message) == ESRA_OK);
    CHECK(esra_guide_from_vote(guide, &(struct vote){m, photos, masks, a}, context) == ESRA_OK);
    esra_context_free(&context);
}

/* E_0 at sample n of a picture, down or right. */
static float voted(const struct guide *guide, int right, int n)
{
    return guide->voted[2 * (n / (WIDTH * HEIGHT)) + right].data[n % (WIDTH * HEIGHT)];
}

static void the_scene_wins(void)
{
    struct guide guide;
    make_photos();
    make_guide(&guide, PHOTOS, mixing, 2);
    double gradient = 0;
    for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
        if (n % WIDTH < WIDTH - 1)
            gradient = fmax(gradient, fabs(voted(&guide, 1, n) - (scene.data[n + 1] - scene.data[n])));
    CHECK_NEAR(gradient, 0, 1e-6);
    esra_guide_free(&guide);
    free_photos();
}

/* Of what one photo does not see the others decide, and it has no weight there. */
static void who_does_not_see_has_no_vote(void)
{
    struct guide guide;
    make_photos();
    for (int n = 0; n < WIDTH * 20; n++)
        masks[1].data[n] = 0;
    for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
        photos[1].data[n] += n % (WIDTH * HEIGHT) < WIDTH * 20 ? (float)check_random(0, 1) : 0;
    make_guide(&guide, 5, mixing, 2);
    for (int n = 0; n < WIDTH * (HEIGHT - 1); n++) {
        CHECK_NEAR(voted(&guide, 0, n), scene.data[n + WIDTH] - scene.data[n], 1e-6);
        CHECK(guide.weights[1].data[n] == (n >= WIDTH * 20));
    }
    esra_guide_free(&guide);
    free_photos();
}

static void threads_do_not_change_a_bit(void)
{
    struct guide one, many;
    make_photos();
    make_guide(&one, 4, mixing, 1);
    for (int threads = 2; threads <= 8; threads += 3) {
        make_guide(&many, 4, mixing, threads);
        for (int k = 0; k < 4; k++)
            CHECK(memcmp(one.voted[k].data, many.voted[k].data, WIDTH * HEIGHT * sizeof(float)) == 0);
        esra_guide_free(&many);
    }
    esra_guide_free(&one);
    free_photos();
}

static void check_finite(int m, const double *a)
{
    struct guide guide;
    make_guide(&guide, m, a, 2);
    for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
        CHECK(isfinite(voted(&guide, 0, n)) && isfinite(voted(&guide, 1, n)));
    esra_guide_free(&guide);
}

static void degenerate_votes_stay_finite(void)
{
    static const double zero[5];
    make_photos();
    check_finite(1, mixing);
    check_finite(2, mixing);
    check_finite(3, zero);
    for (int i = 0; i < 5; i++)
        memset(masks[i].data, 0, WIDTH * HEIGHT * sizeof(float));
    check_finite(3, mixing);
    free_photos();
}

int main(void)
{
    RUN(the_scene_wins);
    RUN(who_does_not_see_has_no_vote);
    RUN(threads_do_not_change_a_bit);
    RUN(degenerate_votes_stay_finite);
    return check_report();
}
