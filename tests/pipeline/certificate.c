/* tests/pipeline/certificate.c - the gap that a separation tells is that of the problem it made: the solve inside it is
 * caught (the linker's --wrap), asked for its duals as well, and checked from the arrays alone, in double. */
#include "solve/solve.h"

#include "../solve/instance.h"

#define WIDTH   64
#define HEIGHT  48
#define PHOTOS  3
#define SAMPLES (WIDTH * HEIGHT * 3)

esra_status __real_esra_solve(struct context *context, const struct solve_task *task, struct solve_memory *memory,
                              esra_info *info);
esra_status __wrap_esra_solve(struct context *context, const struct solve_task *task, struct solve_memory *memory,
                              esra_info *info);

static int checked;
static double gap_asked;

static float sample(const esra_image *image, int x, int y, int c)
{
    return image->data[y * image->row_stride + x * image->column_stride + c * image->channel_stride];
}

/* One difference of E, from layers that are expected, or from votes. */
static float expect(const struct solve_task *task, int n, int x, int y, int c)
{
    const esra_problem *problem = task->problem;
    int width = problem->mixtures[0].width, l = n / 2, right = n % 2, down = !right, here = y * width + x;
    if (task->expected.layers) {
        const struct codes *layer = &task->expected.layers[c * (problem->photos + 1) + l];
        float from, to;
        esra_codes_load(layer, (size_t)here, &from, 1);
        esra_codes_load(layer, (size_t)(here + down * width + right), &to, 1);
        return isfinite(from) && isfinite(to) ? to - from : 0;
    }
    float scene = task->expected.voted[2 * c + right].data[here];
    if (l == 0)
        return scene;
    const esra_image *photo = &problem->mixtures[l - 1], *weight = &problem->weights[l - 1];
    if (sample(weight, x, y, 0) == 0 || sample(weight, x + right, y + down, 0) == 0)
        return 0;
    return sample(photo, x + right, y + down, c) - sample(photo, x, y, c) - (float)problem->mixing[l - 1] * scene;
}

static void copy_image(const esra_image *to, const esra_image *from)
{
    for (int c = 0; c < from->channels; c++)
        for (int y = 0; y < from->height; y++)
            for (int x = 0; x < from->width; x++)
                to->data[y * to->row_stride + x * to->column_stride + c * to->channel_stride] = sample(from, x, y, c);
}

/* The photos and their weights, before layers take their place. */
static void take_photos(struct instance *it, const struct solve_task *task)
{
    const esra_problem *problem = task->problem;
    size_t pixels = (size_t)it->width * (size_t)it->height;
    it->weighted = problem->weights || task->expected.weights;
    for (int i = 0; i < problem->photos; i++) {
        it->mixing[i] = problem->mixing[i];
        copy_image(&it->mixtures[i], &problem->mixtures[i]);
        if (problem->weights)
            copy_image(&it->weights[i], &problem->weights[i]);
        else if (it->weighted)
            esra_codes_load(&task->expected.weights[i], 0, it->weights[i].data, pixels);
    }
}

/* E as arrays, before the solve gives up what it follows from. */
static void take_gradients(struct instance *it, const struct solve_task *task)
{
    for (int n = 0; n < 2 * it->photos + 2; n++)
        for (int c = 0; c < it->channels; c++)
            for (int y = 0; y < it->height - !(n % 2); y++)
                for (int x = 0; x < it->width - n % 2; x++) {
                    const esra_image *to = &it->gradients[n], *given = task->problem->gradients;
                    to->data[y * to->row_stride + x * to->column_stride + c * to->channel_stride] =
                        given ? sample(&given[n], x, y, c) : expect(task, n, x, y, c);
                }
}

esra_status __wrap_esra_solve(struct context *context, const struct solve_task *task, struct solve_memory *memory,
                              esra_info *info)
{
    const esra_problem *problem = task->problem;
    const esra_image *first = &problem->mixtures[0];
    struct instance it = instance_make(problem->photos, first->width, first->height, first->channels);
    esra_result with_duals = *task->result;
    struct solve_task again = *task;
    take_photos(&it, task);
    take_gradients(&it, task);
    with_duals.duals = it.duals;
    again.result = &with_duals;
    esra_status status = __real_esra_solve(context, &again, memory, info);
    it.lambda = task->settings->lambda;
    gap_asked = task->settings->gap;
    for (int l = 0; l <= problem->photos; l++)
        it.layers[l] = task->result->layers[l];
    if (CHECK(status == ESRA_OK))
        instance_verify(&it, info);
    checked++;
    instance_free(&it);
    return status;
}

