/* synth/relief.h - a layer with depth: a picture on a surface without holes, seen by a camera that moves. What stands
 * in front hides what is behind. */
#ifndef ESRA_SYNTH_RELIEF_H
#define ESRA_SYNTH_RELIEF_H

#include "base/context.h"
#include "base/image.h"
#include "synth/camera.h"
#include "synth/canvas.h"

struct relief {
    struct image colour;  /* drawn on the frame */
    struct image inverse; /* one channel: inverse depth there, in [low, high] */
    struct image nearest; /* the largest of these around each pixel */
    struct frame frame;   /* of the reference's grid */
    double low, high;
};

/* The range of inverse depths of layer 0 (behind the glass) and 1 (its mirror image is further away). */
void esra_relief_range(int layer, double *low, double *high);

/* Widens the frame to what the camera sees at inverse depths in [low, high]; false where a corner of its photo sees
 * what is beside the reference or behind it. */
bool esra_relief_include(struct frame *frame, const esra_camera *camera, const struct lens *lens, double low,
                         double high);

/* Fills relief->inverse and nearest from a picture (nearest where it is 1), or where it has no data from slanted planes
 * with something near in front of them; frame, low and high must be set. */
esra_status esra_relief_shape(struct relief *relief, struct context *context, int layer, const esra_image *picture);

/* What the camera sees. */
void esra_relief_render(const struct relief *relief, struct context *context, const esra_camera *camera,
                        const struct lens *lens, struct image *out);

#endif
