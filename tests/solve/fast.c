/* tests/solve/fast.c - the fast engine reaches the optimum of every kind of problem and says truthfully how near it is;
 * the same bits for any threads and instructions. */
#include <stdatomic.h>

#include "instance.h"
#include "solve/fast_level.h"

static esra_solver *solver;

static esra_settings settings_with(double gap, int iterations)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.gap = gap;
    settings.max_iterations = iterations;
    return settings;
}

static void solve_and_check(struct instance *it, double gap, int iterations)
{
    esra_settings settings = settings_with(gap, iterations);
    esra_info info;
    CHECK(instance_solve(it, solver, &settings, &info) == ESRA_OK);
    instance_verify(it, &info);
    if (!CHECK(info.outcome == ESRA_OPTIMAL))
        printf("    m %d, %d x %d x %d, lambda %g, weights %d: gap %g after %d iterations, F %g\n", it->photos,
               it->width, it->height, it->channels, it->lambda, it->weighted, info.gap, info.iterations,
               info.objective);
}

static void random_problems_are_solved(void)
{
    static const double lambdas[] = {0, 1e-3, 0.02, 0.3, 2};
    for (int n = 0; n < 100; n++) {
        int photos = 1 + n % 5, width = 1 + (int)check_random(0, 40), height = 1 + (int)check_random(0, 40);
        struct instance it = instance_make(photos, n % 7 == 0 ? 1 : width, n % 7 == 1 ? 1 : height, n % 4 == 3 ? 3 : 1);
        double outside = n % 3 == 2 ? 1.5 : 0;
        instance_fill(&it, -outside, 1 + outside, n % 2 ? 0.1 : 0.01);
        it.lambda = lambdas[n / 2 % 5];
        it.weighted = n % 3 == 1;
        if (n % 11 == 0)
            it.mixing[0] = 0;
        solve_and_check(&it, 1e-3, 4000);
        instance_free(&it);
    }
}

static void one_pixel_is_solved(void)
{
    struct instance it = instance_make(3, 1, 1, 1);
    instance_fill(&it, -1, 3, 0.1);
    solve_and_check(&it, 1e-6, 0);
    instance_free(&it);
}

static void huge_values_are_solved(void)
{
    struct instance it = instance_make(2, 20, 15, 1);
    instance_fill(&it, -1e4, 1e4, 10);
    solve_and_check(&it, 1e-4, 2000);
    instance_free(&it);
}

/* The least F is 0, which a relative gap cannot tell; what is left is float32's rounding of the differences. */
static void constant_photos_leave_nothing(void)
{
    struct instance it = instance_make(2, 20, 15, 1);
    esra_settings settings = settings_with(1e-4, 2000);
    esra_info info;
    instance_fill(&it, 0.5, 0.5, 0);
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    instance_verify(&it, &info);
    CHECK(info.objective < 1e-5);
    instance_free(&it);
}

/* Neither threads nor instructions nor what ran before change a bit. */
static void bits_are_the_same_everywhere(void)
{
    for (int weighted = 0; weighted < 2; weighted++) {
        struct instance it = instance_make(3, 75, 200, 2);
        instance_fill(&it, 0, 1, 0.05);
        it.weighted = weighted;
        size_t bytes = (size_t)(75 * 200 * 2 * (4 + 8)) * sizeof(float);
        float *first = malloc(bytes);
        esra_info info, info_first;
        esra_settings settings = settings_with(1e-9, 25);
        settings.threads = 1;
        settings.cpu_mask = 0;
        CHECK(instance_solve(&it, solver, &settings, &info_first) == ESRA_OK);
        memcpy(first, it.layers[0].data, bytes);
        for (int n = 1; n <= 8; n++) {
            settings.threads = n;
            settings.cpu_mask = n == 1 ? 1 : n == 2 ? 2 : n == 3 ? 4 : 31;
            CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
            CHECK(memcmp(first, it.layers[0].data, bytes) == 0);
            CHECK(info.objective == info_first.objective && info.bound == info_first.bound);
        }
        free(first);
        instance_free(&it);
    }
}

