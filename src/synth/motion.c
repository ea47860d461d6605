/* synth/motion.c - how a hand holds a camera: seeded random homographies and gains. */
#include "synth/motion.h"

#include <math.h>

#include "base/maths.h"
#include "base/random.h"

#define PI 3.14159265358979323846

/* Draws past this many deviations are drawn again. */
#define TAIL 2.5

/* Beside its turn by `rotation` radians a handheld photo is scaled, sheared and tilted by about these parts of it: the
 * proportions of ../shared/synth, whose deviations are .012, .008, .003 and .0077/width. */
#define SCALE 0.67
#define SHEAR 0.25
#define TILT  0.64

/* Layers that move alike cannot be told apart: their motions differ by this part of the shift at least (4 of 18 px). */
#define APART 0.2
/* Each try succeeds in more than nine cases of ten; without any motion asked for none is needed. */
#define TRIES 100

uint64_t esra_synth_state(uint64_t seed, int a, int b)
{
    uint64_t state = random_bits(&seed) ^ ((uint64_t)(uint32_t)a << 32 | (uint32_t)b);
    return random_bits(&state);
}

/* In (0, 1]: its logarithm is finite. */
static double uniform(uint64_t *state)
{
    return (double)((random_bits(state) >> 11) + 1) * 0x1p-53;
}

double esra_synth_normal(uint64_t *state)
{
    double radius = sqrt(-2 * esra_log(uniform(state)));
    return radius * esra_cos(2 * PI * uniform(state));
}

double esra_synth_bounded(uint64_t *state, double deviation)
{
    double value;
    do
        value = esra_synth_normal(state);
    while (fabs(value) > TAIL);
    return deviation * value;
}

/* 1 +- spread. */
static double gain(uint64_t *state, double spread)
{
    return 1 + spread * (2 * uniform(state) - 1);
}

/* A turn, scale, shear and tilt about the middle, then a shift. */
static struct transform handheld(uint64_t *state, const esra_synth_settings *s)
{
    int larger = s->width > s->height ? s->width : s->height;
    double rotation = s->rotation_deg * PI / 180, middle_x = (s->width - 1) / 2., middle_y = (s->height - 1) / 2.;
    double turn = esra_synth_bounded(state, rotation), scale = 1 + esra_synth_bounded(state, SCALE * rotation);
    struct transform about = TRANSFORM_IDENTITY;
    about.h[0] = scale * esra_cos(turn) + esra_synth_bounded(state, SHEAR * rotation);
    about.h[1] = -scale * esra_sin(turn) + esra_synth_bounded(state, SHEAR * rotation);
    about.h[3] = scale * esra_sin(turn) + esra_synth_bounded(state, SHEAR * rotation);
    about.h[4] = scale * esra_cos(turn) + esra_synth_bounded(state, SHEAR * rotation);
    about.h[6] = esra_synth_bounded(state, TILT * rotation / larger);
    about.h[7] = esra_synth_bounded(state, TILT * rotation / larger);
    double right = esra_synth_bounded(state, s->shift_px), down = esra_synth_bounded(state, s->shift_px);
    struct transform to_middle = esra_transform_shift(-middle_x, -middle_y);
    struct transform back = esra_transform_shift(middle_x + right, middle_y + down);
    struct transform centred = esra_transform_compose(&about, &to_middle);
    return esra_transform_compose(&back, &centred);
}

static void expose(struct exposure *e, uint64_t *state, const esra_synth_settings *s)
{
    for (int n = 0; n < TRIES; n++) {
        e->transmitted = handheld(state, s);
        e->reflected = handheld(state, s);
        if (esra_transform_distance(&e->transmitted, &e->reflected, s->width, s->height) >= APART * s->shift_px)
            break;
    }
    e->mixing = gain(state, s->gain_spread);
    /* The reflection follows the exposure, and half as freely the light on its own side of the glass. */
    e->reflection_gain = e->mixing * gain(state, s->gain_spread / 2);
}

void esra_synth_expose(struct exposure *exposures, const esra_synth_settings *settings)
{
    exposures[0] = (struct exposure){TRANSFORM_IDENTITY, TRANSFORM_IDENTITY, 1, 1};
    for (int i = 1; i < settings->photos; i++) {
        uint64_t state = esra_synth_state(settings->seed, i, -1);
        expose(&exposures[i], &state, settings);
    }
}
