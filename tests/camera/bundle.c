/* tests/camera/bundle.c - poses and depths from tracks whose truth is known. */
#include "camera/bundle.h"

#include "base/memory.h"
#include "camera/model.h"
#include "camera/scene.h"
#include "camera/thresholds.h"

#define TRACKS 300

static double truth[TRACKS];

/* Tracks at random places, of depths lowest..highest, seen with `noise` px of error, and `outliers` of them anywhere.
 */
static struct tracks make_tracks(const struct scene *s, int photos, int outliers, double lowest, double highest,
                                 double noise)
{
    struct tracks tracks = {.count = TRACKS, .photos = photos, .width = s->width, .height = s->height};
    tracks.at = esra_allocate(TRACKS * (size_t)photos, sizeof *tracks.at);
    for (int n = 0; n < TRACKS; n++) {
        double x = check_random(0, s->width - 1), y = check_random(0, s->height - 1), w = check_random(lowest, highest);
        truth[n] = w;
        for (int photo = 0; photo < photos; photo++) {
            struct sighting *at = track_at(&tracks, n, photo);
            scene_project(s, photo, x, y, w, &at->x, &at->y);
            if (photo > 0) {
                at->x += check_random(-noise, noise);
                at->y += check_random(-noise, noise);
            }
            if (photo > 0 && n < outliers) {
                at->x += check_random(-40, 40);
                at->y += check_random(-40, 40);
            }
            at->seen = photo == 0 || check_random(0, 1) < .9;
        }
    }
    return tracks;
}

/* Share of the pairs of good tracks, clearly apart in depth, whose order is right. */
static double order_of(const double *inverse, int outliers)
{
    int right = 0, all = 0;
    for (int a = outliers; a < TRACKS; a++)
        for (int b = a + 1; b < TRACKS; b++)
            if (!isnan(inverse[a]) && !isnan(inverse[b]) && fabs(truth[a] - truth[b]) > .1) {
                right += (truth[a] > truth[b]) == (inverse[a] > inverse[b]);
                all++;
            }
    return all ? (double)right / all : 0;
}

static void exact_tracks_give_the_camera(void)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    double inverse[TRACKS], u = 0, v = 0;
    int left = 0;
    scene_motion(&s, 600, 400, 15);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 40, .6, 1.4, .05);
    CHECK(esra_bundle(&camera, context, &tracks, inverse) == ESRA_OK);
    CHECK(camera.found && camera.tracks > 250);
    CHECK_NEAR(camera.error_px, 0, .1);
    CHECK(camera.parallax_px > 2);
    CHECK(camera.near > camera.far);
    CHECK(order_of(inverse, 40) > .999);
    for (int n = 40; n < TRACKS; n++)
        for (int photo = 1; photo < SCENE_PHOTOS; photo++) {
            const struct sighting *from = track_at(&tracks, n, 0), *to = track_at(&tracks, n, photo);
            left += isnan(inverse[n]);
            if (isnan(inverse[n]) || !to->seen)
                continue;
            CHECK(model_project(&camera, photo, from->x, from->y, inverse[n], &u, &v));
            CHECK_NEAR(hypot(u - to->x, v - to->y), 0, .25);
        }
    CHECK(left == 0);
    for (int k = 0; k < 9; k++)
        CHECK(camera.pose[0].r[k] == (k % 4 == 0) && camera.pose[0].t[k / 3] == 0);
    esra_camera_free(&camera);
    esra_tracks_free(&tracks);
    esra_context_free(&context);
}

static void two_photos_are_enough(void)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    double inverse[TRACKS];
    scene_motion(&s, 600, 400, 20);
    struct tracks tracks = make_tracks(&s, 2, 20, .6, 1.4, .05);
    CHECK(esra_bundle(&camera, context, &tracks, inverse) == ESRA_OK);
    CHECK(camera.found && camera.error_px < .1 && camera.parallax_px > 1);
    CHECK(order_of(inverse, 20) > .98);
    esra_camera_free(&camera);
    esra_tracks_free(&tracks);
    esra_context_free(&context);
}

static void a_turning_camera_shows_no_parallax(void)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    scene_motion(&s, 600, 400, 0);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 0, .6, 1.4, .1);
    CHECK(esra_bundle(&camera, context, &tracks, NULL) == ESRA_OK);
    CHECK(camera.error_px < .2 && camera.parallax_px < .2);
    esra_camera_free(&camera);
    esra_tracks_free(&tracks);
    esra_context_free(&context);
}

/* Where a lens of distortion k, in units of half the longer side, shows what a good one shows at (x, y). */
static void bend(const struct tracks *tracks, double k, struct sighting *at)
{
    double half = fmax(tracks->width, tracks->height) / 2.;
    double x = (at->x - tracks->width / 2.) / half, y = (at->y - tracks->height / 2.) / half, r = hypot(x, y), q = r;
    for (int n = 0; n < 20 && r > 0; n++)
        q = r / (1 - k * q * q);
    at->x = tracks->width / 2. + (r > 0 ? q / r : 1) * x * half;
    at->y = tracks->height / 2. + (r > 0 ? q / r : 1) * y * half;
}

