/* tests/pipeline/oddities.c - photos that are odd in one way each are told so, in that way and no other; good ones are
 * not. */
#include <esra/esra.h>

#include "check.h"
#include "patches.h"

#define WIDTH   160
#define HEIGHT  120
#define PHOTOS  4
#define SAMPLES (WIDTH * HEIGHT)

#define ODD                                                                                                            \
    (ESRA_WARN_TWO_PHOTOS | ESRA_WARN_ZOOM | ESRA_WARN_FOCUS | ESRA_WARN_OPAQUE | ESRA_WARN_MOVING |                   \
     ESRA_WARN_EXCHANGED | ESRA_WARN_LENS)

static float photos[PHOTOS][SAMPLES], transmitted[SAMPLES];
static esra_image views[PHOTOS];

static struct patches behind, mirrored;

/* How a series is taken. */
struct series {
    double scene, mirror; /* how strong the layers are */
    double edge;          /* of the mirrored layer: how far it is out of focus */
    double zoom;          /* photo 1's scale */
    bool together;        /* both layers move alike */
    double bend;  /* of the lens: what a good one shows at q (1 - bend |q|^2) is seen at q, half the width being 1 */
    double reach; /* so many times as far the camera moves */
};

static const struct series good = {.7, .25, 1, 1, false, 0, 1};
static const double way[PHOTOS][2] = {{0, 0}, {3, -2}, {-4, 1}, {2, 4}};
static const double mirror_way[PHOTOS][2] = {{0, 0}, {-6, 5}, {7, 4}, {-3, -7}};

static void take(const struct series *s)
{
    make_patches(&behind, WIDTH, HEIGHT);
    make_patches(&mirrored, WIDTH, HEIGHT);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < SAMPLES; n++) {
            const double *other = s->together ? way[i] : mirror_way[i];
            double scale = i == 1 ? s->zoom : 1;
            double across = n % WIDTH - WIDTH / 2., down = n / WIDTH - HEIGHT / 2.;
            double straight = 1 - s->bend * (across * across + down * down) * 4 / (WIDTH * WIDTH);
            double x = WIDTH / 2. + across * straight / scale, y = HEIGHT / 2. + down * straight / scale;
            photos[i][n] =
                (float)(s->scene * patch_at(&behind, x - s->reach * way[i][0], y - s->reach * way[i][1], 1) +
                        s->mirror * patch_at(&mirrored, x - s->reach * other[0], y - s->reach * other[1], s->edge) +
                        check_random(-0.002, 0.002));
        }
}

static esra_separation separate_by(esra_motion motion, int count)
{
    esra_solver *solver;
    esra_settings settings;
    esra_photos input = ESRA_PHOTOS_INIT;
    esra_separation s = ESRA_SEPARATION_INIT;
    for (int i = 0; i < PHOTOS; i++)
        views[i] = esra_image_planar(photos[i], WIDTH, HEIGHT, 1);
    input.photos = count;
    input.images = views;
    input.motion = motion;
    s.transmitted = esra_image_planar(transmitted, WIDTH, HEIGHT, 1);
    esra_settings_default(&settings);
    settings.lambda = 0.003;
    settings.gap = 0.05;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &input, &settings, &s) == ESRA_OK);
    esra_solver_free(&solver);
    return s;
}

static esra_separation separate(int count)
{
    return separate_by(ESRA_MOTION_HOMOGRAPHY, count);
}

static void check_odd(const esra_separation *s, unsigned odd)
{
    if (!CHECK((s->warnings & ODD) == odd))
        printf("    warnings %x, expected %x\n", s->warnings & ODD, odd);
}

static void good_photos_are_not_odd(void)
{
    take(&good);
    esra_separation s = separate(PHOTOS);
    CHECK(s.method == ESRA_METHOD_JOINT);
    check_odd(&s, 0);
}

static void two_photos_are_told(void)
{
    take(&good);
    esra_separation s = separate(2);
    check_odd(&s, ESRA_WARN_TWO_PHOTOS);
}

