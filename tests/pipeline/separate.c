/* tests/pipeline/separate.c - photos made from two known layers go in, the layers come out; photos that cannot be
 * separated come back as they were. */
#define _GNU_SOURCE
#include <sched.h>

#include <esra/esra.h>

#include "check.h"
#include "patches.h"

#define WIDTH   160
#define HEIGHT  120
#define PHOTOS  3
#define SAMPLES (WIDTH * HEIGHT)

static float photos[PHOTOS][SAMPLES], reflected[PHOTOS][SAMPLES], transmitted[SAMPLES], confidence[SAMPLES];
static esra_image photo_views[PHOTOS], reflected_views[PHOTOS];
static esra_transform scene_motion[PHOTOS], mirror_motion[PHOTOS];
static double mixing[PHOTOS], gains[PHOTOS];
static esra_photo_facts facts[PHOTOS];
static double evidence[100];
static esra_info info;
static bool in_place; /* what photos reflect goes to where they are */

static struct patches behind, mirrored;
static const double scene_shift[PHOTOS][2] = {{0, 0}, {3, -2}, {-4, 1}},
                    mirror_shift[PHOTOS][2] = {{0, 0}, {-6, 5}, {7, 4}};

static double truth_at(int x, int y)
{
    return 0.7 * patch_at(&behind, x, y, 1);
}

static void make_photos(void)
{
    make_patches(&behind, WIDTH, HEIGHT);
    make_patches(&mirrored, WIDTH, HEIGHT);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < SAMPLES; n++) {
            double x = n % WIDTH, y = n / WIDTH;
            photos[i][n] = (float)(0.7 * patch_at(&behind, x - scene_shift[i][0], y - scene_shift[i][1], 1) +
                                   0.25 * patch_at(&mirrored, x - mirror_shift[i][0], y - mirror_shift[i][1], 1) +
                                   check_random(-0.002, 0.002));
        }
}

static esra_photos photos_input(int count)
{
    esra_photos input = ESRA_PHOTOS_INIT;
    for (int i = 0; i < PHOTOS; i++)
        photo_views[i] = esra_image_planar(photos[i], WIDTH, HEIGHT, 1);
    input.photos = count;
    input.images = photo_views;
    return input;
}

static esra_separation room(void)
{
    esra_separation s = ESRA_SEPARATION_INIT;
    for (int i = 0; i < PHOTOS; i++)
        reflected_views[i] = esra_image_planar(in_place ? photos[i] : reflected[i], WIDTH, HEIGHT, 1);
    s.transmitted = esra_image_planar(transmitted, WIDTH, HEIGHT, 1);
    s.reflected = reflected_views;
    s.confidence = esra_image_planar(confidence, WIDTH, HEIGHT, 1);
    s.transmitted_motion = scene_motion;
    s.reflected_motion = mirror_motion;
    s.mixing = mixing;
    s.reflection_gain = gains;
    s.facts = facts;
    s.evidence = evidence;
    info = (esra_info)ESRA_INFO_INIT;
    s.info = &info;
    return s;
}

static esra_separation separate(const esra_photos *input, int threads)
{
    esra_solver *solver;
    esra_settings settings;
    esra_separation s = room();
    esra_settings_default(&settings);
    settings.lambda = 0.003;
    settings.gap = 0.05;
    settings.threads = threads;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    if (!CHECK(esra_solver_separate(solver, input, &settings, &s) == ESRA_OK))
        printf("    %s\n", esra_solver_message(solver));
    esra_solver_free(&solver);
    return s;
}

static double error_of(const float *image)
{
    double sum = 0;
    for (int n = 0; n < SAMPLES; n++)
        sum += pow(image[n] - truth_at(n % WIDTH, n / WIDTH), 2);
    return sqrt(sum / SAMPLES);
}

static double measured(const char *name)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    for (size_t n = 0; n < count; n++)
        if (strcmp(rows[n].name, name) == 0)
            return evidence[n];
    return NAN;
}

