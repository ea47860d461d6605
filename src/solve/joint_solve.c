/* solve/joint_solve.c - the way through the levels of the joint two-layer model. */
#include <math.h>
#include <string.h>

#include "solve/joint_object.h"

/* Share of the reflection's pixels that the black point lets below zero. Mean PSNR of T over six scenes, m = 3, the
 * rule applied at every level: .0001 32.0 dB, .001 34.6, .003 35.6, .01 35.6, .03 34.4; lower ones follow the noise. */
#define BLACK_SHARE 0.005

/* Descents of fewer iterations are for details, and have no cells in their preconditioner. */
#define DETAIL_ITERATIONS 8

void esra_joint_settings_default(struct joint_settings *settings)
{
    *settings = (struct joint_settings){
        .lambda_transmitted = 1.5e-3,
        .lambda_reflected = 2e-3,
        .lambda_expected = 0.05,
        .robust_scale = 0.02,
        .edge_scale = 0.0005,
        .negative = 1,
        .reweighings = 3,
        .coarse_effort = 3,
        .iterations = 30,
        .iterations_flat = 20,
        .tolerance = 1e-4,
        .black_point = true,
    };
}

/* What coarser layers lack are details, which hardly depend on what is far from them: a few steps of conjugate
 * gradients follow each weights and edges, and the minimum is as near as these have been renewed often. What is shared
 * out wrongly between the layers, smooth parts above all, takes steps: at half the size, where these cost a quarter
 * (doc/notes/joint.md, "From smaller photos"). */
void esra_joint_settings_brief(struct joint_settings *settings)
{
    settings->fine = (struct joint_effort){.reweighings = 4, .iterations = 4};
    settings->next = (struct joint_effort){.reweighings = 5, .iterations = 20};
}

/* Tables of homographies are for small levels, and for coarse ones, which hundreds of iterations read. At the finest
 * iterations are few: points are made anew for each, in 2 ns, where the photo's kernel takes 4. */
static void layout_layers(struct joint *joint, struct arena *arena)
{
    struct joint_level *level = &joint->level[joint->wanted];
    esra_joint_level_layout_layers(level, joint->aimed || joint_pixels(level, TRANSMITTED) < joint->lean_pixels, arena);
}

static void layout_coarse(struct joint *joint, struct arena *arena)
{
    for (int l = joint->wanted + 1; l < joint->levels; l++)
        esra_joint_level_layout_layers(&joint->level[l], true, arena);
}

static void layout_vectors(struct joint *joint, struct arena *arena)
{
    esra_joint_system_layout(&joint->system, &joint->level[joint->wanted], arena);
    if (joint->smooth != NO_LEVEL)
        esra_joint_coarse_layout(&joint->system.coarse, &joint->level[joint->smooth], arena);
}

/* The warps of these maps were made before: those of one joint solve serve all that share its photos. */
static bool is_aimed(const struct joint *first, const struct joint_model *model, int wanted)
{
    return first && model->maps && first->aimed == model->maps && first->finest >= 0 && first->finest <= wanted;
}

static void copy_warps(struct joint *joint, int coarsest)
{
    for (int l = joint->wanted; l <= coarsest; l++)
        for (int i = 0; i < joint->photos; i++)
            esra_warp_copy(&joint->level[l].warp[i], &joint->first->level[l].warp[i]);
}

/* Warps of the levels from `wanted` to `coarsest`. */
static void aim_levels(struct joint *joint, const struct joint_model *model, int coarsest)
{
    if (is_aimed(joint->first, model, joint->wanted)) {
        copy_warps(joint, coarsest);
        return;
    }
    for (int l = joint->wanted; model->maps && l <= coarsest; l++)
        esra_joint_level_aim_maps(&joint->level[l], model->maps, 1 << l, joint->canvas.left, joint->canvas.top,
                                  joint->context);
    if (model->maps)
        return;
    for (int i = 0; i < joint->photos; i++)
        esra_joint_motion_to_canvas(model->motion + 9 * i, &joint->canvas, joint->motion + 9 * i);
    for (int l = 0; l <= coarsest; l++) {
        if (l >= joint->wanted)
            esra_joint_level_aim(&joint->level[l], joint->motion, joint->context);
        for (int i = 0; i < joint->photos; i++)
            esra_joint_motion_halve(joint->motion + 9 * i, joint->motion + 9 * i);
    }
}

