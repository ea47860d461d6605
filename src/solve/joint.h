/* solve/joint.h - the joint two-layer model: photos of one transmitted image T and one moving reflection R,
 *
 *     I_i(x) = a_i T(x) + b_i R(g_i(x)) + noise
 *
 * with the photos already in the reference frame, where T stands still, and g_i the homography, or the dense map, from
 * a pixel of the reference frame to where R shows the same point in photo i. T and R minimise the objective of
 * joint_system.h, coarse to fine. doc/joint.md has the mathematics. */
#ifndef ESRA_SOLVE_JOINT_H
#define ESRA_SOLVE_JOINT_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

/* How long a level is worked at. */
struct joint_effort {
    int reweighings;
    int iterations; /* of conjugate gradients a reweighing */
};

struct joint_settings {
    double lambda_transmitted; /* weight of |grad T| */
    double lambda_reflected;   /* weight of |grad R| */
    double lambda_expected;    /* weight of |grad T - E|, where the model has an E */
    double robust_scale;       /* residuals well above this are outliers */
    double edge_scale;         /* gradients well below this are smoothed as squares */
    double negative;           /* weight of values below zero */
    double ridge;              /* weight of |R|^2/2: R is as likely as its square is small */
    int reweighings;           /* at the finest level */
    int coarse_effort;         /* how many times as many at the coarser ones, where they cost little */
    int iterations;            /* of conjugate gradients a reweighing, where maps move R; ... */
    int iterations_flat;       /* ... where homographies do, and the preconditioner has cells (joint_coarse.h) */
    struct joint_effort fine;  /* at the finest level, and ... */
    struct joint_effort next;  /* ... at the next coarser one, where others have led there; 0: as these say */
    double tolerance;          /* relative residual that ends them sooner */
    bool black_point;          /* let the reflection's darkest pixels touch zero */
    bool once;                 /* no other solve follows: what coarser levels hold makes room for the finest */
    bool alone;                /* there is no R: T is solved for alone, where R would be seen */
};

#define JOINT_MAX_LEVELS 8

/* From so many pixels on memory counts more than a fortieth of the time. */
#define JOINT_LEAN_PIXELS 2000000

void esra_joint_settings_default(struct joint_settings *settings);

/* Less effort at the two finest levels, which cost most: coarser ones have shared out what is smooth, and leave them
 * details. */
void esra_joint_settings_brief(struct joint_settings *settings);

/* Photos of one size, at most four channels, linear light in about [0,1], and one-channel masks: 0 where a photo does
 * not see the reference frame, 1 where it does. The joint solve reads them where they are, until others are loaded or
 * it is freed. */
struct joint_photos {
    int count;
    const struct image *photos; /* [count] */
    const struct image *masks;  /* [count], or NULL: all seen */
};

struct joint_model {
    const double *mixing;          /* a_i */
    const double *reflection_gain; /* b_i */
    const double *motion;          /* g_i as homographies, 9 numbers each, row by row; NULL: dense maps */
    const struct image *maps;      /* g_i as maps: two channels, column and row for every pixel of the photo */
    const double *confidence;      /* how much each photo counts, 0 where it takes no part; NULL: 1 each */
    const struct image *expected;  /* [2] E: gradients of T, down and right, as ops/diff.h has them; NULL: none */
};

struct joint_info {
    double objective; /* F at the level solved, a pixel of it */
    double data;      /* its data term, a pixel */
    double score;     /* F with each term a mean over its own pixels: comparable between motions; the least is best.
                         Infinite where a photo hardly shows R */
    double residual;  /* robust root mean square of I_i - a_i T - b_i S_i R */
    double trusted;   /* mean robust weight of what is seen: 1 where the model explains everything */
    int iterations;   /* of conjugate gradients, all levels */
    double work;      /* the same in iterations of the full size */
};

struct joint;

/* Makes a pyramid of the photos, of at most `levels` levels. The context must outlive *joint. */
esra_status esra_joint_create(struct joint **joint, const struct joint_photos *photos, int levels,
                              struct context *context);

/* Another joint solve of the same photos, which may run beside the first in a context of its own. It reads the first
 * one's photos: that must be there, and be neither trimmed nor loaded anew, until it is freed. Of maps that the first
 * has been solved with, as they are now, its warps are taken. */
esra_status esra_joint_share(struct joint **joint, struct joint *first, struct context *context);

/* Makes the coarser photos, which the first solve would make: before others that share them solve side by side. */
esra_status esra_joint_halve(struct joint *joint);

/* Frees *joint and sets it to NULL; NULL is fine. */
void esra_joint_free(struct joint **joint);

/* Replaces the photos by others of the same number and size, as after they have been aligned anew. */
esra_status esra_joint_load(struct joint *joint, const struct joint_photos *photos);

/* Solves from nothing, coarse to fine, up to the level whose sides are the photos' divided by 2^finest; finest = 0 is
 * the full size. One of 1 or 2 is enough to rank candidate motions: the right one has the least score. */
esra_status esra_joint_solve(struct joint *joint, const struct joint_model *model,
                             const struct joint_settings *settings, int finest, struct joint_info *info);

/* The next esra_joint_solve() begins at the level that is the size of photos halved so many times, pixel 0 in its
 * place, with the layers of *start, a solution for these, which it takes and frees: *start is then NULL. Where there is
 * no such level, nothing changes, and false is returned. */
bool esra_joint_start(struct joint *joint, struct joint **start, int halvings);

/* Goes on from the layers of the last esra_joint_solve(), at its finest level only: for a model (and photos) a little
 * better than before. */
esra_status esra_joint_resume(struct joint *joint, const struct joint_model *model,
                              const struct joint_settings *settings, struct joint_info *info);

/* Frees the memory that only solving needs. The layers stay; a further solve allocates again. */
void esra_joint_trim(struct joint *joint);

/* The answers, at the size solved; the caller frees the images. */
esra_status esra_joint_transmitted(const struct joint *joint, struct image *out);

/* R on its canvas, whose sample (0,0) is pixel (*left, *top) of the frame in which g_i says where R is. */
esra_status esra_joint_reflected(const struct joint *joint, struct image *out, int *left, int *top);

/* The reflection in photo i, in the reference frame: b_i R(g_i x); zero where R is not known. */
esra_status esra_joint_seen(const struct joint *joint, int photo, struct image *out);

/* Photo i as the layers explain it, a_i T + b_i R(g_i x), as it is, and a mask of one channel, 0 where it or R is not
 * known; all of the size solved. Where the photo took no part this is a prediction. */
esra_status esra_joint_predict(const struct joint *joint, int photo, struct image *predicted, struct image *shown,
                               struct image *mask);

/* The robust weight of photo i in [0,1]: one where the model explains it, towards zero where not; zero where masked or
 * without confidence. */
esra_status esra_joint_trust(const struct joint *joint, int photo, struct image *out);

#endif
