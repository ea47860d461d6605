/* tests/solve/joint.c - the joint solve recovers two layers whose motions are known, descends, has the same bits for
 * any number of threads, ranks motions, and takes whatever it is given. */
#include "solve/joint.h"

#include "check.h"
#include "ops/blur.h"
#include "solve/joint_object.h"

#define WIDTH  120
#define HEIGHT 90
#define PHOTOS 3

static struct image photos[PHOTOS], masks[PHOTOS], truth;
static double mixing[PHOTOS] = {1, 1.07, 0.95}, gain[PHOTOS] = {1, 0.98, 1.05};
static double motion[9 * PHOTOS] = {1, 0,    0,    0,    1, 0,    0, 0, 1, /* the reference */
                                    1, .01,  6.3,  -.01, 1, -4.6, 0, 0, 1, /* and two others */
                                    1, -.02, -5.4, .02,  1, 7.2,  0, 0, 1};

/* Flat tiles: sharp edges and nothing between them, black here and there. */
static double tile(double x, double y, double size, int channel, uint64_t salt)
{
    double fx = floor(x / size), fy = floor(y / size);
    uint64_t hash = (uint64_t)(int64_t)(fx + 1000) * 73856093u ^ (uint64_t)(int64_t)(fy + 1000) * 19349663u ^
                    (uint64_t)(channel + 1) * 83492791u ^ salt * 2654435761u;
    hash = (hash ^ hash >> 13) * 0x9e3779b97f4a7c15u;
    double value = (double)(hash >> 40) / (double)(1 << 24);
    return value < 0.2 ? 0 : value;
}

/* Mean over 4x4 points of a pixel: what a sensor sees. */
static float shade(const double g[9], int x, int y, double size, int channel, uint64_t salt)
{
    double sum = 0;
    for (int k = 0; k < 16; k++) {
        double u = x + (k % 4 - 1.5) / 4, v = y + (k / 4 - 1.5) / 4, w = g[6] * u + g[7] * v + g[8];
        sum += tile((g[0] * u + g[1] * v + g[2]) / w, (g[3] * u + g[4] * v + g[5]) / w, size, channel, salt);
    }
    return (float)(sum / 16);
}