/* Patches that move by i * (2, -1), over others that move by i * (-3, 2). */
static void paint(float *samples, int channels)
{
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < WIDTH * HEIGHT * channels; n++) {
            int x = n / channels % WIDTH, y = n / channels / WIDTH, c = n % channels;
            int a = (x - 2 * i + 64) / 7 * 31 + (y + i + 64) / 6 * 17,
                b = (x + 3 * i + 64) / 9 * 13 + (y - 2 * i + 64) / 8 * 29;
            samples[i * SAMPLES + n] = 0.05f * (float)((a + c) % 11) + 0.03f * (float)(b % 7);
        }
}

/* A draft asks for five times the gap, the best effort for a tenth of it. */
static void the_gap_told_is_that_of_the_problem_solved(void)
{
    static const struct {
        int effort;
        double gap;
    } turns[] = {{ESRA_EFFORT_NORMAL, 1}, {ESRA_EFFORT_DRAFT, 5}, {ESRA_EFFORT_BEST, .1}, {ESRA_EFFORT_NORMAL, 1}};
    static float samples[PHOTOS * SAMPLES], transmitted[SAMPLES], gradient[SAMPLES];
    for (int turn = 0; turn < 4; turn++) {
        int channels = turn % 2 ? 3 : 1;
        esra_image photos[PHOTOS], gradients[2 * (PHOTOS + 1)];
        esra_photos input = ESRA_PHOTOS_INIT;
        esra_separation out = ESRA_SEPARATION_INIT;
        esra_info info = ESRA_INFO_INIT;
        esra_settings settings;
        esra_solver *solver;
        paint(samples, channels);
        for (int i = 0; i < PHOTOS; i++)
            photos[i] = esra_image_interleaved(samples + i * SAMPLES, WIDTH, HEIGHT, channels);
        for (int k = 0; k < 2 * (PHOTOS + 1); k++)
            gradients[k] = esra_image_planar(gradient, WIDTH, HEIGHT, channels);
        input.photos = PHOTOS;
        input.images = photos;
        input.gradients = turn == 3 ? gradients : NULL;
        input.effort = turns[turn].effort;
        out.info = &info;
        out.transmitted = esra_image_interleaved(transmitted, WIDTH, HEIGHT, channels);
        esra_settings_default(&settings);
        settings.lambda = 0.003;
        settings.gap = turn < 2 ? 0.05 : 1e-3;
        settings.max_iterations = 60;
        checked = 0;
        CHECK(esra_solver_create(&solver) == ESRA_OK);
        CHECK(esra_solver_separate(solver, &input, &settings, &out) == ESRA_OK);
        CHECK(checked == 1 && out.method != ESRA_METHOD_NONE);
        CHECK_NEAR(gap_asked, turns[turn].gap * settings.gap, 1e-15);
        CHECK(info.gap >= (info.objective - info.bound) / info.objective * (1 - 1e-9));
        esra_solver_free(&solver);
    }
}

/* Patches over one another. */
static void paint_picture(float *picture, int width, int height)
{
    for (int n = 0; n < 90; n++) {
        int size = (int)check_random(4, 30), left = (int)check_random(-10, width), top = (int)check_random(-10, height);
        float level = (float)check_random(0, 1);
        for (int y = top < 0 ? 0 : top; y < height && y < top + size; y++)
            for (int x = left < 0 ? 0 : left; x < width && x < left + size; x++)
                picture[y * width + x] = level;
    }
}

static void so_it_is_by_depth(void)
{
    enum { SIDE = 150, SIZE = 96 * 72 };
    static float pictures[2][SIDE * SIDE], photos[PHOTOS][SIZE], transmitted[SIZE];
    esra_image layers[2], views[PHOTOS];
    esra_synth_settings scene;
    esra_synth_result made = ESRA_SYNTH_RESULT_INIT;
    esra_photos input = ESRA_PHOTOS_INIT;
    esra_separation out = ESRA_SEPARATION_INIT;
    esra_solver *solver;
    for (int l = 0; l < 2; l++) {
        paint_picture(pictures[l], SIDE, SIDE);
        layers[l] = esra_image_planar(pictures[l], SIDE, SIDE, 1);
    }
    for (int i = 0; i < PHOTOS; i++)
        views[i] = esra_image_planar(photos[i], 96, 72, 1);
    esra_synth_settings_default(&scene);
    scene.photos = PHOTOS;
    scene.width = 96;
    scene.height = 72;
    scene.shift_px = 6;
    scene.depth = true;
    made.photos = views;
    CHECK(esra_synth(&layers[0], &layers[1], &scene, &made) == ESRA_OK);
    input.photos = PHOTOS;
    input.images = views;
    input.motion = ESRA_MOTION_DEPTH;
    out.transmitted = esra_image_planar(transmitted, 96, 72, 1);
    checked = 0;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &input, NULL, &out) == ESRA_OK);
    CHECK(checked == 1 && out.method != ESRA_METHOD_NONE && out.motion == ESRA_MOTION_DEPTH);
    esra_solver_free(&solver);
}

int main(void)
{
    RUN(the_gap_told_is_that_of_the_problem_solved);
    RUN(so_it_is_by_depth);
    return check_report();
}