static void size_canvases(struct joint *joint)
{
    int width = joint->canvas.width, height = joint->canvas.height;
    for (int l = 0; l < joint->levels; l++) {
        joint->level[l].width[REFLECTED] = width;
        joint->level[l].height[REFLECTED] = height;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
}

static bool has_size(const struct image *image, const struct joint_level *top, int channels)
{
    return image->width == top->width[TRANSMITTED] && image->height == top->height[TRANSMITTED] &&
           image->channels == channels;
}

static esra_status check_model(const struct joint *joint, const struct joint_model *model)
{
    const struct joint_level *top = &joint->level[0];
    for (int k = 0; k < 2; k++)
        if (model->expected && !has_size(&model->expected[k], top, top->channels))
            return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT,
                             "the gradients given have another size than the photos");
    for (int i = 0; i < joint->photos; i++) {
        if (model->maps && !has_size(&model->maps[i], top, 2))
            return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT,
                             "the map of photo %d has another size than the photo", i + 1);
        bool finite = isfinite(model->mixing[i]) && isfinite(model->reflection_gain[i]) &&
                      (!model->confidence || (model->confidence[i] >= 0 && isfinite(model->confidence[i])));
        for (int k = 0; !model->maps && k < 9; k++)
            finite = finite && isfinite(model->motion[9 * i + k]);
        if (!finite)
            return esra_fail(joint->context->message, ESRA_BAD_DATA,
                             "gain or motion of photo %d is not a finite number", i + 1);
    }
    return ESRA_OK;
}

/* Strips depend on the warps: room for those of the level that needs most. */
static void measure_strips(struct joint *joint, int coarsest)
{
    joint->system.context = joint->context;
    joint->system.lean_pixels = joint->lean_pixels;
    joint->system.strip_pixels = 0;
    for (int l = joint->wanted; l <= coarsest; l++) {
        joint->system.level = &joint->level[l];
        size_t pixels_here = esra_joint_strips(&joint->system);
        if (pixels_here > joint->system.strip_pixels)
            joint->system.strip_pixels = pixels_here;
    }
}

static void set_system(struct joint *joint, const struct joint_model *model, const struct joint_settings *settings)
{
    size_t bytes = (size_t)joint->photos * sizeof(double);
    memcpy(joint->mixing, model->mixing, bytes);
    memcpy(joint->reflection_gain, model->reflection_gain, bytes);
    for (int i = 0; i < joint->photos; i++)
        joint->confidence[i] = model->confidence ? model->confidence[i] : 1;
    esra_kernels_fill(&joint->system.kernels, joint->context->features);
    joint->system.mixing = joint->mixing;
    joint->system.reflection_gain = joint->reflection_gain;
    joint->system.confidence = joint->confidence;
    joint->system.lambda_expected = settings->lambda_expected;
    joint->system.lambda[TRANSMITTED] = settings->lambda_transmitted;
    joint->system.lambda[REFLECTED] = settings->lambda_reflected;
    joint->system.robust_scale = settings->robust_scale;
    joint->system.edge_scale = settings->edge_scale;
    joint->system.negative = settings->negative;
    joint->system.ridge[REFLECTED] = settings->ridge;
    joint->system.layers = settings->alone ? 1 : JOINT_LAYERS;
}