static void make_scene(void)
{
    struct message message;
    CHECK(esra_image_create(&truth, WIDTH, HEIGHT, 3, &message) == ESRA_OK);
    for (int i = 0; i < PHOTOS; i++) {
        CHECK(esra_image_create(&photos[i], WIDTH, HEIGHT, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&masks[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        for (int n = 0; n < WIDTH * HEIGHT; n++)
            masks[i].data[n] = 1;
        for (int n = 0; n < 3 * WIDTH * HEIGHT; n++) {
            int c = n / (WIDTH * HEIGHT), y = n / WIDTH % HEIGHT, x = n % WIDTH;
            truth.data[n] = 0.6f * shade(motion, x, y, 13, c, 1);
            photos[i].data[n] =
                (float)(mixing[i] * truth.data[n] + gain[i] * 0.3 * shade(motion + 9 * i, x, y, 9, c, 2) +
                        check_random(-.002, .002));
        }
    }
}

static void free_scene(void)
{
    for (int i = 0; i < PHOTOS; i++) {
        esra_image_free(&photos[i]);
        esra_image_free(&masks[i]);
    }
    esra_image_free(&truth);
}

static double rms(const struct image *a, const struct image *b)
{
    size_t samples = (size_t)a->width * (size_t)a->height * (size_t)a->channels;
    double sum = 0;
    for (size_t n = 0; n < samples; n++)
        sum += ((double)a->data[n] - b->data[n]) * ((double)a->data[n] - b->data[n]);
    return sqrt(sum / (double)samples);
}

struct run {
    int photos, threads, finest;
    bool resume, lean;
    const double *mixing, *gain, *motion;
    struct joint_settings settings;
};

static struct run usual_run(void)
{
    struct run run = {.photos = PHOTOS, .threads = 2, .mixing = mixing, .gain = gain, .motion = motion};
    esra_joint_settings_default(&run.settings);
    return run;
}

/* Solves and gives T, and what photo `photos - 1` reflects. */
static struct joint_info solve(const struct run *run, struct image *t, struct image *seen)
{
    struct message message = {""};
    struct context *context;
    struct joint *joint;
    struct joint_info info = {0};
    struct joint_model model = {.mixing = run->mixing, .reflection_gain = run->gain, .motion = run->motion};
    CHECK(esra_context_create(&context, run->threads, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){run->photos, photos, masks}, 4, context) == ESRA_OK);
    joint->lean_pixels = run->lean ? 1 : SIZE_MAX;
    CHECK(esra_joint_solve(joint, &model, &run->settings, run->finest, &info) == ESRA_OK);
    if (run->resume)
        CHECK(esra_joint_resume(joint, &model, &run->settings, &info) == ESRA_OK);
    CHECK(esra_joint_transmitted(joint, t) == ESRA_OK);
    CHECK(esra_joint_seen(joint, run->photos - 1, seen) == ESRA_OK);
    esra_joint_free(&joint);
    esra_context_free(&context);
    return info;
}

static void the_layers_are_recovered(void)
{
    struct run run = usual_run();
    struct image t, seen;
    make_scene();
    struct joint_info info = solve(&run, &t, &seen);
    /* The photo itself is .16 off; interpolating R's sharp tiles leaves about .01. */
    CHECK(rms(&photos[0], &truth) > 0.1);
    CHECK_NEAR(rms(&t, &truth), 0, 0.02);
    CHECK(info.trusted > 0.8 && info.residual < 0.02);
    double off = 0;
    for (int n = 0; n < 3 * WIDTH * HEIGHT; n++)
        off += fabs(mixing[2] * t.data[n] + seen.data[n] - photos[2].data[n]);
    CHECK_NEAR(off / (3 * WIDTH * HEIGHT), 0, 0.02);
    esra_image_free(&t);
    esra_image_free(&seen);
    free_scene();
}

/* A photo that takes no part, first or last: the constant between the layers is settled by one that does. */
static void a_photo_that_sees_nothing_settles_nothing(void)
{
    static const int orders[2][PHOTOS] = {{0, 1, 2}, {2, 0, 1}};
    struct image t[2], seen, plain[PHOTOS];
    make_scene();
    memcpy(plain, photos, sizeof plain);
    for (int k = 0; k < 2; k++) {
        double a[PHOTOS], b[PHOTOS], g[9 * PHOTOS];
        struct run run = usual_run();
        for (int i = 0; i < PHOTOS; i++) {
            int from = orders[k][i];
            photos[i] = plain[from];
            a[i] = mixing[from];
            b[i] = gain[from];
            memcpy(g + 9 * i, motion + 9 * from, 9 * sizeof *g);
            for (int n = 0; n < WIDTH * HEIGHT; n++)
                masks[i].data[n] = from != 2;
        }
        run.mixing = a;
        run.gain = b;
        run.motion = g;
        solve(&run, &t[k], &seen);
        esra_image_free(&seen);
    }
    CHECK_NEAR(rms(&t[0], &t[1]), 0, 1e-4);
    esra_image_free(&t[0]);
    esra_image_free(&t[1]);
    memcpy(photos, plain, sizeof plain);
    free_scene();
}

/* Every reweighing majorises F, so that F cannot rise but by rounding; more work ends lower. */
static void the_objective_descends(void)
{
    struct image t, seen;
    double before = INFINITY;
    make_scene();
    for (int reweighings = 1; reweighings <= 8; reweighings++) {
        struct run run = usual_run();
        run.finest = 3;
        run.settings.black_point = false;
        run.settings.reweighings = reweighings;
        struct joint_info info = solve(&run, &t, &seen);
        CHECK(info.objective <= before * (1 + 1e-5));
        before = info.objective;
        esra_image_free(&t);
        esra_image_free(&seen);
    }
    free_scene();
}

/* With less effort at the two finest levels the layers are about the same; a level that begins from nothing has all of
 * it. */
static void brief_solves_come_almost_as_far(void)
{
    struct joint_info info[2];
    struct image t[2], seen;
    make_scene();
    for (int finest = 0; finest <= 3; finest += 3) {
        for (int brief = 0; brief < 2; brief++) {
            struct run run = usual_run();
            run.finest = finest;
            if (brief)
                esra_joint_settings_brief(&run.settings);
            info[brief] = solve(&run, &t[brief], &seen);
            esra_image_free(&seen);
        }
        printf("  finest %d: work %g, brief %g\n", finest, info[0].work, info[1].work);
        CHECK(finest == 0 ? info[1].work < .75 * info[0].work : info[1].iterations == info[0].iterations);
        CHECK(info[1].objective < 1.05 * info[0].objective);
        CHECK_NEAR(rms(&t[0], &t[1]), 0, finest == 0 ? .01 : 0);
        esra_image_free(&t[0]);
        esra_image_free(&t[1]);
    }
    free_scene();
}

static double mean_square(const struct image *image)
{
    double sum = 0;
    size_t samples = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
    for (size_t n = 0; n < samples; n++)
        sum += (double)image->data[n] * image->data[n];
    return sum / (double)samples;
}

/* The more |R|^2 weighs, the less of it there is, towards none; and F, of which it is a part, still descends. */
static void a_ridge_holds_the_reflection(void)
{
    static const double ridges[] = {0, .01, .1, 1, 100};
    double least = INFINITY, before = INFINITY;
    struct image t, seen;
    make_scene();
    for (size_t k = 0; k < sizeof ridges / sizeof *ridges; k++) {
        struct run run = usual_run();
        run.settings.black_point = false;
        run.settings.ridge = ridges[k];
        solve(&run, &t, &seen);
        double square = mean_square(&seen);
        CHECK(square < least);
        least = square;
        esra_image_free(&t);
        esra_image_free(&seen);
    }
    CHECK(least < 1e-5);
    for (int reweighings = 1; reweighings <= 6; reweighings++) {
        struct run run = usual_run();
        run.finest = 3;
        run.settings.black_point = false;
        run.settings.ridge = .1;
        run.settings.reweighings = reweighings;
        struct joint_info info = solve(&run, &t, &seen);
        CHECK(info.objective <= before * (1 + 1e-5));
        before = info.objective;
        esra_image_free(&t);
        esra_image_free(&seen);
    }
    free_scene();
}

/* T alone is what is left of both layers where R weighs too much to be there. */
static void without_a_reflection_there_is_none(void)
{
    struct image t[2], seen[2];
    make_scene();
    for (int alone = 0; alone < 2; alone++) {
        struct run run = usual_run();
        run.settings.ridge = alone ? 0 : 1e3;
        run.settings.alone = alone;
        solve(&run, &t[alone], &seen[alone]);
    }
    double most = 0;
    for (size_t n = 0; n < (size_t)t[0].width * (size_t)t[0].height * (size_t)t[0].channels; n++)
        most = fmax(most, fabs((double)t[1].data[n] - (double)t[0].data[n]));
    CHECK(mean_square(&seen[1]) == 0);
    CHECK(most < .02);
    for (int k = 0; k < 2; k++) {
        esra_image_free(&t[k]);
        esra_image_free(&seen[k]);
    }
    free_scene();
}

/* A power of two that grows with the frame, four at the most where the solve is a job; the blocks' rows are all rows.
 */
static void blocks_follow_the_size(void)
{
    static const int cases[][3] = {{25, 25, 1}, {63, 65, 1}, {64, 64, 2}, {400, 400, 32}, {4000, 3000, 32}};
    struct message message;
    struct context *context, job = {.message = &message};
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    job.parent = context;
    for (size_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
        struct joint_level level = {.width = {cases[n][0]}, .height = {cases[n][1]}};
        int begin, end, rows = 0;
        esra_joint_level_divide(&level, context);
        CHECK(level.blocks == cases[n][2]);
        for (int block = 0; block < level.blocks; block++, rows = end) {
            joint_block(&level, TRANSMITTED, block, &begin, &end);
            CHECK(begin == rows && end > begin);
        }
        CHECK(rows == cases[n][1]);
        esra_joint_level_divide(&level, &job);
        CHECK(level.blocks == (cases[n][2] < 4 ? cases[n][2] : 4));
    }
    esra_context_free(&context);
}

static void threads_do_not_change_a_bit(void)
{
    struct image first, t, seen;
    struct run run = usual_run();
    make_scene();
    run.threads = 1;
    run.resume = true;
    struct joint_info one = solve(&run, &first, &seen);
    esra_image_free(&seen);
    for (run.threads = 2; run.threads <= 8; run.threads++) {
        struct joint_info info = solve(&run, &t, &seen);
        CHECK(info.objective == one.objective && info.iterations == one.iterations);
        CHECK(memcmp(t.data, first.data, 3 * WIDTH * HEIGHT * sizeof(float)) == 0);
        esra_image_free(&t);
        esra_image_free(&seen);
    }
    esra_image_free(&first);
    free_scene();
}

static double largest_difference(const struct image *a, const struct image *b)
{
    double most = 0;
    for (int n = 0; n < 3 * WIDTH * HEIGHT; n++)
        most = fmax(most, fabs((double)a->data[n] - b->data[n]));
    return most;
}

/* Without tables and strips only the order of sums is another. It is the same for any number of threads. */
static void lean_solves_find_the_same(void)
{
    struct image t[4], seen[4];
    struct run run = usual_run();
    struct joint_info info[4];
    make_scene();
    run.resume = true;
    for (int n = 0; n < 4; n++) {
        run.lean = n > 0;
        run.threads = n > 0 ? n : 2;
        info[n] = solve(&run, &t[n], &seen[n]);
        CHECK_NEAR(info[n].objective, info[0].objective, 1e-4 * info[0].objective);
        CHECK(largest_difference(&t[n], &t[0]) < 1e-3 && largest_difference(&seen[n], &seen[0]) < 1e-3);
        CHECK(n < 2 || (info[n].objective == info[1].objective && largest_difference(&t[n], &t[1]) == 0));
    }
    for (int n = 0; n < 4; n++) {
        esra_image_free(&t[n]);
        esra_image_free(&seen[n]);
    }
    free_scene();
}

/* Blocks of one wave touch no canvas row in common, and every block is in one. Photos move up to a third of the height:
 * waves are many, but not one a block. */
static void waves_do_not_meet(void)
{
    struct message message;
    struct context *context;
    struct joint *joint;
    struct joint_info info;
    struct run run = usual_run();
    make_scene();
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, masks}, 1, context) == ESRA_OK);
    joint->lean_pixels = 1;
    CHECK(esra_joint_solve(joint, &(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = motion},
                           &run.settings, 0, &info) == ESRA_OK);
    const struct joint_system *system = &joint->system;
    int blocks = joint->level[0].blocks, times[JOINT_BLOCKS_MOST] = {0};
    CHECK(system->in_waves && system->waves > 1 && system->wave_end[system->waves - 1] == blocks);
    for (int wave = 0, begin = 0; wave < system->waves; begin = system->wave_end[wave++])
        for (int n = begin; n < system->wave_end[wave]; n++) {
            times[system->order[n]]++;
            for (int k = begin; k < n; k++)
                CHECK(system->strip_low[system->order[n]] >= system->strip_high[system->order[k]] ||
                      system->strip_low[system->order[k]] >= system->strip_high[system->order[n]]);
        }
    for (int block = 0; block < blocks; block++)
        CHECK(times[block] == 1);
    esra_joint_free(&joint);
    esra_context_free(&context);
    free_scene();
}