#ifndef __wasm__
/* The linker's --wrap puts these in place of the library's calls: they count. */
static atomic_int allocations;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_malloc(size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_realloc(block, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&allocations, 1);
    return __real_aligned_alloc(alignment, size);
}

static int remember_allocations(void *user, const esra_info *so_far)
{
    int *first = user;
    (void)so_far;
    if (*first == 0)
        *first = atomic_load(&allocations);
    return 0;
}

/* All memory is taken before the first word of progress, and a second run of the size takes none. */
static void solve_twice(int width, int height, int iterations)
{
    struct instance it = instance_make(3, width, height, 2);
    esra_settings settings = settings_with(1e-9, iterations);
    esra_info info;
    esra_solver *fresh;
    int first = 0;
    instance_fill(&it, 0, 1, 0.05);
    settings.threads = 3;
    atomic_store(&allocations, 0);
    CHECK(esra_solver_create(&fresh) == ESRA_OK);
    esra_solver_set_progress(fresh, remember_allocations, &first);
    CHECK(instance_solve(&it, fresh, &settings, &info) == ESRA_OK);
    CHECK(first > 0 && atomic_load(&allocations) == first);
    CHECK(instance_solve(&it, fresh, &settings, &info) == ESRA_OK);
    CHECK(atomic_load(&allocations) == first);
    esra_solver_free(&fresh);
    instance_free(&it);
}
#endif

/* Blocks of 4 MiB and more, which the larger one needs, are allocated in another way (base/memory.c). */
static void iterations_allocate_nothing(void)
{
#ifdef __wasm__
    SKIP("nothing can be put in the place of Emscripten's malloc()");
#else
    solve_twice(130, 90, 60);
    solve_twice(500, 400, 12);
#endif
}

static int stop_at_once(void *user, const esra_info *so_far)
{
    (void)so_far;
    ++*(int *)user;
    return 1;
}

/* Every channel comes back with layers that info judges truly, even if the run was stopped at its first word. */
static void a_stopped_run_tells_the_truth(void)
{
    struct instance it = instance_make(2, 90, 70, 3);
    esra_settings settings = settings_with(1e-9, 100000);
    esra_info info;
    int calls = 0;
    instance_fill(&it, 0, 1, 0.05);
    for (int n = 0; n < 2 * it.photos + 2; n++)
        check_fill(it.duals[n].data, 90 * 70 * 3, 77, 78);
    esra_solver_set_progress(solver, stop_at_once, &calls);
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    esra_solver_set_progress(solver, NULL, NULL);
    CHECK(calls == 1 && info.outcome == ESRA_STOPPED);
    instance_verify(&it, &info);
    settings.time_limit_s = 0.2;
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    CHECK(info.outcome == ESRA_STOPPED);
    instance_verify(&it, &info);
    instance_free(&it);
}

/* A channel that its share of the time does not suffice for was stopped, though the others leave some over. */
static void a_channel_out_of_time_is_told(void)
{
    struct instance it = instance_make(2, 90, 70, 3);
    esra_settings settings = settings_with(1e-9, 1000000);
    esra_info info;
    instance_fill(&it, 0, 1, 0.05);
    for (int n = 0; n < 90 * 70 * 3; n++)
        for (int i = 0; i < it.photos; i++)
            it.mixtures[i].data[n] = n % 3 == 0 ? it.mixtures[i].data[n] : 0;
    for (int k = 0; k < 2 * it.photos + 2; k++)
        for (int n = 0; n < 90 * 70 * 3; n++)
            it.gradients[k].data[n] = n % 3 == 0 ? it.gradients[k].data[n] : 0;
    settings.time_limit_s = 0.6;
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    CHECK(info.outcome == ESRA_STOPPED && info.iterations < 1000000);
    instance_verify(&it, &info);
    instance_free(&it);
}

