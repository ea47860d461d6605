/* tests/fault/numbers.c - what sensors, cropping and broken programs hand in: numbers that are none, too small, too
 * large or all alike, and images one pixel wide. A clear error, or finite layers in finite time, from every public
 * call. */
#include <esra/esra.h>

#include "check.h"

#define MOST   5000 /* samples of an image */
#define PHOTOS 3

/* What an image may be filled with. */
enum filling {
    NOT_A_NUMBER,
    ENDLESS,
    ENDLESS_BELOW,
    DENORMAL,
    NEGATIVE,
    BLACK,
    GREY,
    CLIPPED,
    OVER,
    HUGE_NUMBERS,
    TOO_LARGE,
    NOISE,
    FILLINGS
};
static const char *const names[FILLINGS] = {"NaN",  "infinity", "-infinity", "denormals", "negative", "black",
                                            "grey", "clipped",  "over one",  "up to 1e6", "over 1e6", "noise"};

static void fill(float *samples, size_t count, enum filling filling)
{
    check_fill(samples, count, 0, 1);
    for (size_t n = 0; n < count; n++)
        switch (filling) {
        case NOT_A_NUMBER: samples[n] = n == count / 2 ? NAN : samples[n]; break;
        case ENDLESS: samples[n] = n == count / 2 ? INFINITY : samples[n]; break;
        case ENDLESS_BELOW: samples[n] = n == count / 2 ? -INFINITY : samples[n]; break;
        case DENORMAL: samples[n] *= 1e-40f; break;
        case NEGATIVE: samples[n] -= 1.5f; break;
        case BLACK: samples[n] = 0; break;
        case GREY: samples[n] = 0.5f; break;
        case CLIPPED: samples[n] = 1; break;
        case OVER: samples[n] = 2; break;
        case HUGE_NUMBERS: samples[n] = 2e6f * samples[n] - 1e6f; break;
        case TOO_LARGE: samples[n] = n == count / 2 ? 3e38f : samples[n]; break;
        default: break;
        }
}

static bool must_be_refused(enum filling filling)
{
    return filling == NOT_A_NUMBER || filling == ENDLESS || filling == ENDLESS_BELOW || filling == TOO_LARGE;
}

static bool all_finite(const float *samples, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (!isfinite(samples[n]))
            return false;
    return true;
}

static const int shapes[][3] = {{1, 1, 1}, {1, 60, 1}, {60, 1, 3}, {2, 2, 1}, {31, 17, 3}, {40, 36, 1}};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))

static float photos[PHOTOS][MOST], layers[PHOTOS + 1][MOST], transmitted[MOST], gradients[2 * (PHOTOS + 1)][MOST];
static esra_image photo_views[PHOTOS], layer_views[PHOTOS + 1], gradient_views[2 * (PHOTOS + 1)];

static size_t set_views(const int *shape)
{
    for (int i = 0; i < PHOTOS; i++)
        photo_views[i] = esra_image_planar(photos[i], shape[0], shape[1], shape[2]);
    for (int l = 0; l <= PHOTOS; l++)
        layer_views[l] = esra_image_planar(layers[l], shape[0], shape[1], shape[2]);
    for (int k = 0; k < 2 * (PHOTOS + 1); k++)
        gradient_views[k] = esra_image_planar(gradients[k], shape[0], shape[1], shape[2]);
    return (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2];
}

/* Calls judged since the last report, and how many of them were refused. */
static int judged, judged_refused;

static void report_judged(void)
{
    printf("  %d calls, %d of them refused\n", judged, judged_refused);
    judged = judged_refused = 0;
}

/* An error with its word where there must be one, else an answer that is `good`. */
static void judge(esra_solver *solver, esra_status status, enum filling filling, bool good, const char *call)
{
    bool refused = status == ESRA_BAD_DATA && esra_solver_message(solver)[0];
    judged++;
    judged_refused += refused;
    if (!CHECK(must_be_refused(filling) ? refused : status == ESRA_OK && good))
        printf("    %s of %s: %s, '%s'\n", call, names[filling], esra_status_name(status), esra_solver_message(solver));
}

static void try_solve(esra_solver *solver, enum filling filling, size_t count, int engine)
{
    static const double mixing[PHOTOS] = {1, 0, 1000};
    esra_problem problem = ESRA_PROBLEM_INIT;
    esra_result result = ESRA_RESULT_INIT;
    esra_info info = ESRA_INFO_INIT;
    esra_settings settings;
    problem.photos = PHOTOS;
    problem.mixing = mixing;
    problem.mixtures = photo_views;
    problem.gradients = gradient_views;
    result.layers = layer_views;
    esra_settings_default(&settings);
    settings.engine = engine;
    settings.max_iterations = 30;
    esra_status status = esra_solver_run(solver, &problem, &settings, &result, &info);
    bool good = isfinite(info.objective) && isfinite(info.bound) && info.bound <= info.objective;
    for (int l = 0; l <= PHOTOS; l++)
        good = good && all_finite(layers[l], count);
    judge(solver, status, filling, good, "solve");
}