struct sharing {
    struct joint *first;
    double objective[5];
};

static esra_status solve_beside(void *work, int number, struct context *own)
{
    struct sharing *sharing = work;
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .motion = motion};
    struct joint_settings settings;
    struct joint_info info = {0};
    struct joint *joint;
    esra_joint_settings_default(&settings);
    CHECK(esra_joint_share(&joint, sharing->first, own) == ESRA_OK);
    CHECK(esra_joint_solve(joint, &model, &settings, 1, &info) == ESRA_OK);
    sharing->objective[number] = info.objective;
    esra_joint_free(&joint);
    return ESRA_OK;
}

/* Solves of the same photos side by side have the bits of one alone. */
static void photos_are_shared(void)
{
    struct message message;
    struct context *context;
    struct sharing sharing;
    struct image t, seen;
    struct run run = usual_run();
    make_scene();
    run.finest = 1;
    struct joint_info alone = solve(&run, &t, &seen);
    CHECK(esra_context_create(&context, 3, &message) == ESRA_OK);
    CHECK(esra_joint_create(&sharing.first, &(struct joint_photos){PHOTOS, photos, masks}, 4, context) == ESRA_OK);
    CHECK(esra_joint_halve(sharing.first) == ESRA_OK);
    CHECK(esra_context_side_by_side(context, solve_beside, &sharing, 5) == ESRA_OK);
    for (int n = 0; n < 5; n++)
        CHECK(sharing.objective[n] == alone.objective);
    esra_joint_free(&sharing.first);
    esra_context_free(&context);
    esra_image_free(&t);
    esra_image_free(&seen);
    free_scene();
}