static void layers_are_recovered(void)
{
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    double before = error_of(photos[0]);
    esra_separation s = separate(&input, 1);
    CHECK(s.method == ESRA_METHOD_JOINT && s.info->gap <= 0.05 && s.info->bound <= s.info->objective);
    for (int i = 1; i < PHOTOS; i++) {
        CHECK(facts[i].aligned && fabs(mixing[i] - 1) < 0.02);
        CHECK_NEAR(scene_motion[i].h[2], scene_shift[i][0], 0.2);
        CHECK_NEAR(scene_motion[i].h[5], scene_shift[i][1], 0.2);
        CHECK_NEAR(mirror_motion[i].h[2], mirror_shift[i][0], 1);
        CHECK_NEAR(mirror_motion[i].h[5], mirror_shift[i][1], 1);
    }
    if (!CHECK(error_of(transmitted) < before / 3))
        printf("    error %.4f of the photo, %.4f of the layer\n", before, error_of(transmitted));
    /* Motions that predict well are no reason not to judge the layers, nor to try depth. */
    CHECK(measured("flat.prediction_error") < .45 * measured("flat.prediction_base"));
    CHECK(measured("delivered.prediction_alone") > 0 && measured("delivered.trusted") > .5);
    CHECK(isnan(measured("depth.structure")));
}

static void threads_do_not_change_a_bit(void)
{
    static float first[SAMPLES], first_reflected[SAMPLES];
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    for (int threads = 1; threads <= 5; threads += 2) {
        separate(&input, threads);
        if (threads == 1) {
            memcpy(first, transmitted, sizeof first);
            memcpy(first_reflected, reflected[1], sizeof first_reflected);
        }
        CHECK(memcmp(first, transmitted, sizeof first) == 0);
        CHECK(memcmp(first_reflected, reflected[1], sizeof first_reflected) == 0);
    }
}

/* Layers that take the photos' place are those that have a place of their own. */
static void layers_may_take_the_photos_place(void)
{
    static float first[SAMPLES], first_reflected[PHOTOS][SAMPLES];
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    separate(&input, 2);
    memcpy(first, transmitted, sizeof first);
    memcpy(first_reflected, reflected, sizeof first_reflected);
    in_place = true;
    separate(&input, 2);
    in_place = false;
    CHECK(memcmp(first, transmitted, sizeof first) == 0);
    CHECK(memcmp(first_reflected, photos, sizeof first_reflected) == 0);
}

static void the_same_photo_twice_comes_back(void)
{
    make_photos();
    memcpy(photos[1], photos[0], sizeof photos[0]);
    esra_photos input = photos_input(2);
    esra_separation s = separate(&input, 1);
    CHECK(s.method == ESRA_METHOD_NONE && (s.warnings & ESRA_WARN_SAME_PHOTO));
    CHECK(memcmp(transmitted, photos[0], sizeof transmitted) == 0);
}

struct stop {
    int calls, at;
};

static int stop(void *user, const esra_info *so_far)
{
    struct stop *stop = user;
    (void)so_far;
    return ++stop->calls == stop->at;
}

/* Whatever the call before left in the struct: where nothing is solved, nothing is told of a solve. */
static void nothing_old_is_told(void)
{
    esra_solver *solver;
    make_photos();
    esra_photos good = photos_input(PHOTOS);
    esra_separation s = room();
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &good, NULL, &s) == ESRA_OK && s.method != ESRA_METHOD_NONE &&
          s.info->objective > 0);
    s.warnings = ~0u;
    memcpy(photos[1], photos[0], sizeof photos[0]);
    esra_photos same = photos_input(2);
    CHECK(esra_solver_separate(solver, &same, NULL, &s) == ESRA_OK && s.method == ESRA_METHOD_NONE);
    CHECK(s.info->outcome == ESRA_INACCURATE && s.info->objective == 0 && s.info->stage);
    CHECK((s.warnings & ESRA_WARN_SAME_PHOTO) && !(s.warnings & ESRA_WARN_NOT_ALIGNED));
    s.info->outcome = ESRA_STOPPED;
    CHECK(esra_solver_align(solver, &same, NULL, &s) == ESRA_OK && s.info->outcome == ESRA_INACCURATE);
    esra_solver_free(&solver);
}

