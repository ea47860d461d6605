/* pipeline/plan.c - what a separation will take, before it takes anything: the memory of each stage, line by line as
 * the stages hold it, and the greatest of them. Whoever changes what a stage allocates changes its line here;
 * tests/cli/test_info.py compares the sum with what the system counted.
 *
 * Which way will be gone nobody knows: the one that takes most is planned. By homographies, or where the layers cannot
 * be told apart, less is taken. */
#include "pipeline/plan.h"

#include "align/align.h"
#include "align/reflection.h"
#include "base/colours.h"
#include "base/memory.h"
#include "evidence/leave_out.h"
#include "pipeline/series.h"
#include "solve/engine.h"
#include "solve/joint.h"

/* How far the reflection's canvas exceeds the frame, and the strips that the adjoint is added up in, where there are
 * any (solve/joint_system.h), both in frames. They follow from the motion, which nobody knows yet: these are those of a
 * hand that moves by a twentieth of the frame, and a frame more or less of either changes the whole by a twelfth. */
#define CANVAS 1.1
#define STRIPS 1.0

/* Features and transforms; tracks and what is solved for with them, in all and of each photo. Whatever the size, unless
 * photos are so small that few are found. */
#define FEATURE_BYTES       4.5e6
#define TRACK_BYTES         3e6
#define TRACK_BYTES_A_PHOTO 2.3e6

/* What a thread that has worked beside others keeps for itself: malloc() gives each a heap of its own. */
#define BESIDE_BYTES 1.5e6

/* The longest side at which depths are swept, the reflection's motion in shares of the width, labels at most, and bytes
 * of sums from which on other things make room for them (camera/depth.c). */
#define SWEEP_SIDE   700
#define SWEEP_SHARE  .2
#define SWEEP_LABELS 120
#define SWEEP_BESIDE ((double)(40 << 20))

/* All levels of a pyramid together: 1 + 1/4 + 1/16 + ... */
#define PYRAMID (4.0 / 3)

/* ---- Sizes ---- */

static double pixels(const struct shape *s)
{
    return (double)s->width * s->height;
}

/* Bytes of one block of that many floats a pixel, as base/memory.c rounds it. */
static double block(const struct shape *s, double floats)
{
    return esra_block_bytes(pixels(s) * floats * sizeof(float));
}

static double images(const struct shape *s, int count, int channels)
{
    return count * block(s, channels);
}

/* ---- What is held ---- */

/* The photos in the reference frame, and where they see it. */
static double aligned(const struct shape *s)
{
    return images(s, s->photos, s->channels) + images(s, s->photos, 1);
}

/* The same where all photos but the reference stand in the caller's own images (pipeline/model.h). */
static double aligned_in_place(const struct shape *s)
{
    return images(s, 1, s->channels) + images(s, s->photos, 1);
}

/* Its arenas: weights, warps of two floats and layers, which stay when it has solved; the vectors of the conjugate
 * gradients, and by homographies the cells of their preconditioner; and until the finest level begins or, where it may
 * solve again, as long as it solves, coarser photos with masks, and those levels' weights, warps and layers. */
static double joint_layers(const struct shape *s)
{
    return block(s, s->photos * (1 + 2) + COLOURS * (1 + CANVAS));
}

/* Of large photos the next coarser level may have strips. */
static double joint_vectors(const struct shape *s)
{
    double strips = STRIPS * (pixels(s) < JOINT_LEAN_PIXELS ? 1 : .25);
    return block(s, (1 + CANVAS) * (3 * COLOURS + 3.25) + strips * COLOURS);
}

static double joint_cells(const struct shape *s)
{
    return block(s, CANVAS * (2 * (COLOURS + 1) + 1) * (PYRAMID - 1));
}

static double joint_once(const struct shape *s)
{
    return joint_layers(s) + joint_vectors(s);
}

static double joint(const struct shape *s)
{
    return joint_once(s) + (PYRAMID - 1) * (joint_layers(s) + block(s, s->photos * (s->channels + 1)));
}

/* The layers that the paper's problem expects, and its weights, in 16 bits. */
static double expected(const struct shape *s)
{
    return (s->channels * (s->photos + 1) + s->photos) * esra_block_bytes(pixels(s) * sizeof(int16_t));
}

/* Its answer. For each channel that the fast engine solves it writes T when what it expected of all layers has gone,
 * and R over the photos. */
static double answer(const struct shape *s)
{
    return esra_engine_holds(s->engine) ? 0 : images(s, s->channels * (s->photos + 1), 1);
}

/* The solver's arenas, counted by those who lay them out. */
static double engine(const struct shape *s, bool expecting)
{
    static const esra_image weights;
    static struct codes layer;
    struct problem problem = {
        .photos = s->photos,
        .layers = s->photos + 1,
        .width = s->width,
        .height = s->height,
        .channels = s->channels,
        .weights = &weights,
        .expected = {expecting ? &layer : NULL, NULL, NULL},
    };
    return esra_block_bytes((double)esra_engine_room(s->engine, &problem, s->threads)) +
           esra_block_bytes((double)esra_monitor_room(&problem, s->threads));
}