/* Iterations run out long before a gap that float32 cannot show. */
static void an_unreachable_gap_ends_by_iterations(void)
{
    struct instance it = instance_make(2, 30, 20, 1);
    esra_settings settings = settings_with(1e-15, 300);
    esra_info info;
    instance_fill(&it, 0, 1, 0.05);
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    CHECK(info.iterations == 300 || info.outcome == ESRA_OPTIMAL);
    instance_verify(&it, &info);
    instance_free(&it);
}

/* One channel of a problem, in place. */
static struct instance channel_of(const struct instance *it, int channel)
{
    struct instance one = *it;
    esra_image *groups[] = {one.mixtures, one.gradients, one.layers, one.duals};
    int counts[] = {it->photos, 2 * it->photos + 2, it->photos + 1, 2 * it->photos + 2};
    for (int g = 0; g < 4; g++)
        for (int n = 0; n < counts[g]; n++) {
            groups[g][n].data += channel * groups[g][n].channel_stride;
            groups[g][n].channels = 1;
        }
    one.channels = 1;
    return one;
}

/* Each channel is given up by itself: neither early, for what others have before them, nor late, for what they took. */
static void channels_stall_one_by_one(void)
{
    struct instance it = instance_make(2, 12, 12, 3);
    esra_settings settings = settings_with(1e-14, 400000);
    esra_info all, one;
    int most = 0;
    instance_fill(&it, 0, 1, 0.05);
    CHECK(instance_solve(&it, solver, &settings, &all) == ESRA_OK && all.outcome == ESRA_INACCURATE);
    for (int c = 0; c < 3; c++) {
        struct instance single = channel_of(&it, c);
        CHECK(instance_solve(&single, solver, &settings, &one) == ESRA_OK);
        most = one.iterations > most ? one.iterations : most;
    }
    if (!CHECK(all.iterations == most && most < settings.max_iterations))
        printf("    %d iterations, by itself %d\n", all.iterations, most);
    instance_free(&it);
}

/* Below what floats can step by, each pixel is solved by itself: the same layers and duals for any instructions. */
static void a_lambda_next_to_nothing_is_solved(void)
{
    static const double lambdas[] = {1e-40, 1e-300, 1e-29, 1e-20};
    enum { PHOTOS = 3, WIDTH = 12, HEIGHT = 9, ANSWER = (3 * PHOTOS + 3) * WIDTH * HEIGHT };
    static float answer[ANSWER]; /* layers, then duals, as they stand in an instance */
    for (int n = 0; n < 4; n++) {
        struct instance it = instance_make(PHOTOS, WIDTH, HEIGHT, 1);
        instance_fill(&it, 0, 1, 0.05);
        it.lambda = lambdas[n];
        esra_settings settings = settings_with(1e-3, 200);
        esra_info info;
        settings.cpu_mask = 0;
        CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
        instance_verify(&it, &info);
        memcpy(answer, it.layers[0].data, sizeof answer);
        settings.cpu_mask = 31;
        CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK);
        CHECK(memcmp(answer, it.layers[0].data, sizeof answer) == 0);
        instance_free(&it);
    }
}

/* Where floats carry the steps badly, the layers are no worse than those of each pixel by itself. */
static void a_small_lambda_is_no_worse_than_none(void)
{
    struct instance it = instance_make(3, 40, 30, 1);
    esra_settings settings = settings_with(1e-3, 400);
    esra_info alone, small;
    instance_fill(&it, 0, 1, 0.05);
    it.lambda = 0;
    CHECK(instance_solve(&it, solver, &settings, &alone) == ESRA_OK);
    for (it.lambda = 1e-12; it.lambda < 1e-5; it.lambda *= 100) {
        instance_solve(&it, solver, &settings, &small);
        instance_verify(&it, &small);
        /* The gradients' share: each of 8 * 1200 differences is 2 at most. */
        CHECK(small.objective <= alone.objective + it.lambda * 2 * 8 * 1200);
    }
    instance_free(&it);
}