/* An alignment that is stopped at once tells that nothing moves. */
static void a_stopped_alignment_is_told(void)
{
    struct stop at_once = {0, 1};
    esra_solver *solver;
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    esra_separation s = room();
    memset(scene_motion, 0xee, sizeof scene_motion);
    memset(mixing, 0xee, sizeof mixing);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_solver_set_progress(solver, stop, &at_once);
    CHECK(esra_solver_align(solver, &input, NULL, &s) == ESRA_OK && s.info->outcome == ESRA_STOPPED);
    for (int i = 0; i < PHOTOS; i++)
        CHECK(scene_motion[i].h[0] == 1 && scene_motion[i].h[2] == 0 && mixing[i] == 1);
    esra_solver_free(&solver);
}

static void unrelated_photos_come_back(void)
{
    struct patches other;
    make_photos();
    make_patches(&other, WIDTH, HEIGHT);
    for (int n = 0; n < SAMPLES; n++)
        photos[1][n] = (float)patch_at(&other, n % WIDTH, n / WIDTH, 1);
    esra_photos input = photos_input(2);
    esra_separation s = separate(&input, 1);
    CHECK(s.method == ESRA_METHOD_NONE && (s.warnings & ESRA_WARN_NOT_ALIGNED));
    CHECK(memcmp(transmitted, photos[0], sizeof transmitted) == 0);
}

/* Wherever the call comes, in the midst of a step too: nobody is asked again, and the photo comes back, or layers where
 * there are any. The solver is none the worse. */
static void a_stop_is_heeded(void)
{
    esra_solver *solver;
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int at = 1; at < 40; at += 1 + at / 4) {
        struct stop state = {0, at};
        esra_separation s = room();
        esra_solver_set_progress(solver, stop, &state);
        CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_OK);
        if (state.calls < at)
            break;
        CHECK(state.calls == at && s.info->outcome == ESRA_STOPPED);
        CHECK(s.method != ESRA_METHOD_NONE || memcmp(transmitted, photos[0], sizeof transmitted) == 0);
    }
    esra_solver_free(&solver);
}

#if defined(CPU_COUNT) && !defined(__wasm__)
/* Leaves the process one processor as soon as there is something to do. */
static int take_processors_away(void *user, const esra_info *so_far)
{
    cpu_set_t *allowed = user, one;
    if (strcmp(so_far->stage, "separate") != 0)
        return 0;
    int processor = 0;
    while (!CPU_ISSET(processor, allowed))
        processor++;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    sched_setaffinity(0, sizeof one, &one);
    return 0;
}

/* A container's share may change at any time: the solve within keeps the threads that the separation began with. */
static void processors_may_go(void)
{
    esra_solver *solver;
    cpu_set_t allowed;
    make_photos();
    esra_photos input = photos_input(PHOTOS);
    esra_separation s = room();
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int processors = CPU_COUNT(&allowed);
    if (processors == 1)
        printf("  skipped: there is one processor\n");
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_solver_set_progress(solver, take_processors_away, &allowed);
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_OK);
    CHECK(s.method == ESRA_METHOD_JOINT && s.info->threads == (processors < 256 ? processors : 256));
    sched_setaffinity(0, sizeof allowed, &allowed);
    esra_solver_free(&solver);
}
#endif

static void mistakes_are_told(void)
{
    esra_solver *solver;
    esra_separation s = room();
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_photos input = photos_input(1);
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_BAD_DATA);
    CHECK(strstr(esra_solver_message(solver), "two photos") != NULL);
    input.photos = 2;
    photo_views[1].width = 3;
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_BAD_DATA);
    input = photos_input(2);
    photos[1][5] = NAN;
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_BAD_DATA);
    photos[1][5] = 0;
    input.reference = 2;
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_BAD_ARGUMENT);
    s.struct_size = 0;
    CHECK(esra_solver_separate(solver, &input, NULL, &s) == ESRA_BAD_ARGUMENT);
    esra_solver_free(&solver);
}

int main(void)
{
    RUN(layers_are_recovered);
    RUN(threads_do_not_change_a_bit);
    RUN(layers_may_take_the_photos_place);
    RUN(the_same_photo_twice_comes_back);
    RUN(nothing_old_is_told);
    RUN(a_stopped_alignment_is_told);
    RUN(unrelated_photos_come_back);
    RUN(a_stop_is_heeded);
#if defined(CPU_COUNT) && !defined(__wasm__)
    RUN(processors_may_go);
#endif
    RUN(mistakes_are_told);
    return check_report();
}