/* ---- The stages ---- */

/* What pipeline/series.c makes of large photos, and those copies. */
static struct shape halved(const struct shape *s, double pixels_most)
{
    struct shape small = *s;
    while (pixels(&small) > pixels_most) {
        small.width = (small.width + 1) / 2;
        small.height = (small.height + 1) / 2;
    }
    return small;
}

static struct shape small_shape(const struct shape *s)
{
    return halved(s, SERIES_SMALL_PIXELS);
}

static double small_copies(const struct shape *s)
{
    struct shape small = small_shape(s);
    return small.width < s->width ? images(&small, s->photos, s->channels) : 0;
}

/* As many of `most` jobs as threads work on. */
static int beside(const struct shape *s, int most)
{
    return s->threads < most ? s->threads : most;
}

/* 55 floats a pixel of pyramids, fields and maps, 30 of them for each photo that is looked at. */
static double align_bytes(const struct shape *s)
{
    struct shape small = small_shape(s);
    int others = beside(s, s->photos - 1 < ALIGN_BESIDE ? s->photos - 1 : ALIGN_BESIDE);
    return small_copies(s) + block(&small, 25 + 30 * others) + FEATURE_BYTES;
}

/* The photos and what T leaves of each, and for as many pairs as are looked at side by side pyramids and fields, of
 * which more are needed to search than to make exact. The joint problem between takes less. */
static double reflection_bytes(const struct shape *s)
{
    struct shape small = small_shape(s), searched = halved(&small, REFLECTION_PIXELS),
                 exact = halved(&small, REFLECTION_PIXELS_EXACT);
    int pairs = beside(s, s->photos - 1);
    double search = block(&searched, 19 * s->photos) + pairs * (block(&searched, 45) + BESIDE_BYTES);
    double finish = block(&exact, 19 * s->photos) + pairs * (block(&exact, 30) + BESIDE_BYTES);
    return small_copies(s) + aligned(&small) + (search > finish ? search : finish);
}

/* A trial by depth that has not settled the way: photos aligned, the reflection's maps, the scene's depth and
 * gradients. */
static double tried(const struct shape *s)
{
    return aligned(s) + images(s, s->photos, 2) + images(s, 1, 1 + 2 * s->channels);
}

/* Of three photos or more that are small themselves; beside large ones it does not count. */
static double held(const struct shape *s)
{
    return s->photos < 3 || small_shape(s).width < s->width ? 0 : tried(s);
}

/* A solve; then T, R and four pictures between, each in all channels, and no coarser levels. */
static double rounds(const struct shape *s)
{
    double first = joint(s), next = joint_once(s) + images(s, 6, s->channels);
    return held(s) + aligned(s) + joint_cells(s) + (first > next ? first : next);
}

/* Of small photos; of large ones one solve, beside which half their size is little, the largest without tables. */
static double rounds_bytes(const struct shape *s)
{
    double tables = pixels(s) < JOINT_LEAN_PIXELS ? 0 : block(s, 2 * s->photos);
    return small_shape(s).width == s->width ? rounds(s) : aligned_in_place(s) + joint_once(s) - tables;
}

/* The judge's own joint problem at the size that it judges at, as many more as are solved side by side, the photos
 * there, and what T is without each. */
static double judging(const struct shape *s)
{
    struct shape judged = *s;
    while (judged.width > LEAVE_OUT_SIDE || judged.height > LEAVE_OUT_SIDE) {
        judged.width = (judged.width + 1) / 2;
        judged.height = (judged.height + 1) / 2;
    }
    return joint(&judged) + joint_cells(&judged) +
           beside(s, s->photos) * (joint_layers(&judged) + joint_vectors(&judged) + joint_cells(&judged) +
                                   images(&judged, 6, s->channels) + BESIDE_BYTES) +
           images(&judged, 2 * s->photos, s->channels);
}

static double judge_bytes(const struct shape *s)
{
    struct shape small = small_shape(s);
    return small_copies(s) + held(s) + aligned(&small) + joint_layers(&small) + judging(&small) + FEATURE_BYTES;
}

/* The reflection's depth: photos aligned, the scene's maps, vote and depth, what the scene leaves of each photo; and at
 * the size compared, for every label a cost and two bytes of sums, beside 28 floats of pictures and labels, and the
 * photos' gradients where the sums are small. */
static double sweep(const struct shape *s)
{
    double longest = s->width > s->height ? s->width : s->height,
           scale = longest > SWEEP_SIDE ? SWEEP_SIDE / longest : 1;
    double labels = SWEEP_SHARE * scale * s->width < SWEEP_LABELS ? SWEEP_SHARE * scale * s->width : SWEEP_LABELS;
    double compared = pixels(s) * scale * scale;
    double fields = 2 * labels * compared > SWEEP_BESIDE ? 0 : 8 * s->photos * compared * sizeof(float);
    return aligned(s) + images(s, s->photos, 2 + s->channels) + images(s, 1, 5 + 3 * s->channels) + fields +
           compared * (3 * labels + 28 * sizeof(float));
}

