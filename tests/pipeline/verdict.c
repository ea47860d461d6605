/* tests/pipeline/verdict.c - the verdict on evidence, row by row: scenes that once went wrong, with the numbers that
 * were measured of them (result.json has them; bench/replay decides a stored result again), and wishes that change it.
 */
#include "pipeline/verdict.h"

#include "check.h"
#include "pipeline/ways.h"

#define MOST 5

/* A photo that fits, and tells nothing odd. */
#define GOOD                                                                                                           \
    {                                                                                                                  \
        .aligned = 1, .residual = .2, .overlap = .9, .gain = 1, .apart_px = 12, .deviation = .2, .sharpness = 3,       \
        .scale = 1, .darker = .01, .brighter = .01, .patches = 0, .largest_patch = 0                                   \
    }

/* One number of all photos but the reference is another one. */
struct change {
    size_t offset; /* in struct photo_evidence, plus 1; 0: none */
    double value;
};
#define OF(field, value)                                                                                               \
    {                                                                                                                  \
        offsetof(struct photo_evidence, field) + 1, value                                                              \
    }

static const struct row {
    const char *scene;
    int photos;
    struct wishes wishes;
    struct way_evidence flat, depth;
    struct change changes[3];
    double energy, bend, clipped; /* of the layers; of the lens; of the reference */
    double root;                  /* prediction_root; 0: not tried */
    enum model_kind kind;
    enum light light;
    esra_method method;
    unsigned warnings;
} rows[] = {
    /* Homographies or depth. */
    {"two flat layers, noisy",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.83, .0038, .0168, .95, .79),
     WAY(.81, .0184, .0167, .68, 1.2),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"depth predicts clearly better",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.53, .0158, .02, .72, .9),
     WAY(.53, .0068, .0083, .77, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_JOINT},
    {"both predict, depth better: stone",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .68, 1, .921, .72),
     WAY(.6, .503, .967, .958, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"a flat subject that was taken for depth: xue-2",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.62, .46, 1, .661, .88),
     WAY(.6, .58, .906, .62, .9),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"flat layers that depth explains nearly as well: mix 22",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.69, .01105, .017, .77, .89),
     WAY(.69, .01208, .011, .7653, .9),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"depth that predicts nothing, and whose photos do not fit either: mix 20",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .9, 1, .6, .9),
     WAY(.6, .565, .5, .68, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"the same, but they fit: huang-00071",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .83, 1, .8, .89),
     WAY(.6, .33, .31, .88, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_JOINT},
    {"photos that fit badly, predicted well: mix 18",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .8, 1, .625, 1.06),
     WAY(.6, .456, .93, .656, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"T alone is no match, but another photo is: a veil in linear light: huang-06",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY_ALONE(.89, .0112, .0191, .0225, .8, .97),
     WAY_ALONE(.88, .00682, .00708, .00978, .82, .81),
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_JOINT},
    {"R is told in linear light, and lost in its root: mix 17",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.73, 1.1, 1, .68, .9),
     WAY(.73, .708, 1, .75, .9),
     .root = 1.09,
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"R is told in both, and better in linear light: mix 15 at half size",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.73, 1.1, 1, .68, .9),
     WAY(.73, .74, 1, .75, .9),
     .root = .77,
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"R is told in both, and better in the root: toy",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, 1, 1, .7, .9),
     WAY(.6, .72, 1, .89, .9),
     .root = .61,
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_JOINT},
    {"linear light adds up by depth",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, 1.17, 1, .8, .9),
     WAY(.6, .36, 1, .9, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"the same asked for by homographies",
     5,
     {.motion = ESRA_MOTION_HOMOGRAPHY},
     WAY(.6, .7, 1, .8, .9),
     UNTRIED,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"depth asked for, in linear light",
     4,
     {.motion = ESRA_MOTION_DEPTH, .light = ESRA_LIGHT_LINEAR},
     UNTRIED,
     WAY(.6, 1.2, 1, .87, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"depth asked for, of code values",
     4,
     {.motion = ESRA_MOTION_DEPTH, .light = ESRA_LIGHT_STORED},
     UNTRIED,
     WAY(.6, 1.2, 1, .87, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_STORED,
     .method = ESRA_METHOD_JOINT},

    /* Nothing to tell apart. */
    {"hardly any reflection, seen by depth alone: huang-48",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.23, .74, 1, .54, .73),
     WAY(.067, NAN, NAN, NAN, NAN),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE},
    {"layers that move together",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.04, NAN, NAN, NAN, NAN),
     UNTRIED,
     {OF(apart_px, NAN)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_ONE_MOTION},
    {"the same file, again and again",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY(1, NAN, NAN, NAN, NAN),
     UNTRIED,
     {OF(residual, 0), OF(apart_px, NAN)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_SAME_PHOTO},
    {"photos of something else",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY(0, NAN, NAN, NAN, NAN),
     UNTRIED,
     {OF(aligned, 0), OF(apart_px, NAN)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_NOT_ALIGNED},
    {"blank photos",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY(0, NAN, NAN, NAN, NAN),
     UNTRIED,
     {OF(aligned, 0), OF(apart_px, NAN), OF(deviation, .001)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_NOT_ALIGNED | ESRA_WARN_BLANK},

    /* Layers that are not to be shown. */
    {"worse than the photo most alike: huang-10",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.88, 1.44, 1, .7, 1.36),
     WAY(.87, 1.584, .97, .575, 1.4),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"votes that lost 7 dB: mix 23",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.689, 1.016, 1, .677, 1.377),
     WAY(.806, 1.23, 1.22, .747, 1.38),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"parallax that homographies took for a reflection, -1.9 dB: mix 08 at half size",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .845, 1, .66, .95),
     WAY(.6, .793, .748, .67, .9),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"votes where nothing tells R, that lost 8.5 dB: mix 23 at half size, from its third photo",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY_ALONE(.786, .0342, .0352, .0326, .635, 1.37),
     WAY_ALONE(.705, .0384, .0403, .037, NAN, NAN),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"photos that fit, and a vote that has T in both layers: huang-18",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.8, 1.56, 1, .91, .97),
     WAY(.8, 1.36, 1.38, .923, .9),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"by depth votes that lost .7 dB: mix 11",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.8, .832, 1, .76, 1.11),
     WAY(.8, .557, .533, .83, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_ROOT,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"layers by depth that add up: mix 15",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.8, .888, 1, .61, .94),
     WAY(.8, .373, .581, .759, .9),
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"two photos with depth, whose layers have ghosts",
     2,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.7, NAN, NAN, .9, .9),
     UNTRIED,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT | ESRA_WARN_TWO_PHOTOS},
    {"two photos without",
     2,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.7, NAN, NAN, .9, .6),
     UNTRIED,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_TWO_PHOTOS},
    {"layers that explain little",
     3,
     {.motion = ESRA_MOTION_HOMOGRAPHY},
     WAY(.7, .7, 1, .45, .9),
     UNTRIED,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_VOTING,
     .warnings = ESRA_WARN_POOR_FIT},
    {"layers that cancel each other's edges, photos that depth aligns better: mix/24, whose votes lose 3.6 dB",
     3,
     {.motion = ESRA_MOTION_AUTO},
     WAY_ALONE(.6, 1.240, 1.399, 1.268, .82, 1.279),
     WAY_ALONE(.6, 1.120, 1.073, 1.064, .844, 1.372),
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_NONE,
     .warnings = ESRA_WARN_POOR_FIT},
    {"gradients that were given",
     3,
     {.motion = ESRA_MOTION_AUTO, .gradients = true},
     WAY(.04, NAN, NAN, NAN, NAN),
     UNTRIED,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_GIVEN},

    /* What the photographer should know. */
    {"zoomed",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(scale, 1.08)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_ZOOM},
    {"out of focus",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(sharpness, 1.2)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_FOCUS},
    {"the same, aligned by the caller: not compared",
     4,
     {.motion = ESRA_MOTION_AUTO, .transforms = true},
     WAY(.6, .5, 1, .9, .9),
     UNTRIED,
     {OF(sharpness, 1.2), OF(scale, NAN), OF(residual, NAN)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"exposed otherwise, and half out of the frame",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(gain, .7), OF(overlap, .4)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_EXPOSURE | ESRA_WARN_LITTLE_OVERLAP},
    {"layers a pixel apart",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(apart_px, 1)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_LITTLE_MOTION},
    {"a fence",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .75, .9),
     WAY(.6, 2, 1, .6, .9),
     {OF(darker, .06)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_OPAQUE},
    {"somebody who walks through",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(largest_patch, .04), OF(patches, .05)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_MOVING},
    {"patches that are strewn",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     {OF(largest_patch, .02), OF(patches, .06)},
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"a reflection about as strong as the scene",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     .energy = .8,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_EXCHANGED},
    {"the same, exchanged on purpose",
     4,
     {.motion = ESRA_MOTION_AUTO, .swap = true},
     WAY(.6, .5, 1, .9, .9),
     UNTRIED,
     .energy = 2,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT},
    {"a reflection that outshines the scene: xue-3",
     5,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .6, .9),
     WAY(.6, .39, 1, .62, .9),
     .energy = 4.2,
     .kind = MODEL_DEPTH,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_EXCHANGED},
    {"a lens that bends lines, overexposed",
     4,
     {.motion = ESRA_MOTION_AUTO},
     WAY(.6, .5, 1, .9, .9),
     WAY(.6, 2, 1, .7, .9),
     .bend = -.06,
     .clipped = .03,
     .kind = MODEL_FLAT,
     .light = LIGHT_LINEAR,
     .method = ESRA_METHOD_JOINT,
     .warnings = ESRA_WARN_LENS | ESRA_WARN_CLIPPED},
};

