/* pipeline/model.h - two layers and how they show in the photos: photo_i = a_i T + b_i R(g_i), every photo warped into
 * the reference's frame, where T stands still. A search returns one; it can be taken to another size and be a start
 * there. */
#ifndef ESRA_PIPELINE_MODEL_H
#define ESRA_PIPELINE_MODEL_H

#include "align/align.h"
#include "camera/depth.h"
#include "gradients/agreement.h"
#include "pipeline/series.h"
#include "solve/joint.h"

/* FLAT: each layer moves by a homography a photo. DEPTH: both are rigid scenes before one moving camera, and their
 * motions dense maps that follow from inverse depths. */
enum model_kind { MODEL_FLAT, MODEL_DEPTH };

/* How R moves where T moves by depth: as a scene before T's camera, as one before a camera of its own, or by
 * homographies; OPEN: not chosen yet. */
enum mirror_kind { MIRROR_OPEN, MIRROR_SHARED, MIRROR_OWN, MIRROR_HOMOGRAPHIES };

/* Which surface the scene is by depth: the only one looked for, or one of two that are seen through each other
 * (camera/pair.h), of which the other is R's. */
enum surface { SURFACE_ONE, SURFACE_FARTHER, SURFACE_NEARER };

/* What is known of the layers before the photos are asked. */
struct deep_prior {
    double ridge; /* of joint.h */
    bool voted;   /* T has about its voted gradients; else both layers are smooth but for edges */
};

/* What a model by depth has besides; zeroed in a flat one. Arrays have one entry a photo. */
struct model_depth {
    struct camera camera;
    enum surface surface;
    struct depth scene;    /* inverse depths behind the glass */
    struct depth mirrored; /* those of R, where there are two surfaces; else empty */
    enum mirror_kind mirror_kind;
    bool in_part;         /* a motion of R was found in some photos, lacks others, and was not followed */
    struct image *still;  /* reference px -> photo px of the scene, as maps */
    struct image *mirror; /* g_i as maps */
    /* What photo i lacks in each channel against the reference, over a_i; `aligned` has it added. */
    double (*offset)[3];
    struct agreement agreement; /* T's gradients by voting */
    struct image voted;         /* T integrated from them */
    struct deep_prior prior;    /* with which the layers are solved for */
};

/* Frames: photo i's own; the reference photo's, into which all are warped; and R's, which is the reference's too, R
 * being drawn where the reference photo shows it. Arrays have one entry a photo. */
struct model {
    enum model_kind kind;
    enum light light;
    int photos, reference, width, height, channels;
    double scale;                 /* its px over px of the caller's photos */
    struct photo_motion *motions; /* as alignment found them; which photos take part */
    struct transform *still;  /* f_i: reference px -> photo px, by which T stands still; by depth, the median shift */
    struct transform *mirror; /* g_i: reference px -> px of R's frame; by depth, the median shift */
    double *mixing;           /* a_i */
    double *reflection_gain;  /* b_i */
    struct image *aligned, *masks; /* photos in the reference's frame, and where each sees it */
    bool two_motions;              /* g_i is known */
    bool exchanged;                /* what was found to be the reflection is called the scene */
    double retained;               /* share of R that stays in T: not 0 where the photos do not tell R */
    struct joint *joint;           /* T and R; NULL where they were not solved for */
    struct joint_info joint_info;
    struct model_depth depth;
};

/* A model of the series that knows nothing yet: identities and gains of one. */
esra_status esra_model_create(struct model *model, enum model_kind kind, const struct series *series,
                              struct message *message);

/* Frees everything and zeroes *model; harmless on a zeroed one. */
void esra_model_free(struct model *model);

/* Motions and gains of `from`, in px of the series that `model` was made for. */
void esra_model_take_motions(struct model *model, const struct model *from);

/* Frees the photos in the reference's frame, which esra_flat_unpark() warps again. By depth: only of a model that is
 * just a start from here on. */
void esra_model_park(struct model *model);

/* Where the caller lets what photo i reflects take the photo's own place, photo i as it is aligned stands there from
 * now on: nothing asks for the photos of the series again, but for the reference. */
void esra_model_move_in(struct model *model, const struct series *series, const struct run *run);

/* Frees what only led to the layers. What is left brings them back into their photos. */
void esra_model_trim(struct model *model);

/* Photos other than the reference that were aligned. */
static inline bool model_takes_part(const struct model *model, int i)
{
    return i != model->reference && model->motions[i].aligned;
}

/* Halvings after which no side is longer than side_px. */
static inline int model_halvings(const struct model *model, int side_px)
{
    return image_halvings(model->width, model->height, side_px);
}

/* What the joint solve needs of the model. Confidences and expected gradients are the caller's to add. */
struct joint_model esra_model_joint(const struct model *model);
struct joint_photos esra_model_photos(const struct model *model);

/* a_i and b_i of light: roots have the roots of gains. */
double esra_model_gain_of_light(const struct model *model, double gain);

#endif
