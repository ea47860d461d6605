/* tests/pipeline/stops.c - a caller that has had enough, at every place that asks: the photo comes back, and nothing is
 * told of what was left half-way. The linker's --wrap puts a clock in place of the timer's that runs a second at every
 * look, so that nobody finds it too early to ask, and notes who asks. */
#include <esra/esra.h>

#include "base/context.h"
#include "check.h"

double __wrap_esra_timer_now_s(void);
double __wrap_esra_timer_now_s(void)
{
    static double now_s;
    return now_s += 1;
}

/* Places in the code that ask, in the order in which they first do. */
#define PLACES 100
static struct place {
    void *address;
    int questions;
} places[PLACES];
static int place_count;

/* The question that is answered with yes: so many of a place. */
static int yes_place, yes_question;
static bool yes;

bool __real_esra_context_stopping(struct context *context);
bool __wrap_esra_context_stopping(struct context *context);
bool __wrap_esra_context_stopping(struct context *context)
{
    int n = 0;
    while (n < place_count && places[n].address != __builtin_return_address(0))
        n++;
    if (n == place_count && CHECK(n < PLACES))
        places[place_count++] = (struct place){__builtin_return_address(0), 0};
    yes = yes || (++places[n].questions == yes_question && n == yes_place);
    return __real_esra_context_stopping(context);
}

#define PHOTOS 3

struct scene {
    int width, height, answers; /* with yes */
    esra_motion motion, found;  /* wanted, taken */
    float *photos, *transmitted;
};

/* By depth, nothing that was found is wanted either. */
static bool is_unwanted(const struct scene *scene)
{
    return scene->motion == ESRA_MOTION_DEPTH;
}

static int answer(void *user, const esra_info *so_far)
{
    struct scene *scene = user;
    CHECK(so_far->stage && so_far->stage[0]);
    scene->answers += yes;
    return !yes ? 0 : is_unwanted(scene) ? -1 : 1;
}

/* Patches of random grey that move with (across, down). */
static float patch(double x, double y, double size, uint64_t salt)
{
    uint64_t hash = (uint64_t)(int64_t)(floor(x / size) + 1000) * 73856093u ^
                    (uint64_t)(int64_t)(floor(y / size) + 1000) * 19349663u ^ salt * 83492791u;
    hash = (hash ^ hash >> 13) * 0x9e3779b97f4a7c15u;
    return (float)(hash >> 40) / (float)(1 << 24);
}

static void scene_create(struct scene *scene, int width, int height, esra_motion motion)
{
    size_t samples = (size_t)width * (size_t)height;
    *scene = (struct scene){.width = width, .height = height, .motion = motion};
    scene->photos = malloc(PHOTOS * samples * sizeof(float));
    scene->transmitted = malloc(samples * sizeof(float));
    for (int i = 0; i < PHOTOS; i++)
        for (size_t n = 0; n < samples; n++) {
            double x = (double)(n % (size_t)width), y = (double)(n / (size_t)width);
            /* A half that is nearer, and moves more. */
            double near = x > .5 * width ? 1.6 : 1;
            scene->photos[(size_t)i * samples + n] =
                .1f + .5f * patch(x - 3 * near * i, y + 2 * near * i, 7, 1) + .2f * patch(x + 2 * i, y + 3 * i, 12, 2);
        }
}

static void scene_free(struct scene *scene)
{
    free(scene->photos);
    free(scene->transmitted);
}

/* Separates, and says yes to that question; returns how it ended. */
static esra_outcome separate(struct scene *scene, int place, int question)
{
    size_t samples = (size_t)scene->width * (size_t)scene->height;
    esra_image views[PHOTOS];
    esra_solver *solver;
    esra_settings settings;
    esra_photos input = ESRA_PHOTOS_INIT;
    esra_info info = ESRA_INFO_INIT;
    esra_separation s = ESRA_SEPARATION_INIT;
    for (int i = 0; i < PHOTOS; i++)
        views[i] = esra_image_planar(scene->photos + (size_t)i * samples, scene->width, scene->height, 1);
    input.photos = PHOTOS;
    input.images = views;
    input.motion = scene->motion;
    s.info = &info;
    s.transmitted = esra_image_planar(scene->transmitted, scene->width, scene->height, 1);
    esra_settings_default(&settings);
    settings.threads = 1;
    settings.max_iterations = 20;
    scene->answers = 0;
    yes = false;
    yes_place = place;
    yes_question = question;
    for (int n = 0; n < place_count; n++)
        places[n].questions = 0;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_solver_set_progress(solver, answer, scene);
    if (!CHECK(esra_solver_separate(solver, &input, &settings, &s) == ESRA_OK))
        printf("    at question %d of place %d: %s\n", question, place, esra_solver_message(solver));
    esra_solver_free(&solver);
    if (s.method == ESRA_METHOD_NONE && !(yes && is_unwanted(scene)))
        if (!CHECK(memcmp(scene->transmitted, scene->photos, samples * sizeof(float)) == 0))
            printf("    at question %d of place %d, %p\n", question, place, place < 0 ? NULL : places[place].address);
    scene->found = s.motion;
    return info.outcome;
}

/* At the first question of every place, or of the first `most`; with ESRA_TEST_ALL at a later one too. */
static void stop_everywhere(const char *what, struct scene *scene, int most)
{
    int asked[PLACES], tried = 0;
    bool all = getenv("ESRA_TEST_ALL");
    place_count = 0;
    CHECK(separate(scene, -1, 0) != ESRA_STOPPED);
    for (int n = 0; n < place_count; n++)
        asked[n] = places[n].questions;
    for (int n = 0; n < place_count && n < most; n++)
        for (int question = 1; question <= (all ? asked[n] : 1); question += asked[n] / 2 + 1, tried++) {
            CHECK(separate(scene, n, question) == ESRA_STOPPED);
            CHECK(scene->answers == 1);
        }
    printf("  %s: %d places ask; stopped %d times\n", what, place_count, tried);
    scene_free(scene);
}

/* Homographies first, then depth on trial. */
static void by_either(void)
{
    struct scene scene;
    scene_create(&scene, 64, 48, ESRA_MOTION_AUTO);
    stop_everywhere("either way", &scene, PLACES);
}

/* Found out at the end of the way by homographies: all begins anew. */
static void where_depth_wins(void)
{
    struct scene scene;
    scene_create(&scene, 128, 96, ESRA_MOTION_AUTO);
    CHECK(separate(&scene, -1, 0) != ESRA_STOPPED && scene.found == ESRA_MOTION_DEPTH);
    stop_everywhere("depth wins", &scene, PLACES);
}

static void by_depth(void)
{
    struct scene scene;
    scene_create(&scene, 96, 72, ESRA_MOTION_DEPTH);
    stop_everywhere("depth", &scene, PLACES);
}

/* Large enough to be looked at small first: photos half-way into the reference's frame are no photos. */
static void where_small_photos_come_first(void)
{
    struct scene scene;
    scene_create(&scene, 900, 680, ESRA_MOTION_TRANSLATION);
    stop_everywhere("small photos first", &scene, getenv("ESRA_TEST_ALL") ? PLACES : 8);
}

int main(void)
{
    if (CHECK_THREADS) {
        printf("skipped: one thread alone; pipeline/separate stops several\n");
        return 0;
    }
    RUN(by_either);
    RUN(where_depth_wins);
    RUN(by_depth);
    RUN(where_small_photos_come_first);
    return check_report();
}
