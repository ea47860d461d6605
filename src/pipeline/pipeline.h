/* pipeline/pipeline.h - from photos to layers: what the stages hand on to one another. Only this room sees them all. */
#ifndef ESRA_PIPELINE_PIPELINE_H
#define ESRA_PIPELINE_PIPELINE_H

#include "align/align.h"
#include "base/context.h"
#include "base/image.h"
#include "gradients/guide.h"
#include "pipeline/judge.h"
#include "solve/joint.h"

/* Intensities beyond this are mis-scaled. */
#define PIPELINE_LARGEST 1e6f

/* Photos with more pixels are halved until they have no more, and looked at so first: between .15 and .6 MP remain. */
#define SMALL_PIXELS 6e5

/* Everything a separation holds; zeroed to begin with, freed as a whole by esra_pipeline_free(). Arrays have one entry a
 * photo. Frames: photo i's own; the reference photo's, into which all are warped; and the reflection's, which is the
 * reference frame too, R being drawn where the reference photo shows it. */
struct pipeline {
    const esra_photos *input;
    const esra_settings *settings;
    esra_separation *output;
    struct context *context;
    esra_solver *solver;
    esra_progress *progress; /* may be NULL */
    void *user;
    bool stopped;      /* by the callback */
    const bool *unwanted; /* whether it has said that the layers are not wanted either */
    const char *stage; /* what is being done, as the callback is told */
    double started_s; /* on the timer */

    int photos, reference, width, height, channels;
    struct image *seen;           /* the photos as they came, planar; borrowed */
    struct image *copies;         /* owned samples of those that did not come planar */
    struct photo_look {
        bool blank;       /* there is nothing in it to go by */
        double sharpness; /* see oddities.h */
    } *looks;                     /* what each photo is like by itself; not asked of small ones or on trial */
    struct photo_motion *motions; /* as found by align/ */
    struct transform *still;      /* reference px -> photo px, by which the transmitted layer stands still */
    struct transform *mirror;     /* g_i: reference px -> px of the reflection's frame */
    double *mixing;               /* a_i */
    double *reflection_gain;      /* b_i */

    struct parallax *parallax;     /* the way by depth; NULL where layers move by homographies */
    struct image *aligned, *masks; /* the photos in the reference frame, and where they see it */
    struct joint *joint;
    struct joint_info joint_info;
    bool alike; /* aligned photos differ by noise alone */
    bool reflection_found;
    bool exchanged;  /* the caller takes for the scene what was found to be the reflection */
    int rounds;      /* of making motions exact, so far */
    bool is_small;   /* stands for the pipeline of larger photos, which makes the last round */
    bool approached; /* motions are known from such a one */
    bool measured;   /* gains are */

    bool wants_layers; /* and not motions alone */
    bool by_depth;     /* the layers move by parallax, and not by homographies */
    bool on_trial;     /* only to be judged, and so in the same light as the other way */
    bool adds_up;      /* linear light predicts photos so well that layers do add up in it */
    bool rooted;       /* the photos seen are square roots of light */
    struct judgement judgement;
    unsigned oddities; /* a set of esra_warning */

    bool solved;        /* the layers are there, if not as good as was asked for */
    struct guide guide; /* the paper's problem; its start becomes the layers */
};

/* The other ways to go are tried in pipelines of their own, on the same photos or on smaller ones: one that has nothing but
 * what it borrows. */
struct pipeline esra_pipeline_sibling(const struct pipeline *p, const esra_photos *input);

/* The caller says of photo i that it does not fit. */
bool esra_pipeline_left_out(const struct pipeline *p, int i);

/* The steps, in pipeline.c's order. */
esra_status esra_pipeline_load(struct pipeline *p);
esra_status esra_pipeline_align(struct pipeline *p);
esra_status esra_pipeline_approach(struct pipeline *p);
esra_status esra_pipeline_warp(struct pipeline *p);
esra_status esra_pipeline_measure(struct pipeline *p);
esra_status esra_pipeline_compare(struct pipeline *p);
esra_status esra_pipeline_find_reflection(struct pipeline *p);
esra_status esra_pipeline_solve_jointly(struct pipeline *p);
esra_status esra_pipeline_exchange(struct pipeline *p);
esra_status esra_pipeline_judge(struct pipeline *p);
esra_status esra_pipeline_choose(struct pipeline *p);
esra_status esra_pipeline_look(struct pipeline *p);
esra_status esra_pipeline_inspect(struct pipeline *p);
esra_status esra_pipeline_compare_scales(struct pipeline *p); /* by depth, while its maps are there; else part of the former */
void esra_pipeline_decide(struct pipeline *p);
esra_status esra_pipeline_extract(struct pipeline *p);
esra_status esra_pipeline_solve(struct pipeline *p);
esra_status esra_pipeline_return(struct pipeline *p);

/* How brightly photos show the layers, from small ones or a trial. */
void esra_pipeline_take_gains(struct pipeline *to, const struct pipeline *from);

/* How freely layers move by homographies. */
enum motion esra_pipeline_motion(const struct pipeline *p);

/* Tells the caller what is being done; true once it wants to stop. Steps that last ask between their parts. */
bool esra_pipeline_stopping(struct pipeline *p, const char *stage);

/* Copies motions, gains and facts to the caller. */
void esra_pipeline_tell(struct pipeline *p);

/* While another way is tried, what can be made again is not held: photos in the reference frame, by homographies; nor the
 * layers of small photos, of which only the motions are taken over. */
void esra_pipeline_park(struct pipeline *p);
esra_status esra_pipeline_unpark(struct pipeline *p);

/* Everything by homographies, once the photos are aligned, or by depth, up to the judgement. */
esra_status esra_pipeline_try_flat(struct pipeline *p);
esra_status esra_pipeline_try_depth(struct pipeline *p);

/* All of it, or alignment alone. */
esra_status esra_pipeline_run(struct pipeline *p);
esra_status esra_pipeline_align_only(struct pipeline *p);

void esra_pipeline_free(struct pipeline *p);

#endif
