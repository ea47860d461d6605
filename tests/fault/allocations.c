/* tests/fault/allocations.c - every allocation and every thread refused, one after the other, over every public call:
 * the right status, no leak (the sanitizer build sees to that), and a solver that still works. The linker's --wrap puts
 * the functions below in place of malloc and its kin. */
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "camera/depth.h"
#include "camera/scene.h"
#include "random_problem.h"

static long countdown = -1; /* allocations that still succeed; -1: all of them */
static bool from_then_on;   /* after the first refusal every further one fails too */
static long made;
static int threads_left = -1;
static bool branching; /* a child is refused the allocation, and the parent is not */
static bool is_branch;
static long lost_branches;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

/* True in the child. */
static bool branch(bool keep_failing)
{
    int code = -1;
    pid_t child = fork();
    if (child != 0) {
        lost_branches += child < 0 || waitpid(child, &code, 0) != child || code != 0;
        return false;
    }
    branching = false;
    is_branch = true;
    from_then_on = keep_failing;
    countdown = 0;
    return true;
}

/* One more allocation. True where it is the one to be refused, or one after it. */
static bool count_down(void)
{
    if (countdown != 0) {
        countdown -= countdown > 0;
        return false;
    }
    if (!from_then_on)
        countdown = -1;
    return true;
}

/* Jobs side by side allocate at the same time. */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

static bool refuse(void)
{
    if (branching && !branch(false))
        branch(true);
    pthread_mutex_lock(&counting);
    made++;
    bool refused = count_down();
    pthread_mutex_unlock(&counting);
    if (refused)
        errno = ENOMEM;
    return refused;
}

void *__wrap_malloc(size_t size)
{
    return refuse() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return refuse() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return refuse() ? NULL : __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return refuse() ? NULL : __real_aligned_alloc(alignment, size);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    if (threads_left == 0)
        return EAGAIN;
    if (threads_left > 0)
        threads_left--;
    return __real_pthread_create(thread, attributes, start, argument);
}

static esra_settings settings_for(int engine, int threads)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.engine = engine;
    settings.max_iterations = 2;
    settings.threads = threads;
    return settings;
}

static int last_engine(void)
{
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    for (size_t n = 0; n < count; n++)
        if (table[n].offset == offsetof(esra_settings, engine))
            return (int)table[n].highest;
    return 0;
}

/* Everything a program does with a solver. */
static esra_status whole_life(const struct random_problem *r, const esra_settings *settings)
{
    esra_solver *solver;
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK)
        status = esra_solver_run(solver, &r->problem, settings, &r->result, NULL);
    CHECK((status == ESRA_OK) == (esra_solver_message(solver)[0] == '\0'));
    esra_solver_free(&solver);
    return status;
}

static void every_allocation_may_fail(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 9, 7, 2);
    for (int engine = 0; engine <= last_engine(); engine++) {
        esra_settings settings = settings_for(engine, 3);
        made = 0;
        CHECK(whole_life(&r, &settings) == ESRA_OK);
        long needed = made;
        CHECK(needed >= 4);
        for (int mode = 0; mode < 2; mode++)
            for (long n = 0; n < needed; n++) {
                countdown = n;
                from_then_on = mode;
                esra_status status = whole_life(&r, &settings);
                countdown = -1;
                CHECK(status == ESRA_OUT_OF_MEMORY);
            }
        printf("  engine %d: %ld allocations refused twice\n", engine, needed);
    }
    random_problem_free(&r);
}

static void a_comparison_may_run_out_of_memory(void)
{
    float data[4] = {0};
    esra_image image = esra_image_planar(data, 2, 2, 1);
    esra_comparison comparison = ESRA_COMPARISON_INIT;
    made = 0;
    CHECK(esra_compare(&image, &image, &comparison) == ESRA_OK);
    long needed = made;
    for (long n = 0; n < 2 * needed; n++) {
        countdown = n / 2;
        from_then_on = n % 2;
        CHECK(esra_compare(&image, &image, &comparison) == ESRA_OUT_OF_MEMORY);
        countdown = -1;
    }
    printf("  %ld allocations refused, once and from then on\n", needed);
}