/* At half resolution the score already tells the true motion from wrong ones, also from one that moves R out of sight,
 * and two photos are enough. */
static void the_true_motion_scores_best(void)
{
    static const double errors[][2] = {{-4, -5}, {3, -5}, {-4, 3}, {3, 3}, {1, 0}, {28, 20}, {1e4, 0}};
    struct message message;
    struct context *context;
    struct joint *joint;
    struct run run = usual_run();
    struct joint_info best, found;
    make_scene();
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){2, photos, masks}, 3, context) == ESRA_OK);
    CHECK(esra_joint_solve(joint, &(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = motion},
                           &run.settings, 1, &best) == ESRA_OK);
    for (size_t k = 0; k < sizeof errors / sizeof *errors; k++) {
        double wrong[9 * PHOTOS];
        memcpy(wrong, motion, sizeof wrong);
        wrong[9 + 2] += errors[k][0];
        wrong[9 + 5] += errors[k][1];
        CHECK(esra_joint_solve(joint, &(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = wrong},
                               &run.settings, 1, &found) == ESRA_OK);
        if (!CHECK(found.score > best.score))
            printf("    motion %zu: %g against %g\n", k, found.score, best.score);
    }
    esra_joint_free(&joint);
    esra_context_free(&context);
    free_scene();
}