/* At the level so many below the finest; `cold`: from nothing. */
static struct joint_effort effort_at(const struct joint *joint, const struct joint_settings *settings, int below,
                                     bool cold)
{
    struct joint_effort own = {0};
    int times = below > 0 ? settings->coarse_effort : 1;
    if (!cold)
        own = below == 0 ? settings->fine : below == 1 ? settings->next : own;
    return (struct joint_effort){own.reweighings > 0 ? own.reweighings : settings->reweighings * times,
                                 own.iterations > 0                ? own.iterations
                                 : joint->aimed || settings->alone ? settings->iterations
                                                                   : settings->iterations_flat};
}

/* Cells are for homographies: by depth, where layers do not quite add up, what is smooth is not told any better by them
 * (doc/notes/joint.md). */
static bool has_cells(const struct joint *joint, const struct joint_settings *settings, struct joint_effort effort)
{
    return !joint->aimed && !settings->alone && effort.iterations >= DETAIL_ITERATIONS;
}

/* Cells cover the canvas, in which the frame begins; at coarser levels within half a pixel. */
static void enter(struct joint *joint, int l)
{
    esra_joint_system_enter(&joint->system, &joint->level[l]);
    esra_joint_coarse_enter(&joint->system.coarse, &joint->level[l], -joint->canvas.left >> l, -joint->canvas.top >> l);
}

static colours mean_reflection(const struct joint_level *level)
{
    double sum[COLOURS] = {0};
    colours mean = {0};
    size_t pixels = joint_pixels(level, REFLECTED);
    for (size_t n = 0; n < pixels; n++)
        for (int c = 0; c < COLOURS; c++)
            sum[c] += level->layer[REFLECTED][n][c];
    for (int c = 0; c < COLOURS; c++)
        mean[c] = (float)(sum[c] / (double)pixels);
    return mean;
}

/* The constant between the layers is told by differences of gains alone, and cells follow an error of them at once. Of
 * so few photos it stays where coarser levels settled it. Made scenes (doc/notes/joint.md), T's gain as it is and held,
 * fitted and plain: 84 x 64, three photos, 3.2 3.7, .9 10.3 dB; others of two and three 10.70 10.66, 13.47 13.41; of
 * four and five 17.00 16.86, 19.83 19.11. */
#define HELD_PHOTOS 3

static bool holds_constant(const struct joint *joint, const struct joint_settings *settings)
{
    int photos = 0;
    for (int i = 0; i < joint->photos; i++)
        photos += joint->confidence[i] > 0;
    return joint->system.coarse.wanted && settings->black_point && photos <= HELD_PHOTOS;
}

/* T takes what best keeps a_i T + b_i R. */
static void hold_constant(const struct joint *joint, colours mean)
{
    const struct joint_level *level = joint->system.level;
    colours excess = mean_reflection(level) - mean;
    double both = 0, square = 0;
    for (int i = 0; i < joint->photos; i++) {
        both += joint->confidence[i] * joint->mixing[i] * joint->reflection_gain[i];
        square += joint->confidence[i] * joint->mixing[i] * joint->mixing[i];
    }
    colours share = square > 0 ? (float)(both / square) * excess : (colours){0};
    for (size_t n = 0; n < joint_pixels(level, REFLECTED); n++)
        level->layer[REFLECTED][n] -= excess;
    for (size_t n = 0; n < joint_pixels(level, TRANSMITTED); n++)
        level->layer[TRANSMITTED][n] += share;
}

/* Reweighs and descends at the level entered. */
static void improve(struct joint *joint, const struct joint_settings *settings, bool cold, struct joint_info *info)
{
    double share =
        (double)joint_pixels(joint->system.level, TRANSMITTED) / (double)joint_pixels(&joint->level[0], TRANSMITTED);
    int below = (int)(joint->system.level - &joint->level[joint->wanted]);
    struct joint_effort effort = effort_at(joint, settings, below, cold);
    joint->system.coarse.wanted = has_cells(joint, settings, effort);
    bool holds = below == 0 && !cold && holds_constant(joint, settings);
    colours mean = holds ? mean_reflection(joint->system.level) : (colours){0};
    for (int round = 0; round < effort.reweighings && !esra_context_stopping(joint->context); round++) {
        esra_joint_reweigh(&joint->system, cold && round == 0);
        int made = esra_joint_descend(&joint->system, effort.iterations, settings->tolerance);
        info->iterations += made;
        info->work += share * made;
    }
    if (holds)
        hold_constant(joint, mean);
}

