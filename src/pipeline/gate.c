/* pipeline/gate.c - which way to go on, and what the photographer should know. */
#include <math.h>
#include <string.h>

#include "pipeline/pipeline.h"

/* A residual of the gradients this small is noise and nothing else: the photos are one picture. */
#define SAME_RESIDUAL 1e-3

#define LITTLE_MOTION_PX 2
#define LITTLE_OVERLAP .5

/* From here on a sample counts as overexposed; warned of where more than this share is. */
#define CLIPPED_LEVEL .995f
#define CLIPPED_SHARE .01

#define EXPOSURE_RATIO 1.2

/* Below this mean robust weight the two-layer model does not hold: see esra_joint_info. */
#define TRUSTED_LEAST .5

static double clipped_share(const struct image *photo)
{
    size_t pixels = (size_t)photo->width * (size_t)photo->height, clipped = 0;
    for (size_t n = 0; n < pixels; n++) {
        bool full = false;
        for (int c = 0; c < photo->channels; c++)
            full = full || photo->data[(size_t)c * pixels + n] >= CLIPPED_LEVEL;
        clipped += full;
    }
    return (double)clipped / (double)pixels;
}

/* Of light, and not of its root. */
static double gain_of_light(const struct pipeline *p, double gain)
{
    return p->rooted ? gain * gain : gain;
}

static unsigned photo_warnings(const struct pipeline *p, int i)
{
    const struct photo_motion *m = &p->motions[i];
    unsigned warnings = 0;
    if (!m->aligned)
        return ESRA_WARN_NOT_ALIGNED |
               (p->looks[i].blank || p->looks[p->reference].blank ? ESRA_WARN_BLANK : 0);
    if (m->residual < SAME_RESIDUAL && !p->input->transmitted)
        warnings |= ESRA_WARN_SAME_PHOTO;
    if (m->overlap < LITTLE_OVERLAP)
        warnings |= ESRA_WARN_LITTLE_OVERLAP;
    if (fabs(log(gain_of_light(p, p->mixing[i]))) > log(EXPOSURE_RATIO))
        warnings |= ESRA_WARN_EXPOSURE;
    return warnings;
}

/* How far the layers moved against each other in photo i, at the corners. */
static double apart_px(const struct pipeline *p, int i)
{
    struct transform identity = TRANSFORM_IDENTITY;
    double distance = esra_transform_distance(&p->mirror[i], &identity, p->width, p->height);
    return isfinite(distance) ? distance : 0;
}

/* Layers that take back from each other more than this of what they share have ghosts (gradients/opposed.h). Pairs of flat
 * scenes that were separated well lay at .3 to .73; pairs of scenes with depth, whose layers were 2 to 5 dB worse than the
 * photo, at .81 to 1.3 but for two of eleven at .5. Where a photo could be left out and was predicted, more is believed. */
#define OPPOSED_MOST           .8
#define OPPOSED_MOST_PREDICTED 1.25

/* Of noisy photos, two of three may predict the third a little worse than the photo most like it does. */
#define WORSE_THAN_ALIKE 1.1

/* Layers that predict a photo clearly worse than the one most like it does are not those of the photos, nor are those with
 * ghosts. By depth the gradients that photos agree on, which a judgement does without, decide more than this. */
static bool borne_out(const struct pipeline *p)
{
    const struct judgement *j = &p->judgement;
    bool ghosts = j->opposed >= (j->judged ? OPPOSED_MOST_PREDICTED : OPPOSED_MOST);
    return p->by_depth || ((!j->judged || j->error < WORSE_THAN_ALIKE * j->baseline) && !ghosts);
}

void esra_pipeline_decide(struct pipeline *p)
{
    esra_separation *out = p->output;
    int useful = 0;
    double apart = 0;
    out->warnings = p->oddities;
    if (clipped_share(&p->seen[p->reference]) > CLIPPED_SHARE)
        out->warnings |= ESRA_WARN_CLIPPED;
    if (p->photos == 2)
        out->warnings |= ESRA_WARN_TWO_PHOTOS;
    for (int i = 0; i < p->photos; i++) {
        if (i == p->reference)
            continue;
        unsigned warnings = photo_warnings(p, i);
        out->warnings |= warnings;
        useful += p->motions[i].aligned && !(warnings & ESRA_WARN_SAME_PHOTO);
        apart = fmax(apart, apart_px(p, i));
    }
    if (useful > 0 && !p->reflection_found)
        out->warnings |= ESRA_WARN_ONE_MOTION;
    if (p->reflection_found && apart < LITTLE_MOTION_PX)
        out->warnings |= ESRA_WARN_LITTLE_MOTION;
    bool fits = p->joint && p->joint_info.trusted >= TRUSTED_LEAST && borne_out(p);
    if (p->joint && !fits)
        out->warnings |= ESRA_WARN_POOR_FIT;
    out->method = useful == 0           ? ESRA_METHOD_NONE
                  : p->input->gradients ? ESRA_METHOD_GIVEN
                  : p->alike            ? ESRA_METHOD_NONE
                  : fits                ? ESRA_METHOD_JOINT
                  : useful >= 2         ? ESRA_METHOD_VOTING
                                        : ESRA_METHOD_NONE;
}

/* Shares are alignment's; it does not see a reflection that only shows beside T, nor what the caller aligned. */
static esra_photo_facts facts_of(const struct pipeline *p, int i)
{
    const struct photo_motion *m = &p->motions[i];
    double first = p->input->transmitted ? NAN : m->explained;
    double second = p->input->transmitted || !m->second ? NAN : m->explained_second;
    return (esra_photo_facts){m->aligned, p->exchanged ? second : first, p->exchanged ? first : second, m->overlap,
                              apart_px(p, i)};
}

void esra_pipeline_tell(struct pipeline *p)
{
    esra_separation *out = p->output;
    for (int i = 0; i < p->photos; i++) {
        struct transform back, reflected = TRANSFORM_IDENTITY;
        /* R at x of the reference is at mirror^-1 x of the aligned photo, and so at still(mirror^-1 x) of its own. */
        if (esra_transform_invert(&p->mirror[i], &back))
            reflected = esra_transform_compose(&p->still[i], &back);
        if (out->transmitted_motion)
            memcpy(out->transmitted_motion[i].h, p->still[i].h, sizeof p->still[i].h);
        if (out->reflected_motion)
            memcpy(out->reflected_motion[i].h, reflected.h, sizeof reflected.h);
        if (out->mixing)
            out->mixing[i] = gain_of_light(p, p->mixing[i]);
        if (out->reflection_gain)
            out->reflection_gain[i] = gain_of_light(p, p->reflection_gain[i]);
        if (out->facts)
            out->facts[i] = facts_of(p, i);
    }
    bool open = p->input->motion == ESRA_MOTION_AUTO || p->input->motion == ESRA_MOTION_DEPTH;
    out->motion = p->by_depth ? ESRA_MOTION_DEPTH : open ? ESRA_MOTION_HOMOGRAPHY : p->input->motion;
    out->in_roots = p->rooted;
    out->prediction_error = p->judgement.error;
    out->prediction_base = p->judgement.baseline;
    out->joint_objective = p->joint_info.objective;
    out->joint_residual = p->joint_info.residual;
    out->joint_trusted = p->joint_info.trusted;
}
