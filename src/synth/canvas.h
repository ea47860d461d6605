/* synth/canvas.h - a layer drawn on the reference's pixel grid, past the frame as far as any photo looks. */
#ifndef ESRA_SYNTH_CANVAS_H
#define ESRA_SYNTH_CANVAS_H

#include "base/context.h"
#include "base/image.h"
#include "base/transform.h"

/* Part of the reference's grid: pixel (0, 0) of a canvas stands at (left, top). */
struct frame {
    int left, top, width, height;
};

/* Widens the frame to what a width x height photo with this motion (reference px -> its px) sees. */
void esra_frame_include(struct frame *frame, const struct transform *motion, int width, int height);

/* The middle of the picture, as large as fills the frame, smoothed by a Gaussian of blur_px. Freed by the caller. */
esra_status esra_canvas_draw(struct image *canvas, struct context *context, const esra_image *picture,
                             const struct frame *frame, double blur_px);

#endif