/* Every photo that takes part must show R in this part of its pixels, or its motion is not tested by what is left. */
#define LEAST_OVERLAP 0.25

static bool photos_overlap(const struct joint *joint)
{
    const struct joint_level *level = joint->system.level;
    for (int i = 0; i < level->photos; i++) {
        size_t seen = 0, both = 0;
        for (size_t n = 0; joint->confidence[i] > 0 && n < joint_pixels(level, TRANSMITTED); n++) {
            seen += joint_mask(level, i, n) > 0;
            both += level->weight[i][n] > 0;
        }
        if (seen > 0 && (both == 0 || (double)both < LEAST_OVERLAP * (double)seen))
            return false;
    }
    return true;
}

/* F with every term a mean over the pixels it was summed over: a motion that moves R out of sight gains nothing by the
 * pixels that then do not count, and none is punished for its larger canvas. */
static double comparable(const struct joint *joint, const struct joint_value *value)
{
    double score = photos_overlap(joint) ? joint->photos * value->data / value->seen : INFINITY;
    for (int k = 0; k < joint->system.layers; k++)
        score += value->prior[k] / (double)joint_pixels(joint->system.level, k);
    return score;
}

static void finish(struct joint *joint, struct joint_info *info)
{
    struct joint_value value = esra_joint_reweigh(&joint->system, false);
    double pixels = (double)joint_pixels(joint->system.level, TRANSMITTED);
    info->objective = value.objective / pixels;
    info->data = value.data / pixels;
    info->score = comparable(joint, &value);
    info->residual = value.trusted > 0 ? sqrt(value.square / value.trusted) : 0;
    info->trusted = value.seen > 0 ? value.trusted / value.seen : 0;
}

static void clear_layer(struct joint_level *level, int k)
{
    memset(level->layer[k], 0, joint_pixels(level, k) * sizeof(colours));
}

static void settle_black(struct joint *joint)
{
    esra_joint_black_point(joint->system.level, joint->mixing, joint->reflection_gain, BLACK_SHARE,
                           joint->system.jacobi[TRANSMITTED]);
}

/* What coarser levels hold has led to the finest. */
static void leave_coarse(struct joint *joint)
{
    esra_arena_free(&joint->coarse);
    esra_arena_free(&joint->pyramid);
    joint->halved = false;
}

/* The coarsest level finds the low frequencies; finer ones keep them. What decides the constant between the layers, the
 * darkest pixels of R, are small: averaged away in coarse levels, so that each settles it anew. The finest does not:
 * noise decides there, and the data, where gains differ, has the last word. (Two scenes, m = 5: T 37.5 dB, 34.9 with
 * the finest settled too; with 1 % errors in b_i 35.5 and 33.7.) */
static void climb(struct joint *joint, const struct joint_settings *settings, struct joint_info *info)
{
    bool started = joint->start;
    int first = started ? joint->start_level : joint->levels - 1;
    for (int l = first; l >= joint->wanted; l--) {
        bool coarsest = l == joint->levels - 1;
        if (l < first)
            esra_joint_level_prolong(&joint->level[l + 1], &joint->level[l], joint->context);
        else if (started)
            esra_joint_take_start(joint);
        else
            for (int k = 0; k < JOINT_LAYERS; k++)
                clear_layer(&joint->level[l], k);
        if (settings->once && l == 0)
            leave_coarse(joint);
        enter(joint, l);
        improve(joint, settings, coarsest && !started, info);
        if (settings->black_point && !settings->alone && (coarsest || l > joint->wanted))
            settle_black(joint);
    }
}