static void any_numbers_can_be_solved(void)
{
    esra_solver *solver;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int shape = 0; shape < SHAPES; shape++)
        for (int filling = 0; filling < FILLINGS; filling++)
            for (int engine = 0; engine < 2; engine++) {
                size_t count = set_views(shapes[shape]);
                for (int i = 0; i < PHOTOS; i++)
                    fill(photos[i], count, (enum filling)filling);
                for (int k = 0; k < 2 * (PHOTOS + 1); k++)
                    check_fill(gradients[k], count, -0.1, 0.1);
                try_solve(solver, (enum filling)filling, count, engine);
            }
    report_judged();
    esra_solver_free(&solver);
}

/* Hundreds of tiny photos: threads would mostly wait for each other. */
static esra_settings on_one_thread(void)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.threads = 1;
    return settings;
}

/* Homographies and depth. */
static void any_numbers_can_be_separated(void)
{
    esra_solver *solver;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int shape = 0; shape < SHAPES; shape++)
        for (int filling = 0; filling < 2 * FILLINGS; filling++) {
            size_t count = set_views(shapes[shape]);
            esra_photos input = ESRA_PHOTOS_INIT;
            esra_separation out = ESRA_SEPARATION_INIT;
            esra_info info = ESRA_INFO_INIT;
            esra_settings settings = on_one_thread();
            /* One odd photo among two good ones, or all of them. */
            for (int i = 0; i < PHOTOS; i++)
                fill(photos[i], count, shape % 2 && i != 1 ? NOISE : (enum filling)(filling % FILLINGS));
            input.motion = filling < FILLINGS ? ESRA_MOTION_AUTO : ESRA_MOTION_DEPTH;
            input.photos = PHOTOS;
            input.images = photo_views;
            out.info = &info;
            out.transmitted = esra_image_planar(transmitted, shapes[shape][0], shapes[shape][1], shapes[shape][2]);
            out.reflected = layer_views;
            esra_status status = esra_solver_separate(solver, &input, &settings, &out);
            bool good = all_finite(transmitted, count) && isfinite(info.gap);
            for (int i = 0; i < PHOTOS; i++)
                good = good && all_finite(layers[i], count);
            judge(solver, status, (enum filling)(filling % FILLINGS), good, "separate");
        }
    report_judged();
    esra_solver_free(&solver);
}

static void any_numbers_can_be_aligned(void)
{
    esra_transform found[2][PHOTOS];
    double told[PHOTOS];
    esra_solver *solver;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int shape = 0; shape < SHAPES; shape++)
        for (int filling = 0; filling < FILLINGS; filling++) {
            size_t count = set_views(shapes[shape]);
            esra_photos input = ESRA_PHOTOS_INIT;
            esra_separation out = ESRA_SEPARATION_INIT;
            esra_settings settings = on_one_thread();
            for (int i = 0; i < PHOTOS; i++)
                fill(photos[i], count, shape % 2 && i != 1 ? NOISE : (enum filling)filling);
            input.photos = PHOTOS;
            input.images = photo_views;
            out.transmitted_motion = found[0];
            out.reflected_motion = found[1];
            out.mixing = told;
            esra_status status = esra_solver_align(solver, &input, &settings, &out);
            bool good = true;
            for (int i = 0; status == ESRA_OK && i < PHOTOS; i++)
                for (int k = 0; k < 9; k++)
                    good = good && isfinite(found[0][i].h[k]) && isfinite(found[1][i].h[k]) && isfinite(told[i]);
            judge(solver, status, (enum filling)filling, good, "align");
        }
    report_judged();
    esra_solver_free(&solver);
}

/* Two pictures of one filling, as two surfaces and as two scenes with depth: photos of finite numbers, or refused. */
static void scenes_are_made_of_any_numbers(void)
{
    int tried = 0, refused = 0;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int filling = 0; filling < 2 * FILLINGS; filling++, tried++) {
            size_t count = set_views(shapes[shape]), size = (size_t)(16 * 12 * shapes[shape][2]);
            esra_image made[2];
            esra_synth_settings settings;
            esra_synth_result result = ESRA_SYNTH_RESULT_INIT;
            esra_synth_settings_default(&settings);
            settings.photos = 2;
            settings.width = 16;
            settings.height = 12;
            settings.shift_px = 1;
            settings.depth = filling < FILLINGS;
            for (int i = 0; i < 2; i++) {
                fill(photos[i], count, (enum filling)(filling % FILLINGS));
                made[i] = esra_image_planar(layers[i], 16, 12, shapes[shape][2]);
            }
            result.photos = made;
            esra_status status = esra_synth(&photo_views[0], &photo_views[1], &settings, &result);
            refused += status == ESRA_BAD_DATA && result.message[0];
            if (!CHECK(status == ESRA_BAD_DATA ||
                       (status == ESRA_OK && all_finite(layers[0], size) && all_finite(layers[1], size))))
                printf("    scene of %s: %s, '%s'\n", names[filling % FILLINGS], esra_status_name(status),
                       result.message);
        }
    printf("  %d scenes, %d of them refused\n", tried, refused);
}