/* Where a thread is refused the pool works with those it has, so not every refusal is a failure. */
static void a_made_scene_may_run_out_of_memory(void)
{
    float data[4] = {0};
    esra_image picture = esra_image_planar(data, 2, 2, 1);
    esra_synth_settings settings;
    esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
    esra_synth_settings_default(&settings);
    settings.width = settings.height = 8;
    settings.shift_px = 1;
    made = 0;
    CHECK(esra_synth(&picture, &picture, &settings, &result) == ESRA_OK);
    long needed = made;
    for (long n = 0; n < 2 * needed; n++) {
        countdown = n / 2;
        from_then_on = n % 2;
        esra_status status = esra_synth(&picture, &picture, &settings, &result);
        countdown = -1;
        CHECK(status == ESRA_OK || status == ESRA_OUT_OF_MEMORY);
        CHECK((status == ESRA_OK) == (result.message[0] == '\0'));
    }
    printf("  %ld allocations refused, once and from then on\n", needed);
}

/* How photos are told apart, or that they are aligned alone. */
struct way {
    const char *name;
    esra_motion motion;
    bool align;
};

/* Small photos whose layers move apart: every stage has something to do. */
static esra_status separate(float *samples, const esra_settings *settings, const struct way *way)
{
    enum { WIDTH = 48, HEIGHT = 40, SIZE = WIDTH * HEIGHT };
    esra_image photos[3], reflected[3];
    esra_solver *solver;
    esra_photos input = ESRA_PHOTOS_INIT;
    esra_separation out = ESRA_SEPARATION_INIT;
    for (int i = 0; i < 3; i++) {
        photos[i] = esra_image_planar(samples + i * SIZE, WIDTH, HEIGHT, 1);
        reflected[i] = esra_image_planar(samples + (i + 3) * SIZE, WIDTH, HEIGHT, 1);
    }
    input.photos = 3;
    input.images = photos;
    input.motion = way->motion;
    out.transmitted = esra_image_planar(samples + 6 * SIZE, WIDTH, HEIGHT, 1);
    out.reflected = reflected;
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK)
        status = (way->align ? esra_solver_align : esra_solver_separate)(solver, &input, settings, &out);
    CHECK((status == ESRA_OK) == (esra_solver_message(solver)[0] == '\0'));
    esra_solver_free(&solver);
    return status;
}

/* Patches that move by i * (2, -1), over others that move by i * (-3, 2). */
static void paint(float *samples)
{
    for (int i = 0; i < 3; i++)
        for (int n = 0; n < 48 * 40; n++) {
            int x = n % 48, y = n / 48, a = (x - 2 * i + 64) / 7 * 31 + (y + i + 64) / 6 * 17;
            int b = (x + 3 * i + 64) / 9 * 13 + (y - 2 * i + 64) / 8 * 29;
            samples[i * 48 * 40 + n] = 0.06f * (float)(a % 11) + 0.03f * (float)(b % 7);
        }
}

/* A separation makes thousands of allocations and takes a while. A child is forked at each of them, in which it is
 * refused, once or from then on, and which then has little left to do: all of them for the time of a few runs. Only the
 * thread that forks lives on in a child, so these runs have one; some more have two. */
static void run_out_of_memory(const struct way *way)
{
    static float samples[7 * 48 * 40];
    esra_settings settings = settings_for(ESRA_ENGINE_FAST, 1);
    paint(samples);
    fflush(stdout);
    made = lost_branches = 0;
    branching = true;
    esra_status status = separate(samples, &settings, way);
    branching = false;
    if (is_branch) {
        countdown =
            -1; /* the call is over: what allocates at exit, as the counts of a coverage build, is not the library */
        exit(status != ESRA_OUT_OF_MEMORY || check_failures);
    }
    CHECK(status == ESRA_OK && lost_branches == 0);
    printf("  %s: %ld allocations refused, once and from then on\n", way->name, made);

    settings = settings_for(ESRA_ENGINE_FAST, 2);
    made = 0;
    CHECK(separate(samples, &settings, way) == ESRA_OK);
    for (long needed = made, n = needed / 25; n < needed; n += needed / 12 + 1) {
        countdown = n;
        from_then_on = n % 2;
        CHECK(separate(samples, &settings, way) == ESRA_OUT_OF_MEMORY);
        countdown = -1;
    }
}

static void a_separation_may_run_out_of_memory(void)
{
    run_out_of_memory(&(struct way){"either way", ESRA_MOTION_AUTO, false});
    run_out_of_memory(&(struct way){"by depth", ESRA_MOTION_DEPTH, false});
    run_out_of_memory(&(struct way){"aligned alone", ESRA_MOTION_AUTO, true});
}