static void fill(struct evidence *evidence, const struct row *row)
{
    evidence->photos = row->photos;
    evidence->clipped = row->clipped;
    evidence->shortest_side_px = 400;
    evidence->prediction_root = row->root > 0 ? row->root : NAN;
    evidence->flat = row->flat;
    evidence->depth = row->depth;
    evidence->depth.bend = row->bend;
    for (int i = 0; i < row->photos; i++)
        evidence->photo[i] = (struct photo_evidence)GOOD;
    for (int n = 0; n < 3 && row->changes[n].offset; n++)
        for (int i = 1; i < row->photos; i++)
            memcpy((char *)&evidence->photo[i] + row->changes[n].offset - 1, &row->changes[n].value, sizeof(double));
    struct way way = esra_verdict_way(evidence, &row->wishes, &pipeline_thresholds);
    evidence->delivered = way.kind == MODEL_DEPTH ? row->depth : row->flat;
    evidence->delivered.energy = row->energy > 0 ? row->energy : .05;
}

static void every_row_is_decided(void)
{
    struct message message;
    struct evidence evidence;
    CHECK(esra_evidence_create(&evidence, MOST, 0, &message) == ESRA_OK);
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++) {
        const struct row *row = &rows[n];
        fill(&evidence, row);
        struct verdict v = esra_verdict(&evidence, &row->wishes, &pipeline_thresholds);
        if (!CHECK(v.way.kind == row->kind && v.way.light == row->light && v.method == row->method &&
                   v.warnings == row->warnings))
            printf("    %s: kind %d, light %d, method %s, warnings %x, not %x\n", row->scene, v.way.kind, v.way.light,
                   esra_method_name(v.method), v.warnings, row->warnings);
    }
    esra_evidence_free(&evidence);
}

/* Numbers that were not measured decide nothing, and raise no warning but that of a missing second motion. */
static void nothing_measured_is_nothing_told(void)
{
    struct message message;
    struct evidence evidence;
    struct wishes wishes = {.motion = ESRA_MOTION_AUTO};
    CHECK(esra_evidence_create(&evidence, 3, 0, &message) == ESRA_OK);
    for (int i = 0; i < 3; i++)
        evidence.photo[i].aligned = 1;
    struct verdict v = esra_verdict(&evidence, &wishes, &pipeline_thresholds);
    CHECK(v.way.kind == MODEL_FLAT && v.method == ESRA_METHOD_VOTING && v.warnings == ESRA_WARN_ONE_MOTION);
    esra_evidence_free(&evidence);
}

int main(void)
{
    RUN(every_row_is_decided);
    RUN(nothing_measured_is_nothing_told);
    return check_report();
}