/* By depth: that, or the photos aligned, the maps of both layers, the scene's depth, gradients and T, masks kept while
 * R's motion is followed, and with them the joint solve. With its expected gradients, but neither the scene's maps nor
 * what is for following, it takes less. */
static double depth(const struct shape *s)
{
    double solving = aligned(s) + images(s, s->photos, 5) + images(s, 1, 1 + 3 * s->channels) + joint_once(s);
    return solving > sweep(s) ? solving : sweep(s);
}

/* Three photos or more are tried by depth as well, and once more beside that where R's motion is followed. */
static double trial_bytes(const struct shape *s)
{
    struct shape small = small_shape(s);
    double found = tried(&small) + depth(&small) + TRACK_BYTES + s->photos * TRACK_BYTES_A_PHOTO,
           judged = 2 * tried(&small) + judging(&small);
    return s->photos < 3 ? 0 : small_copies(s) + (found > judged ? found : judged);
}

/* And the root of the reference photo. Of small photos the trial's model is kept while their roots are tried and
 * judged.
 */
static double depth_bytes(const struct shape *s)
{
    double found = depth(s) + images(s, 1, s->channels), judged = tried(s) + joint_layers(s) + judging(s);
    return s->photos < 3 ? 0 : held(s) + (found > judged ? found : judged);
}

/* One layer and its weights at a time beside the guide. */
static double gradients_bytes(const struct shape *s)
{
    return aligned_in_place(s) + joint_layers(s) + expected(s) + images(s, s->photos, 1) + images(s, 2, s->channels) +
           images(s, 1, 1);
}

/* Where photos vote less is expected. The layers are written to the caller's images when the engine's arenas and
 * aligned photos, which take more, are gone. */
static double solve_bytes(const struct shape *s)
{
    return images(s, 1, s->channels) + images(s, 1, 1) + expected(s) + answer(s) + engine(s, true);
}

static const struct need {
    const char *name;
    double (*bytes)(const struct shape *);
} needs[] = {
    {"align", align_bytes}, {"reflection", reflection_bytes}, {"joint", rounds_bytes},        {"judge", judge_bytes},
    {"trial", trial_bytes}, {"depth", depth_bytes},           {"gradients", gradients_bytes}, {"solve", solve_bytes},
};

/* ---- Seconds ---- */

/* Of one core of 3 GHz, roughly: for a pixel of a small photo, of a photo as it came, and for each channel of a layer's
 * pixel, to the gap that esra separate asks for. Shares of samples (perf) of stone, toy and five made photos of 12 MP.
 */
static const struct cost {
    double small_s, pixel_s, sample_s;
} costs[PARTS] = {
    [PART_LOAD] = {0, 7e-8, 0},    [PART_ALIGN] = {1.2e-6, 0, 0}, [PART_REFLECTION] = {4.4e-6, 0, 0},
    [PART_TRIAL] = {9.5e-6, 0, 0}, [PART_JOINT] = {4.5e-6, 0, 0}, [PART_JUDGE] = {2.2e-6, 0, 0},
    [PART_DELIVER] = {0, 4e-6, 0}, [PART_SOLVE] = {0, 0, .45e-6}, [PART_RETURN] = {0, 2e-7, 0},
};

static double seconds(enum part part, const struct shape *small, const struct shape *full)
{
    const struct cost *cost = &costs[part];
    return full->photos * (cost->small_s * pixels(small) + cost->pixel_s * pixels(full)) +
           cost->sample_s * (full->photos + 1) * full->channels * pixels(full);
}

void esra_plan_parts(const struct shape *shape, bool draft, double core_s[PARTS])
{
    struct shape small = small_shape(shape);
    for (int part = 0; part < PARTS; part++)
        core_s[part] = seconds(part, &small, part == PART_SOLVE && draft ? &small : shape);
    if (shape->photos < 3)
        core_s[PART_TRIAL] = 0;
    if (draft || small.width == shape->width)
        core_s[PART_DELIVER] = 0;
}

void esra_pipeline_plan(const struct shape *shape, esra_plan *plan)
{
    double core_s[PARTS];
    plan->bytes = plan->core_seconds = 0;
    esra_plan_parts(shape, false, core_s);
    for (int part = 0; part < PARTS; part++)
        plan->core_seconds += core_s[part];
    for (size_t n = 0; n < sizeof needs / sizeof needs[0]; n++) {
        double bytes = needs[n].bytes(shape);
        if (bytes > plan->bytes) {
            plan->bytes = bytes;
            plan->stage = needs[n].name;
        }
    }
}

void esra_solve_plan(const struct shape *shape, esra_plan *plan)
{
    plan->bytes = engine(shape, false);
    plan->stage = "solve";
    plan->core_seconds = seconds(PART_SOLVE, shape, shape);
}