static double bend_found(double k, double lowest, double highest)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    scene_motion(&s, 600, 400, 15);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 20, lowest, highest, .1);
    for (int n = 0; k != 0 && n < TRACKS * SCENE_PHOTOS; n++)
        bend(&tracks, k, &tracks.at[n]);
    CHECK(esra_bundle(&camera, context, &tracks, NULL) == ESRA_OK);
    double found = camera.bend;
    esra_camera_free(&camera);
    esra_tracks_free(&tracks);
    esra_context_free(&context);
    return found;
}

/* To a step of what is tried, .02; to two where there is a little depth too. */
static void a_lens_that_bends_lines_is_told_from_depth(void)
{
    CHECK_NEAR(bend_found(-.1, 1, 1), -.1, .021);
    CHECK_NEAR(bend_found(.06, 1, 1), .06, .021);
    CHECK_NEAR(bend_found(-.1, .98, 1.02), -.1, .041);
    CHECK(bend_found(0, 1, 1) == 0);
    CHECK(bend_found(0, .6, 1.4) == 0);
}

static void few_tracks_are_told(void)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    double inverse[TRACKS];
    scene_motion(&s, 600, 400, 15);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 0, .6, 1.4, 0);
    for (int count = 0, least = (int)camera_thresholds.tracks_least; count < least; count += least - 1) {
        tracks.count = count;
        CHECK(esra_bundle(&camera, context, &tracks, inverse) == ESRA_OK);
        CHECK(!camera.found && camera.tracks == 0 && camera.pose[3].r[0] == 1 && camera.pose[3].t[0] == 0);
        esra_camera_free(&camera);
    }
    esra_tracks_free(&tracks);
    esra_context_free(&context);
}

/* Photo 4 shows nothing: the others are found, and it is told by its number of tracks. */
static void a_photo_of_something_else_is_told(void)
{
    struct context *context = make_context(1);
    struct scene s;
    struct camera camera;
    scene_motion(&s, 600, 400, 15);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 0, .6, 1.4, .05);
    for (int n = 0; n < TRACKS; n++)
        track_at(&tracks, n, 4)->seen = false;
    CHECK(esra_bundle(&camera, context, &tracks, NULL) == ESRA_OK);
    CHECK(camera.found && camera.error_px < .1 && camera.pose[4].tracks == 0 && camera.pose[3].tracks > 200);
    esra_camera_free(&camera);
    esra_tracks_free(&tracks);
    esra_context_free(&context);
}

static void outliers_leave_the_epipolar_lines(void)
{
    struct scene s;
    int wrong = 0, right = 0, seen = 0;
    scene_motion(&s, 600, 400, 15);
    struct tracks tracks = make_tracks(&s, SCENE_PHOTOS, 90, .6, 1.4, .2);
    for (int n = 90; n < TRACKS; n++)
        seen += track_at(&tracks, n, 1)->seen;
    esra_tracks_check(&tracks, 1);
    for (int n = 0; n < TRACKS; n++)
        *(n < 90 ? &wrong : &right) += track_at(&tracks, n, 1)->seen;
    /* One in ten outliers lies near its line by chance: 40 px along and across, 1.5 px of tolerance. */
    CHECK(wrong < 20);
    CHECK(right >= seen - 2);
    esra_tracks_free(&tracks);
}

/* A corner of the first pixel is at (-.5, -.5) in every size. */
static void a_camera_has_any_size(void)
{
    struct pose poses[2] = {{.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
                            {.r = {1, -.01, .02, .01, 1, -.03, -.02, .03, 1}, .t = {.1, -.05, .02}}};
    struct camera small = {.photos = 2, .width = 320, .height = 240, .focal_px = 400, .k1 = -.02, .cx = 150, .cy = 125};
    small.pose = poses;
    struct camera large = small;
    esra_camera_resize(&large, 960, 720);
    CHECK(large.width == 960 && large.height == 720);
    for (int n = 0; n < 12; n++) {
        double x = 20 + 70 * (n % 4), y = 30 + 80 * (n / 4), w = .5 + .1 * n;
        double u = 0, v = 0, u_large = 0, v_large = 0;
        CHECK(model_project(&small, 1, x, y, w, &u, &v));
        CHECK(model_project(&large, 1, 3 * (x + .5) - .5, 3 * (y + .5) - .5, w, &u_large, &v_large));
        CHECK_NEAR(u_large, 3 * (u + .5) - .5, 1e-9);
        CHECK_NEAR(v_large, 3 * (v + .5) - .5, 1e-9);
    }
}

int main(void)
{
    RUN(exact_tracks_give_the_camera);
    RUN(two_photos_are_enough);
    RUN(a_turning_camera_shows_no_parallax);
    RUN(a_lens_that_bends_lines_is_told_from_depth);
    RUN(few_tracks_are_told);
    RUN(a_photo_of_something_else_is_told);
    RUN(outliers_leave_the_epipolar_lines);
    RUN(a_camera_has_any_size);
    return check_report();
}