/* Coefficients and transforms that are given: refused, or all that is told is finite. */
static void any_numbers_can_be_given(void)
{
    static const double numbers[] = {NAN, INFINITY, -INFINITY, 0, -1, 1e-310, 1e-30, 1e30, 1e300, 1.7e308, 1};
    double mixing[PHOTOS], told[PHOTOS];
    esra_transform moves[PHOTOS], found[PHOTOS];
    esra_photo_facts facts[PHOTOS];
    esra_solver *solver;
    size_t count = set_views((const int[]){20, 16, 1});
    int refused = 0, tried = 0;
    esra_settings settings = on_one_thread();
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int i = 0; i < PHOTOS; i++)
        fill(photos[i], count, NOISE);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++)
        for (int where = 0; where < 3 + 2 * 9; where++, tried++) {
            esra_photos input = ESRA_PHOTOS_INIT;
            esra_separation out = ESRA_SEPARATION_INIT;
            esra_info info = ESRA_INFO_INIT;
            for (int i = 0; i < PHOTOS; i++) {
                mixing[i] = 1;
                moves[i] = (esra_transform){{1, 0, i, 0, 1, -i, 0, 0, 1}};
            }
            if (where < 3)
                mixing[where] = numbers[n];
            else
                moves[(where - 3) / 9].h[(where - 3) % 9] = numbers[n];
            input.photos = PHOTOS;
            input.images = photo_views;
            input.mixing = mixing;
            input.transmitted = moves;
            input.reflected = where % 2 ? moves : NULL;
            out.info = &info;
            out.transmitted = esra_image_planar(transmitted, 20, 16, 1);
            out.reflected = layer_views;
            out.mixing = told;
            out.transmitted_motion = found;
            out.facts = facts;
            esra_status status = esra_solver_separate(solver, &input, &settings, &out);
            bool good = all_finite(transmitted, count) && isfinite(info.gap) && isfinite(out.joint_objective);
            for (int i = 0; status == ESRA_OK && i < PHOTOS; i++) {
                good = good && all_finite(layers[i], count) && isfinite(told[i]) && isfinite(facts[i].apart_px);
                for (int k = 0; k < 9; k++)
                    good = good && isfinite(found[i].h[k]);
            }
            refused += status == ESRA_BAD_DATA && esra_solver_message(solver)[0];
            if (!CHECK(status == ESRA_BAD_DATA || (status == ESRA_OK && good)))
                printf("    %g at %d: %s, '%s'\n", numbers[n], where, esra_status_name(status),
                       esra_solver_message(solver));
        }
    printf("  %d of %d refused\n", refused, tried);
    CHECK(refused >= 7 * 3 + 5 * 18);
    esra_solver_free(&solver);
}

/* Sizes whose product no size_t holds, zero and negative ones: refused before anything is read through the pointers. */
static void sizes_are_checked_first(void)
{
    static const int sizes[][2] = {{0, 5}, {5, 0}, {-1, 5}, {0x7fffffff, 0x7fffffff}, {0x40000000, 4}};
    esra_solver *solver;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (size_t n = 0; n < sizeof sizes / sizeof sizes[0]; n++) {
        esra_image images[2] = {{NULL, sizes[n][0], sizes[n][1], 3, 1, 1, 1},
                                {NULL, sizes[n][0], sizes[n][1], 3, 1, 1, 1}};
        esra_photos input = ESRA_PHOTOS_INIT;
        esra_separation out = ESRA_SEPARATION_INIT;
        esra_settings settings = on_one_thread();
        input.photos = 2;
        input.images = images;
        esra_status status = esra_solver_separate(solver, &input, &settings, &out);
        CHECK(status != ESRA_OK && esra_solver_message(solver)[0]);
    }
    esra_solver_free(&solver);
}

static void any_numbers_can_be_compared(void)
{
    for (int filling = 0; filling < FILLINGS; filling++)
        for (int shape = 0; shape < SHAPES; shape++) {
            size_t count = set_views(shapes[shape]);
            esra_comparison comparison = ESRA_COMPARISON_INIT;
            fill(photos[0], count, (enum filling)filling);
            fill(photos[1], count, NOISE);
            esra_status status = esra_compare(&photo_views[0], &photo_views[1], &comparison);
            CHECK(status == ESRA_OK || status == ESRA_BAD_DATA);
            if (!must_be_refused((enum filling)filling))
                CHECK(status == ESRA_OK && !isnan(comparison.psnr) && isfinite(comparison.ssim) &&
                      isfinite(comparison.ncc) && !isnan(comparison.psnr_fit) && !isnan(comparison.psnr_exposure) &&
                      isfinite(comparison.ssim_exposure));
        }
}

int main(void)
{
    RUN(any_numbers_can_be_solved);
    RUN(any_numbers_can_be_separated);
    RUN(any_numbers_can_be_aligned);
    RUN(scenes_are_made_of_any_numbers);
    RUN(any_numbers_can_be_given);
    RUN(sizes_are_checked_first);
    RUN(any_numbers_can_be_compared);
    return check_report();
}