/* Camera, depth of both layers, visibility and the map back. */
static esra_status look(struct context *context, const struct scene *scene)
{
    struct camera camera = {0};
    struct depth depth[2] = {{.count = 0}, {.count = 0}};
    struct image map = {0};
    struct canvas_offset none = {0, 0};
    esra_status status;
    context->message->text[0] = '\0';
    TRY(esra_camera_find(&camera, context, scene->photo, scene->photos, 0));
    TRY(esra_depth_transmitted(&depth[0], context, &camera, scene->photo, NULL));
    TRY(esra_depth_reflected(&depth[1], context, &camera, scene->photo, NULL));
    TRY(esra_image_create(&map, scene->width, scene->height, 2, context->message));
    TRY(esra_camera_unmap(context, &camera, 1, &depth[0].inverse, none, &map));
    TRY(esra_camera_visible(context, &camera, 1, &depth[0].inverse, none, .1, &map));
done:
    CHECK((status == ESRA_OK) == (context->message->text[0] == '\0'));
    esra_image_free(&map);
    for (int n = 0; n < 2; n++)
        esra_depth_free(&depth[n]);
    esra_camera_free(&camera);
    return status;
}

static void a_camera_may_run_out_of_memory(void)
{
    struct context *context = make_context(2);
    struct scene scene;
    scene_motion(&scene, 96, 72, 3);
    scene.photos = 3;
    scene_render(&scene);
    made = 0;
    CHECK(look(context, &scene) == ESRA_OK);
    long needed = made;
    for (long n = 0; n < 2 * needed; n++) {
        countdown = n / 2;
        from_then_on = n % 2;
        esra_status status = look(context, &scene);
        countdown = -1;
        CHECK(status == ESRA_OUT_OF_MEMORY);
    }
    printf("  %ld allocations refused, once and from then on\n", needed);
    scene_free(&scene);
    esra_context_free(&context);
}

static void a_solver_recovers_from_a_failed_run(void)
{
    struct random_problem r;
    esra_solver *solver;
    random_problem_make(&r, 2, 9, 7, 1);
    for (int engine = 0; engine <= last_engine(); engine++) {
        esra_settings settings = settings_for(engine, 2);
        CHECK(esra_solver_create(&solver) == ESRA_OK);
        countdown = 0;
        from_then_on = true;
        CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, NULL) == ESRA_OUT_OF_MEMORY);
        CHECK(strstr(esra_solver_message(solver), "memory") != NULL);
        countdown = -1;
        CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, NULL) == ESRA_OK);
        esra_solver_free(&solver);
    }
    random_problem_free(&r);
}

/* The second run of a size finds everything in place. */
static void a_second_run_allocates_nothing(void)
{
    struct random_problem r;
    esra_solver *solver;
    random_problem_make(&r, 2, 9, 7, 2);
    for (int engine = 0; engine <= last_engine(); engine++) {
        esra_settings settings = settings_for(engine, 3);
        CHECK(esra_solver_create(&solver) == ESRA_OK);
        CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, NULL) == ESRA_OK);
        made = 0;
        settings.max_iterations = 50;
        CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, NULL) == ESRA_OK);
        CHECK(made == 0);
        esra_solver_free(&solver);
    }
    random_problem_free(&r);
}

static void refused_threads_change_nothing_but_speed(void)
{
    struct random_problem r;
    esra_solver *solver;
    enum { SAMPLES = 9 * 40 };
    static float transmitted[3][SAMPLES];
    random_problem_make(&r, 2, 9, 40, 1);
    for (int left = 0; left < 3; left++) {
        esra_settings settings = settings_for(0, 4);
        esra_info info = ESRA_INFO_INIT;
        threads_left = left;
        CHECK(esra_solver_create(&solver) == ESRA_OK);
        CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, &info) == ESRA_OK);
        CHECK(info.threads == left + 1);
        memcpy(transmitted[left], r.result.layers[0].data, sizeof transmitted[left]);
        esra_solver_free(&solver);
    }
    threads_left = -1;
    CHECK(memcmp(transmitted[0], transmitted[1], sizeof transmitted[0]) == 0);
    CHECK(memcmp(transmitted[0], transmitted[2], sizeof transmitted[0]) == 0);
    random_problem_free(&r);
}

int main(void)
{
    RUN(every_allocation_may_fail);
    RUN(a_comparison_may_run_out_of_memory);
    RUN(a_made_scene_may_run_out_of_memory);
    RUN(a_separation_may_run_out_of_memory);
    RUN(a_camera_may_run_out_of_memory);
    RUN(a_solver_recovers_from_a_failed_run);
    RUN(a_second_run_allocates_nothing);
    RUN(refused_threads_change_nothing_but_speed);
    return check_report();
}