/* From its own answer a solve needs next to nothing, and the numbers stay true. */
static void a_start_is_taken_up(void)
{
    struct instance it = instance_make(3, 60, 50, 2);
    esra_settings settings = settings_with(1e-4, 4000);
    esra_info cold, warm;
    instance_fill(&it, 0, 1, 0.05);
    CHECK(instance_solve(&it, solver, &settings, &cold) == ESRA_OK && cold.outcome == ESRA_OPTIMAL);
    it.from_answer = true;
    CHECK(instance_solve(&it, solver, &settings, &warm) == ESRA_OK);
    CHECK(warm.outcome == ESRA_OPTIMAL && warm.iterations < cold.iterations / 4);
    instance_verify(&it, &warm);
    it.mixtures[0].data[0] += 0.01f;
    CHECK(instance_solve(&it, solver, &settings, &warm) == ESRA_OK);
    CHECK(warm.outcome == ESRA_OPTIMAL && warm.iterations < cold.iterations);
    instance_verify(&it, &warm);
    instance_free(&it);
}

static void a_start_has_layers_and_duals(void)
{
    struct instance it = instance_make(2, 6, 5, 1);
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    instance_fill(&it, 0, 1, 0.05);
    problem.photos = it.photos;
    problem.mixing = it.mixing;
    problem.mixtures = it.mixtures;
    problem.gradients = it.gradients;
    problem.start_layers = result.layers = it.layers;
    CHECK(esra_solver_run(solver, &problem, NULL, &result, NULL) == ESRA_BAD_ARGUMENT);
    CHECK(strstr(esra_solver_message(solver), "both") != NULL);
    instance_free(&it);
}

/* Patches of all greys, and the same of a reflection that moves; gradients with noise. */
static void paint_patches(struct instance *it)
{
    int w = it->width, h = it->height;
    for (int i = 0; i <= it->photos; i++)
        for (int n = 0; n < w * h; n++) {
            int x = n % w + 5 * i, y = n / w + 3 * i;
            int scene = (x / 17 * 31 + y / 13 * 17) % 11, reflection = (x / 23 * 29 + y / 19 * 13) % 11;
            it->layers[i].data[n] = i ? 0.03f * (float)reflection : 0.06f * (float)scene;
        }
    for (int i = 0; i < it->photos; i++) {
        it->mixing[i] = 0.75 + 0.05 * i;
        for (int n = 0; n < w * h; n++)
            it->mixtures[i].data[n] = (float)it->mixing[i] * it->layers[0].data[n] + it->layers[i + 1].data[n];
    }
    for (int l = 0; l <= it->photos; l++)
        for (int n = 0; n < w * h; n++) {
            const float *layer = it->layers[l].data + n;
            float down = n < w * (h - 1) ? layer[w] - layer[0] : 0, across = n % w < w - 1 ? layer[1] - layer[0] : 0;
            it->gradients[2 * l].data[n] = down + (float)check_random(-0.01, 0.01);
            it->gradients[2 * l + 1].data[n] = across + (float)check_random(-0.01, 0.01);
        }
}

/* A tenth of the accuracy is a good part of the way. (Steps found from the short way that is left made it the longer
 * one.) */
static void a_start_half_way_saves_time(void)
{
    struct instance it = instance_make(3, 256, 256, 1);
    esra_settings settings = settings_with(1e-3, 4000);
    esra_info cold, rough, warm;
    it.lambda = 0.01;
    paint_patches(&it);
    CHECK(instance_solve(&it, solver, &settings, &cold) == ESRA_OK && cold.outcome == ESRA_OPTIMAL);
    settings.gap = 1e-2;
    CHECK(instance_solve(&it, solver, &settings, &rough) == ESRA_OK && rough.outcome == ESRA_OPTIMAL);
    settings.gap = 1e-3;
    it.from_answer = true;
    CHECK(instance_solve(&it, solver, &settings, &warm) == ESRA_OK && warm.outcome == ESRA_OPTIMAL);
    if (!CHECK(warm.iterations < 0.8 * cold.iterations))
        printf("    %d iterations, %d after %d\n", cold.iterations, warm.iterations, rough.iterations);
    instance_verify(&it, &warm);
    instance_free(&it);
}