bool esra_joint_start(struct joint *joint, struct joint **start, int halvings)
{
    int finest = (*start)->finest;
    const struct joint_level *from = &(*start)->level[finest < 0 ? 0 : finest];
    const struct joint_level *level = &joint->level[halvings < joint->levels ? halvings : 0];
    if (finest < 0 || level->width[TRANSMITTED] != from->width[TRANSMITTED] ||
        level->height[TRANSMITTED] != from->height[TRANSMITTED])
        return false;
    esra_joint_free(&joint->start);
    joint->start = *start;
    joint->start_level = halvings;
    *start = NULL;
    return true;
}

static bool level_has_cells(const struct joint *joint, const struct joint_settings *settings, int l, bool cold)
{
    return has_cells(joint, settings, effort_at(joint, settings, l - joint->wanted, cold));
}

/* The finest level that has cells; the coarsest may begin from nothing. */
static void find_cells(struct joint *joint, const struct joint_settings *settings, int coarsest)
{
    int l = joint->wanted;
    while (l < coarsest && !level_has_cells(joint, settings, l, false))
        l++;
    bool found = level_has_cells(joint, settings, l, false) || level_has_cells(joint, settings, l, true);
    joint->smooth = found ? l : NO_LEVEL;
}

/* Motions, gains and expected gradients of the model, for the levels to `coarsest`, and room for the descent by them.
 */
static esra_status load_model(struct joint *joint, const struct joint_model *model,
                              const struct joint_settings *settings, int coarsest)
{
    aim_levels(joint, model, coarsest);
    measure_strips(joint, coarsest);
    find_cells(joint, settings, coarsest);
    if (!esra_joint_place(joint, &joint->vectors, layout_vectors))
        return esra_fail_memory(joint->context->message);
    set_system(joint, model, settings);
    return esra_joint_expect(joint, model);
}

esra_status esra_joint_solve(struct joint *joint, const struct joint_model *model,
                             const struct joint_settings *settings, int finest, struct joint_info *info)
{
    const struct joint_level *top = &joint->level[0];
    esra_status status = ESRA_OK;
    *info = (struct joint_info){0};
    TRY(check_model(joint, model));
    TRY(esra_joint_halve(joint));
    joint->finest = -1;
    joint->wanted = finest < 0 ? 0 : finest >= joint->levels ? joint->levels - 1 : finest;
    joint->canvas = is_aimed(joint->first, model, joint->wanted) ? joint->first->canvas
                    : model->maps                                ? esra_joint_canvas_maps(model->maps, top)
                                  : esra_joint_canvas(model->motion, joint->photos, top->width[TRANSMITTED],
                                                      top->height[TRANSMITTED]);
    joint->aimed = model->maps;
    size_canvases(joint);
    if (!esra_joint_place(joint, &joint->layers, layout_layers) ||
        !esra_joint_place(joint, &joint->coarse, layout_coarse))
        return esra_fail_memory(joint->context->message);
    TRY(load_model(joint, model, settings, joint->levels - 1));
    climb(joint, settings, info);
    finish(joint, info);
    joint->finest = joint->wanted;
done:
    return status;
}

esra_status esra_joint_resume(struct joint *joint, const struct joint_model *model,
                              const struct joint_settings *settings, struct joint_info *info)
{
    esra_status status = ESRA_OK;
    *info = (struct joint_info){0};
    if (joint->finest < 0)
        return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT, "there is nothing to go on from: solve first");
    if (!model->maps != !joint->aimed)
        return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT,
                         "layers that maps led to are gone on with by maps, and others by homographies");
    TRY(check_model(joint, model));
    joint->aimed = model->maps;
    TRY(load_model(joint, model, settings, joint->finest));
    enter(joint, joint->finest);
    if (settings->alone)
        clear_layer(&joint->level[joint->finest], REFLECTED);
    improve(joint, settings, false, info);
    finish(joint, info);
done:
    return status;
}