static void zoom_is_told(void)
{
    struct series zoomed = good;
    zoomed.zoom = 1.08;
    take(&zoomed);
    esra_separation s = separate(PHOTOS);
    check_odd(&s, ESRA_WARN_ZOOM);
}

/* The camera is found where motions are tried, not where they are told. */
static void a_lens_that_bends_lines_is_told(void)
{
    struct series bent = good;
    bent.mirror = .05;
    bent.reach = 3;
    for (int n = CHECK_THREADS ? 1 : 0; n < 2; n++) {
        bent.bend = n ? -.12 : 0;
        take(&bent);
        esra_separation s = separate_by(ESRA_MOTION_AUTO, PHOTOS);
        CHECK(!(s.warnings & ESRA_WARN_LENS) == !n);
    }
}

/* Photo i through a lens that is out of focus: means of 5 x 5 px. */
static void defocus(int i)
{
    static float sharp[SAMPLES];
    memcpy(sharp, photos[i], sizeof sharp);
    for (int y = 2; y < HEIGHT - 2; y++)
        for (int x = 2; x < WIDTH - 2; x++) {
            double sum = 0;
            for (int k = 0; k < 25; k++)
                sum += sharp[(y + k / 5 - 2) * WIDTH + x + k % 5 - 2];
            photos[i][y * WIDTH + x] = (float)(sum / 25);
        }
}

static void focus_is_told(void)
{
    take(&good);
    defocus(1);
    defocus(1);
    esra_separation s = separate(PHOTOS);
    CHECK(s.warnings & ESRA_WARN_FOCUS);
    CHECK(!(s.warnings & (ODD & ~(unsigned)(ESRA_WARN_FOCUS | ESRA_WARN_EXCHANGED))));
}

/* Bars that hide, so near that they move further than either layer. */
static void a_fence_is_told(void)
{
    static const int bars[PHOTOS] = {0, 13, 29, 40};
    take(&good);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < SAMPLES; n++)
            if ((n % WIDTH + bars[i]) % 53 < 5 && n / WIDTH > 20)
                photos[i][n] *= .4f;
    esra_separation s = separate(PHOTOS);
    CHECK(s.warnings & ESRA_WARN_OPAQUE);
}

/* Somebody who walks through the scene, in every photo elsewhere. */
static void people_are_told(void)
{
    take(&good);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < SAMPLES; n++) {
            double x = (n % WIDTH - 25 - 34 * i) / 8., y = (n / WIDTH - 60) / 20.;
            if (x * x + y * y < 1)
                photos[i][n] = (float)(.9 - .4 * x);
        }
    esra_separation s = separate(PHOTOS);
    check_odd(&s, ESRA_WARN_MOVING);
}

static void layers_as_strong_as_each_other_are_told(void)
{
    struct series alike = good;
    alike.scene = .45;
    alike.mirror = .4;
    take(&alike);
    esra_separation s = separate(PHOTOS);
    check_odd(&s, ESRA_WARN_EXCHANGED);
    CHECK(s.exchange_probability > .2 && s.exchange_probability <= .5);
}

/* Two layers that move together are one: the photo comes back, and is not called something else. */
static void layers_that_move_together_are_told(void)
{
    struct series still = good;
    still.together = true;
    take(&still);
    esra_separation s = separate(PHOTOS);
    CHECK(s.method == ESRA_METHOD_NONE && (s.warnings & ESRA_WARN_ONE_MOTION));
    check_odd(&s, 0);
    CHECK(memcmp(transmitted, photos[0], sizeof transmitted) == 0);
}

int main(void)
{
    RUN(good_photos_are_not_odd);
    RUN(two_photos_are_told);
    RUN(a_lens_that_bends_lines_is_told);
    RUN(layers_that_move_together_are_told);
    if (!CHECK_THREADS) { /* the steps of good photos once more */
        RUN(zoom_is_told);
        RUN(focus_is_told);
        RUN(a_fence_is_told);
        RUN(people_are_told);
        RUN(layers_as_strong_as_each_other_are_told);
    }
    return check_report();
}