/* Waves many pixels long, and noise from pixel to pixel that the gradients have as well: what a large photo is. */
struct waves {
    double light, noise, photo_noise;
};
static const struct waves bright = {0.3, 0.01, 0.01}, dark = {0.03, 0.004, 0.002};

static void paint_waves(struct instance *it, const struct waves *waves)
{
    int w = it->width, h = it->height;
    for (int i = 0; i <= it->photos; i++)
        for (int n = 0; n < w * h; n++) {
            double x = n % w + 9 * i, y = n / w + 5 * i;
            double wave = (i ? 0.5 : 1) * waves->light * (1 + sin(x / (i ? 37 : 23)) * cos(y / (i ? 29 : 41)));
            it->layers[i].data[n] = (float)(wave + check_random(-waves->noise, waves->noise));
        }
    for (int i = 0; i < it->photos; i++) {
        const float *scene = it->layers[0].data, *reflection = it->layers[i + 1].data;
        it->mixing[i] = 0.75 + 0.05 * i;
        for (int n = 0; n < w * h; n++)
            it->mixtures[i].data[n] = (float)(it->mixing[i] * scene[n] + reflection[n] +
                                              check_random(-waves->photo_noise, waves->photo_noise));
    }
    for (int l = 0; l <= it->photos; l++)
        for (int n = 0; n < w * h; n++) {
            const float *layer = it->layers[l].data + n;
            it->gradients[2 * l].data[n] = n < w * (h - 1) ? layer[w] - layer[0] : 0;
            it->gradients[2 * l + 1].data[n] = n % w < w - 1 ? layer[1] - layer[0] : 0;
        }
}

static void solve_waves(const struct waves *waves, double gap, int most)
{
    struct instance it = instance_make(4, 512, 384, 1);
    esra_settings settings = settings_with(gap, 1000);
    esra_info info;
    it.lambda = 0.003;
    paint_waves(&it, waves);
    CHECK(instance_solve(&it, solver, &settings, &info) == ESRA_OK && info.outcome == ESRA_OPTIMAL);
    if (!CHECK(info.iterations <= most))
        printf("    %d iterations\n", info.iterations);
    instance_verify(&it, &info);
    instance_free(&it);
}

/* 50 iterations; with the steps that suit sharper pictures 70. */
static void smooth_photos_are_solved_soon(void)
{
    solve_waves(&bright, 1e-2, 60);
}

/* 460 iterations; where r1 does not follow the gap's slack, 650. */
static void dark_smooth_photos_are_proven_sooner(void)
{
    solve_waves(&dark, 1e-3, 560);
}

#define MOST_LEVELS 12

static int lay_out_levels(struct level *levels, struct arena *arena, const struct problem *problem, int width,
                          int height)
{
    int count = 0;
    for (;; width = (width + 1) / 2, height = (height + 1) / 2, count++) {
        esra_level_lay_out(&levels[count], arena, problem, width, height, count > 0 ? &levels[count - 1] : NULL);
        if (width <= 16 && height <= 16)
            return count + 1;
    }
}

/* A level's data, and its state where the next one does not stand in it, are no other level's; all lies in the arena.
 * Planes begin and end with whole groups. */
static void check_places(const struct level *levels, int count, const struct arena *arena)
{
    char *owner = calloc(arena->used / sizeof(float), 1);
    for (int pass = 0; owner && pass < 2; pass++)
        for (int n = 0; n < count; n++) {
            const struct level *level = &levels[n];
            ptrdiff_t state = 4 * level->layers * level->pitch;
            ptrdiff_t end = esra_level_row(level, NULL, 0).g - level->data + level->pitch;
            ptrdiff_t from = n + 1 < count && level[1].nested && pass == 0 ? state : 0;
            for (int y = 0; y < level->height; y++)
                for (ptrdiff_t k = from; k < end; k += KERNEL_GROUP) {
                    ptrdiff_t at = level->data + y * level->record + k - (const float *)arena->block;
                    bool inside = at >= 0 && at < (ptrdiff_t)(arena->used / sizeof(float));
                    bool own = inside && (pass == 0 ? !owner[at] : k < state || owner[at] == n + 1);
                    if (!CHECK(own)) {
                        free(owner);
                        return;
                    }
                    owner[at] = pass == 0 ? (char)(n + 1) : owner[at];
                }
        }
    CHECK(owner != NULL);
    free(owner);
}

