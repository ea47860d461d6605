/* pipeline/plan.c - what a separation will take, before it takes anything: the memory of each stage, line by line as
 * the stages hold it, and the greatest of them. Whoever changes what a stage allocates changes its line here;
 * tests/cli/test_info.py compares the sum with what the system counted.
 *
 * The way by the joint solve is planned. Where the layers cannot be told apart it is not gone to its end, and less is
 * taken. */
#include "pipeline/plan.h"

#include "base/memory.h"
#include "ops/lanes.h"
#include "solve/engine.h"

/* How far the reflection's canvas exceeds the frame, and the strips that the adjoint is added up in
 * (solve/joint_system.h), both in frames. They follow from the motion, which nobody knows yet: these are those of a
 * hand that moves by a tenth of the frame, and a frame more or less of either changes the whole by a twelfth. */
#define CANVAS 1.4
#define STRIPS 2.0

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

/* Its three arenas: photos with masks; weights, warps of two floats and layers; vectors of the conjugate gradients. */
static double joint(const struct shape *s)
{
    double m = s->photos, layers = 1 + CANVAS;
    return block(s, PYRAMID * m * (LANES + 1)) + block(s, PYRAMID * (m * (1 + 2) + LANES * layers)) +
           block(s, layers * (3 * LANES + 3.25) + STRIPS * LANES);
}

/* Gradients, weights and start of the paper's problem. */
static double guide(const struct shape *s)
{
    return images(s, 3 * (s->photos + 1), s->channels) + images(s, s->photos, 1);
}

/* The solver's arenas, counted by those who lay them out. */
static double engine(const struct shape *s)
{
    static const esra_image weights;
    struct problem problem = {
        .photos = s->photos,
        .layers = s->photos + 1,
        .width = s->width,
        .height = s->height,
        .channels = s->channels,
        .weights = &weights,
    };
    return esra_block_bytes((double)esra_engine_room(s->engine, &problem, s->threads)) +
           esra_block_bytes((double)esra_monitor_room(&problem, s->threads));
}

/* ---- The stages ---- */

/* 55 floats a pixel of pyramids, fields and maps, and 5 MB of features and transforms whatever the size. */
static double align_bytes(const struct shape *s)
{
    return block(s, 55) + 5e6;
}

/* The remainders of each photo, and a joint problem that is solved at a quarter of the size. */
static double reflection_bytes(const struct shape *s)
{
    return aligned(s) + block(s, 45 + 19 * s->photos);
}

/* T, R and four pictures between, each in all channels; 34 floats of the refinement's planes. */
static double rounds_bytes(const struct shape *s)
{
    return aligned(s) + joint(s) + images(s, 6, s->channels) + block(s, 34);
}

/* The joint solution's layers and weights once more, as images. */
static double gradients_bytes(const struct shape *s)
{
    return aligned(s) + joint(s) + guide(s) + images(s, s->photos + 1, s->channels) + images(s, s->photos, 1);
}

/* While the layers are warped back the engine's memory is still there: an image, its mask, and a photo's weights. */
static double solve_bytes(const struct shape *s)
{
    return aligned(s) + joint(s) + guide(s) + engine(s) + images(s, 1, s->channels) + images(s, 2, 1);
}

/* Seconds of one core of 3 GHz, roughly, for a pixel of a photo; the solve's for each channel of a layer, to the gap
 * that esra separate asks for. */
static const struct stage {
    const char *name;
    double (*bytes)(const struct shape *);
    double pixel_s, sample_s;
} stages[] = {
    {"align", align_bytes, 8e-6, 0},   {"reflection", reflection_bytes, 4e-6, 0},
    {"joint", rounds_bytes, 8e-6, 0},  {"gradients", gradients_bytes, 0, 1e-8},
    {"solve", solve_bytes, 0, 0.8e-6},
};

static double seconds(const struct stage *stage, const struct shape *s)
{
    return pixels(s) * (stage->pixel_s * s->photos + stage->sample_s * (s->photos + 1) * s->channels);
}

void esra_pipeline_plan(const struct shape *shape, esra_plan *plan)
{
    plan->bytes = plan->core_seconds = 0;
    for (size_t n = 0; n < sizeof stages / sizeof stages[0]; n++) {
        double bytes = stages[n].bytes(shape);
        plan->core_seconds += seconds(&stages[n], shape);
        if (bytes > plan->bytes) {
            plan->bytes = bytes;
            plan->stage = stages[n].name;
        }
    }
}

void esra_solve_plan(const struct shape *shape, esra_plan *plan)
{
    plan->bytes = engine(shape);
    plan->stage = "solve";
    plan->core_seconds = seconds(&stages[sizeof stages / sizeof stages[0] - 1], shape);
}