/* Goes on from a solution: never worse, and cheaper than from nothing. */
static void resuming_goes_on(void)
{
    struct image t, seen, u, again;
    struct run run = usual_run();
    make_scene();
    run.settings.black_point = false;
    double before = solve(&run, &t, &seen).objective;
    run.resume = true;
    CHECK(solve(&run, &u, &again).objective <= before * (1 + 1e-5));
    esra_image_free(&t);
    esra_image_free(&u);
    esra_image_free(&seen);
    esra_image_free(&again);
    free_scene();
}

/* With the layers of halved photos to begin with, an effort that is not enough from nothing nearly is. */
static void layers_of_smaller_photos_are_a_start(void)
{
    struct message message = {""};
    struct context *context = NULL;
    struct image small[PHOTOS];
    struct joint *coarse = NULL, *fine = NULL;
    struct joint_settings settings, little;
    struct joint_info much, nothing, started;
    double halved[9 * PHOTOS];
    make_scene();
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    for (int i = 0; i < PHOTOS; i++) {
        CHECK(esra_image_create(&small[i], (WIDTH + 1) / 2, (HEIGHT + 1) / 2, 3, &message) == ESRA_OK);
        for (int c = 0; c < 3; c++)
            esra_halve(context, image_plane(&photos[i], c), image_plane(&small[i], c), 1);
        for (int n = 0; n < 9; n++)
            halved[9 * i + n] = motion[9 * i + n] * (n % 3 == 2 && n < 6 ? .5 : 1);
    }
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .motion = motion}, half = model;
    half.motion = halved;
    esra_joint_settings_default(&settings);
    settings.black_point = false;
    little = settings;
    little.iterations_flat = 7; /* without cells, which would come almost as far from nothing */
    little.coarse_effort = 1;
    CHECK(esra_joint_create(&coarse, &(struct joint_photos){PHOTOS, small, NULL}, 4, context) == ESRA_OK);
    CHECK(esra_joint_create(&fine, &(struct joint_photos){PHOTOS, photos, NULL}, 4, context) == ESRA_OK);
    CHECK(esra_joint_solve(coarse, &half, &settings, 0, &much) == ESRA_OK);
    CHECK(esra_joint_solve(fine, &model, &settings, 0, &much) == ESRA_OK);
    CHECK(esra_joint_solve(fine, &model, &little, 0, &nothing) == ESRA_OK);
    CHECK(!esra_joint_start(fine, &coarse, 2)); /* there is no such level: from nothing */
    CHECK(esra_joint_solve(fine, &model, &little, 0, &started) == ESRA_OK && started.objective == nothing.objective);
    CHECK(esra_joint_start(fine, &coarse, 1) && !coarse);
    CHECK(esra_joint_solve(fine, &model, &little, 0, &started) == ESRA_OK);
    printf("  objective %g; with little effort %g from nothing, %g from smaller photos\n", much.objective,
           nothing.objective, started.objective);
    CHECK(started.objective - much.objective < .5 * (nothing.objective - much.objective));
    CHECK(started.iterations <= nothing.iterations);
    CHECK(esra_joint_solve(fine, &model, &little, 0, &started) == ESRA_OK && started.objective == nothing.objective);
    for (int i = 0; i < PHOTOS; i++)
        esra_image_free(&small[i]);
    esra_joint_free(&coarse);
    esra_joint_free(&fine);
    esra_context_free(&context);
    free_scene();
}