static void levels_stand_in_one_another_without_harm(void)
{
    static const int sizes[][2] = {{330, 75}, {1023, 33}, {40, 300}, {16, 16}, {300, 2}};
    int nested = 0;
    for (int photos = 1; photos <= 12; photos += photos < 3 ? 1 : 3)
        for (int n = 0; n < 10; n++) {
            static const esra_image any;
            struct level levels[MOST_LEVELS];
            struct arena arena = {0};
            struct problem problem = {.photos = photos, .layers = photos + 1, .weights = n % 2 ? &any : NULL};
            esra_arena_count(&arena);
            lay_out_levels(levels, &arena, &problem, sizes[n / 2][0], sizes[n / 2][1]);
            CHECK(esra_arena_place(&arena));
            int count = lay_out_levels(levels, &arena, &problem, sizes[n / 2][0], sizes[n / 2][1]);
            check_places(levels, count, &arena);
            nested += count > 1 && levels[1].nested;
            esra_arena_free(&arena);
        }
    CHECK(nested > 0);
}

/* Wide enough that two levels stand in the finest: as many iterations as ever, and the bits whatever ran before. */
static void nested_levels_lead_to_the_optimum(void)
{
    struct instance it = instance_make(3, 600, 110, 1), other = instance_make(2, 620, 90, 1);
    size_t bytes = (size_t)(600 * 110 * 4) * sizeof(float);
    float *first = malloc(bytes);
    esra_solver *fresh;
    esra_info info;
    esra_settings settings = settings_with(1e-3, 2000);
    instance_fill(&it, 0, 1, 0.05);
    instance_fill(&other, 0, 1, 0.05);
    CHECK(esra_solver_create(&fresh) == ESRA_OK);
    CHECK(instance_solve(&it, fresh, &settings, &info) == ESRA_OK && info.outcome == ESRA_OPTIMAL);
    memcpy(first, it.layers[0].data, bytes);
    CHECK(instance_solve(&other, fresh, &settings, &info) == ESRA_OK && info.outcome == ESRA_OPTIMAL);
    CHECK(instance_solve(&it, fresh, &settings, &info) == ESRA_OK);
    instance_verify(&it, &info);
    CHECK(memcmp(first, it.layers[0].data, bytes) == 0);
    esra_solver_free(&fresh);
    free(first);
    instance_free(&it);
    instance_free(&other);
}

int main(void)
{
    if (esra_solver_create(&solver) != ESRA_OK)
        return 1;
    RUN(random_problems_are_solved);
    RUN(one_pixel_is_solved);
    RUN(huge_values_are_solved);
    RUN(constant_photos_leave_nothing);
    RUN(bits_are_the_same_everywhere);
    RUN(iterations_allocate_nothing);
    RUN(levels_stand_in_one_another_without_harm);
    RUN(nested_levels_lead_to_the_optimum);
    RUN(a_stopped_run_tells_the_truth);
    RUN(a_channel_out_of_time_is_told);
    RUN(an_unreachable_gap_ends_by_iterations);
    RUN(channels_stall_one_by_one);
    RUN(a_lambda_next_to_nothing_is_solved);
    RUN(a_small_lambda_is_no_worse_than_none);
    RUN(a_start_is_taken_up);
    RUN(a_start_half_way_saves_time);
    RUN(a_start_has_layers_and_duals);
    RUN(smooth_photos_are_solved_soon);
    RUN(dark_smooth_photos_are_proven_sooner);
    esra_solver_free(&solver);
    return check_report();
}
