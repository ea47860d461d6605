/* solve/joint_canvas.c - the canvas of the reflection, motions between levels, and its black point. */
#include "solve/joint_canvas.h"

#include <math.h>

#include "base/select.h"

/* A photo that needs more than this part of the frame beyond a side is moved by a wrong motion, or adds only pixels
 * that no other photo sees; they are left out. */
#define LARGEST_MARGIN 0.25

/* NaN extends nothing. */
static void extend(double *low, double *high, double value)
{
    *low = value < *low ? value : *low;
    *high = value > *high ? value : *high;
}

/* The rectangle the canvas must cover. */
struct bounds {
    double left, right, top, bottom;
};

static struct joint_canvas canvas_around(const struct bounds *bounds, int width, int height)
{
    int margin_x = (int)(LARGEST_MARGIN * width) + 1, margin_y = (int)(LARGEST_MARGIN * height) + 1;
    struct joint_canvas canvas;
    canvas.left = (int)fmax(floor(bounds->left), -margin_x);
    canvas.top = (int)fmax(floor(bounds->top), -margin_y);
    /* One pixel more than needed on the far sides, so that a canvas is at least 2x2. */
    canvas.width = (int)fmin(ceil(bounds->right), width - 1 + margin_x) + 2 - canvas.left;
    canvas.height = (int)fmin(ceil(bounds->bottom), height - 1 + margin_y) + 2 - canvas.top;
    return canvas;
}

struct joint_canvas esra_joint_canvas(const double *motion, int photos, int width, int height)
{
    struct bounds bounds = {0, width - 1, 0, height - 1};
    for (int i = 0; i < photos; i++)
        for (int corner = 0; corner < 4; corner++) {
            const double *g = motion + 9 * i;
            double x = corner % 2 ? width - 1 : 0, y = corner / 2 ? height - 1 : 0;
            double w = g[6] * x + g[7] * y + g[8];
            if (!(w > 1e-9))
                continue;
            extend(&bounds.left, &bounds.right, (g[0] * x + g[1] * y + g[2]) / w);
            extend(&bounds.top, &bounds.bottom, (g[3] * x + g[4] * y + g[5]) / w);
        }
    return canvas_around(&bounds, width, height);
}

struct joint_canvas esra_joint_canvas_maps(const struct image *maps, const struct joint_level *top)
{
    int width = top->width[TRANSMITTED], height = top->height[TRANSMITTED];
    struct bounds bounds = {0, width - 1, 0, height - 1};
    size_t pixels = joint_pixels(top, TRANSMITTED);
    for (int i = 0; i < top->photos; i++)
        for (size_t n = 0; n < pixels; n++)
            if (top->mask[i][n] > 0) {
                extend(&bounds.left, &bounds.right, maps[i].data[n]);
                extend(&bounds.top, &bounds.bottom, maps[i].data[pixels + n]);
            }
    return canvas_around(&bounds, width, height);
}

void esra_joint_motion_to_canvas(const double g[9], const struct joint_canvas *canvas, double out[9])
{
    for (int c = 0; c < 3; c++) {
        out[c] = g[c] - canvas->left * g[6 + c];
        out[3 + c] = g[3 + c] - canvas->top * g[6 + c];
        out[6 + c] = g[6 + c];
    }
}

void esra_joint_motion_halve(const double in[9], double out[9])
{
    double t[9];
    for (int r = 0; r < 3; r++) { /* in inverse(h): inverse(h)(x) = 2x + 1/2 */
        t[3 * r] = 2 * in[3 * r];
        t[3 * r + 1] = 2 * in[3 * r + 1];
        t[3 * r + 2] = in[3 * r + 2] + 0.5 * (in[3 * r] + in[3 * r + 1]);
    }
    for (int c = 0; c < 3; c++) {
        out[c] = 0.5 * t[c] - 0.25 * t[6 + c];
        out[3 + c] = 0.5 * t[3 + c] - 0.25 * t[6 + c];
        out[6 + c] = t[6 + c];
    }
}

static size_t collect(const struct joint_level *level, int photo, int channel, float *values)
{
    const struct warp *warp = &level->warp[photo];
    size_t count = 0;
    for (int y = 0; y < warp->height; y++)
        for (int x = 0; x < warp->width; x++) {
            struct warp_point point = warp_at(warp, x, y);
            if (point.index >= 0 && joint_mask(level, photo, (size_t)y * warp->width + x) > 0)
                values[count++] = warp_sample(warp, level->layer[REFLECTED], point)[channel];
        }
    return count;
}

void esra_joint_black_point(struct joint_level *level, const double *mixing, const double *gain, double share,
                            float *scratch)
{
    colours down = {0}, up = {0};
    int photo = 0;
    while (photo < level->photos && collect(level, photo, 0, scratch) == 0)
        photo++;
    if (photo == level->photos)
        return;
    for (int c = 0; c < level->channels; c++) {
        size_t count = collect(level, photo, c, scratch);
        down[c] = esra_select_rank(scratch, count, (size_t)(share * (double)(count - 1)));
        /* a (T + up) + b (R - down) = a T + b R */
        up[c] = mixing[photo] > 0 ? (float)(gain[photo] / mixing[photo]) * down[c] : 0;
    }
    for (size_t n = 0; n < joint_pixels(level, TRANSMITTED); n++)
        level->layer[TRANSMITTED][n] += up;
    for (size_t n = 0; n < joint_pixels(level, REFLECTED); n++)
        level->layer[REFLECTED][n] -= down;
}