static double objective_of(struct joint *joint, int reweighings, int iterations)
{
    struct joint_model model = {.mixing = mixing, .reflection_gain = gain, .motion = motion};
    struct joint_settings settings;
    struct joint_info info;
    esra_joint_settings_default(&settings);
    settings.black_point = false;
    settings.reweighings = reweighings;
    settings.iterations_flat = iterations;
    CHECK(esra_joint_solve(joint, &model, &settings, 0, &info) == ESRA_OK);
    return info.objective;
}

/* Without coarser levels cells share out what is smooth: as many iterations without any, which come in sevens, leave
 * several times as much to do. */
static void cells_share_out_what_is_smooth(void)
{
    struct message message = {""};
    struct context *context;
    struct joint *joint;
    make_scene();
    CHECK(esra_context_create(&context, 2, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, NULL}, 1, context) == ESRA_OK);
    double least = objective_of(joint, 30, 100), cells = objective_of(joint, 6, 21), none = objective_of(joint, 18, 7);
    printf("  objective %g; after 126 iterations %g with cells, %g without\n", least, cells, none);
    CHECK(cells - least < .3 * (none - least));
    esra_joint_free(&joint);
    esra_context_free(&context);
    free_scene();
}

static bool finite(const struct image *image)
{
    for (size_t n = 0; n < (size_t)image->width * (size_t)image->height * (size_t)image->channels; n++)
        if (!isfinite(image->data[n]))
            return false;
    return true;
}

