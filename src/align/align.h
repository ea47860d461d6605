/* align/align.h - the stage: how the transmitted layer moves from the reference to every photo, and, where it shows,
 * how the reflected layer does.
 *
 * Photos come in linear light, planar, of one size; one to three channels are looked at. (Linear light is compressed to
 * its square root first: gradients in the shadows then count as they do to the eye, and noise is nearly the same
 * everywhere. Photos in stored values are taken as they are.) */
#ifndef ESRA_ALIGN_ALIGN_H
#define ESRA_ALIGN_ALIGN_H

#include "align/normal.h"
#include "base/context.h"
#include "base/image.h"

struct align_options {
    enum motion motion;
    bool stored; /* the photos hold stored (gamma) values, not linear light */
};

/* How one photo lies to the reference. Transforms take px of the reference to px of the photo. */
struct photo_motion {
    struct transform transmitted;
    struct transform reflected; /* the identity where there is none */
    bool aligned;               /* the transmitted layer was found; else `transmitted` is the identity */
    bool second;                /* a second motion was found: `reflected` */
    double explained;           /* share of the reference's gradient energy that moves as `transmitted`, 0..1 ... */
    double explained_second;    /* ... and as `reflected` */
    double residual; /* energy of the gradients' difference over their own; under 1e-3: the same photo twice */
    double overlap;  /* share of the reference's pixels the photo sees, by `transmitted` */
    double apart_px; /* mean distance at the corners between the two motions; 0 where there is one */
};

/* Photos that are aligned side by side at the most. Each takes 30 floats a pixel: four of them less than other stages.
 */
#define ALIGN_BESIDE 4

/* Fills motions[count]; that of the reference is the identity. A photo that cannot be aligned has `aligned` false: that
 * is no error. */
esra_status esra_align(struct context *context, const struct image *photos, int count, int reference,
                       const struct align_options *options, struct photo_motion *motions);

#endif
