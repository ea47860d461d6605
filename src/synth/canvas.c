/* synth/canvas.c - a picture resized to fill a frame. What is made smaller is smoothed first, or it would alias: halved
 * by a pyramid down to less than twice its size, then by a Gaussian for the rest. */
#include "synth/canvas.h"

#include <math.h>

#include "ops/blur.h"
#include "ops/resample.h"

/* Lanczos-3 looks three pixels around, and a frame's edge is rounded. */
#define REACH 4

void esra_frame_include(struct frame *frame, const struct transform *motion, int width, int height)
{
    struct transform back;
    double left = frame->left, top = frame->top, right = left + frame->width - 1, bottom = top + frame->height - 1;
    esra_transform_invert(motion, &back);
    for (int n = 0; n < 4; n++) {
        double x, y;
        transform_apply(&back, n & 1 ? width - 1 : 0, n & 2 ? height - 1 : 0, &x, &y);
        left = fmin(left, floor(x) - REACH);
        right = fmax(right, ceil(x) + REACH);
        top = fmin(top, floor(y) - REACH);
        bottom = fmax(bottom, ceil(y) + REACH);
    }
    *frame = (struct frame){(int)left, (int)top, (int)(right - left) + 1, (int)(bottom - top) + 1};
}

static esra_status load(struct image *image, const esra_image *picture, struct message *message)
{
    esra_status status = esra_image_create(image, picture->width, picture->height, picture->channels, message);
    for (int c = 0; status == ESRA_OK && c < picture->channels; c++)
        esra_plane_load(image_plane(image, c), picture, c);
    return status;
}

/* image <- next, whose samples it takes over. */
static void replace(struct image *image, struct image *next)
{
    esra_image_free(image);
    *image = *next;
    *next = (struct image){0};
}

static esra_status halve(struct image *image, struct context *context)
{
    struct image half;
    esra_status status =
        esra_image_create(&half, (image->width + 1) / 2, (image->height + 1) / 2, image->channels, context->message);
    if (status != ESRA_OK)
        return status;
    for (int c = 0; c < image->channels; c++)
        esra_halve(context, image_plane(image, c), image_plane(&half, c), 1);
    replace(image, &half);
    return ESRA_OK;
}

static esra_status smooth(struct image *image, struct context *context, double sigma_px)
{
    struct image smoothed;
    if (!(sigma_px > 0))
        return ESRA_OK;
    esra_status status = esra_image_create(&smoothed, image->width, image->height, image->channels, context->message);
    if (status != ESRA_OK)
        return status;
    for (int c = 0; c < image->channels; c++)
        esra_blur(context, image_plane(image, c), image_plane(&smoothed, c), sigma_px);
    replace(image, &smoothed);
    return ESRA_OK;
}

/* Pixels of the picture to one of the frame, along the side that has fewer to spare. */
static double step_of(const struct image *image, const struct frame *frame)
{
    return fmin((double)(image->width - 1) / frame->width, (double)(image->height - 1) / frame->height);
}

esra_status esra_canvas_draw(struct image *canvas, struct context *context, const esra_image *picture,
                             const struct frame *frame, double blur_px)
{
    struct image image = {0};
    esra_status status;
    TRY(load(&image, picture, context->message));
    while (step_of(&image, frame) >= 2)
        TRY(halve(&image, context));
    double step = step_of(&image, frame);
    /* Half a pixel of the frame is the blur of a pixel; the picture's own is there already. */
    TRY(smooth(&image, context, step > 1 ? .5 * sqrt(step * step - 1) : 0));
    TRY(esra_image_create(canvas, frame->width, frame->height, image.channels, context->message));
    struct transform fill = {{step, 0, (image.width - 1 - step * (frame->width - 1)) / 2, 0, step,
                              (image.height - 1 - step * (frame->height - 1)) / 2, 0, 0, 1}};
    esra_resample(context, &image, &fill, canvas, (struct plane){0});
    TRY(smooth(canvas, context, blur_px));
done:
    esra_image_free(&image);
    return status;
}