static void check_finite(const struct run *run)
{
    struct image t, seen;
    struct joint_info info = solve(run, &t, &seen);
    CHECK(finite(&t) && finite(&seen) && isfinite(info.objective) && isfinite(info.residual));
    esra_image_free(&t);
    esra_image_free(&seen);
}

static void degenerate_problems_stay_finite(void)
{
    static const double zero[PHOTOS];
    struct run one_photo = usual_run(), dark = usual_run(), away = usual_run();
    double far[9 * PHOTOS];
    make_scene();
    one_photo.photos = 1;
    check_finite(&one_photo);
    dark.mixing = dark.gain = zero;
    check_finite(&dark);
    memcpy(far, motion, sizeof far);
    far[9 + 2] = far[18 + 5] = 1e5;
    away.motion = far;
    check_finite(&away);
    for (int i = 0; i < PHOTOS; i++)
        memset(masks[i].data, 0, WIDTH * HEIGHT * sizeof(float));
    struct run masked = usual_run();
    check_finite(&masked);
    free_scene();
}

static void one_pixel_is_enough(void)
{
    struct message message;
    struct run run = usual_run();
    for (int channels = 1; channels <= 4; channels++) {
        for (int i = 0; i < PHOTOS; i++) {
            CHECK(esra_image_create(&photos[i], 1, channels == 2 ? 9 : 1, channels, &message) == ESRA_OK);
            CHECK(esra_image_create(&masks[i], 1, channels == 2 ? 9 : 1, 1, &message) == ESRA_OK);
            photos[i].data[0] = 0.5f;
            masks[i].data[0] = 1;
        }
        check_finite(&run);
        free_scene();
    }
}

static void nonsense_is_refused(void)
{
    struct message message;
    struct context *context;
    struct joint *joint;
    struct joint_info info;
    double bad[9 * PHOTOS];
    struct run run = usual_run();
    make_scene();
    memcpy(bad, motion, sizeof bad);
    bad[12] = NAN;
    CHECK(esra_context_create(&context, 1, &message) == ESRA_OK);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){0, photos, masks}, 4, context) == ESRA_BAD_ARGUMENT);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, photos}, 4, context) == ESRA_BAD_DATA);
    CHECK(joint == NULL);
    CHECK(esra_joint_create(&joint, &(struct joint_photos){PHOTOS, photos, NULL}, 4, context) == ESRA_OK);
    CHECK(esra_joint_resume(joint, &(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = motion},
                            &run.settings, &info) == ESRA_BAD_ARGUMENT);
    CHECK(esra_joint_solve(joint, &(struct joint_model){.mixing = mixing, .reflection_gain = gain, .motion = bad},
                           &run.settings, 0, &info) == ESRA_BAD_DATA);
    esra_joint_free(&joint);
    esra_context_free(&context);
    free_scene();
}

int main(void)
{
    RUN(the_layers_are_recovered);
    RUN(a_photo_that_sees_nothing_settles_nothing);
    RUN(the_objective_descends);
    RUN(brief_solves_come_almost_as_far);
    RUN(a_ridge_holds_the_reflection);
    RUN(without_a_reflection_there_is_none);
    RUN(blocks_follow_the_size);
    RUN(threads_do_not_change_a_bit);
    RUN(lean_solves_find_the_same);
    RUN(waves_do_not_meet);
    RUN(photos_are_shared);
    RUN(the_true_motion_scores_best);
    RUN(resuming_goes_on);
    RUN(layers_of_smaller_photos_are_a_start);
    RUN(cells_share_out_what_is_smooth);
    RUN(degenerate_problems_stay_finite);
    RUN(one_pixel_is_enough);
    RUN(nonsense_is_refused);
    return check_report();
}
