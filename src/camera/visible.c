/* camera/visible.c - which pixels of an inverse depth image are occluded in a photo, and the inverse map, from the
 * photo to the image: both by a z-buffer, points splatted into the photo's frame with the nearest staying. */
#include <math.h>
#include <string.h>

#include "base/four.h"
#include "base/maths.h"
#include "base/rows.h"
#include "base/wide.h"
#include "camera/camera.h"
#include "camera/model.h"
#include "ops/extreme.h"

/* Fixed-point steps of the inverse map; where the last is longer than half a pixel it has not converged, and the place
 * by the z-buffer's w stays. A quarter and a whole pixel change nothing (sweep D of thresholds.def: .00 dB). */
#define REFINEMENTS 4
#define SETTLED_PX  .5
#define LENS_STEPS  4
/* w of a pixel that no point projects to. */
#define EMPTY -INFINITY

static bool is_inside(float u, float v, int width, int height)
{
    return u >= 0 && v >= 0 && u <= (float)(width - 1) && v <= (float)(height - 1);
}

/* The z-buffer: nearest (the photo's size) = the largest w of the points that project to each pixel. */
static void splat(const struct image *map, const struct image *inverse, struct plane nearest)
{
    size_t pixels = image_pixels(map);
    for (size_t n = 0; n < plane_pixels(nearest); n++)
        nearest.data[n] = EMPTY;
    for (size_t n = 0; n < pixels; n++) {
        float u = map->data[n], v = map->data[pixels + n];
        if (!is_inside(u, v, nearest.width, nearest.height))
            continue;
        float *at = plane_row(nearest, (int)(v + .5f)) + (int)(u + .5f);
        *at = inverse->data[n] > *at ? inverse->data[n] : *at;
    }
}

/* The z-buffer of a photo's frame, and the map there. */
struct frame {
    struct image map, nearest;
};

enum { NEAREST, GROWN, SCRATCH, PLANES };

static void frame_free(struct frame *frame)
{
    esra_image_free(&frame->map);
    esra_image_free(&frame->nearest);
}

/* GROWN: the nearest of each pixel and its neighbours (a dilation), which closes the cracks between points. */
static esra_status frame_create(struct frame *frame, struct context *context, const struct camera *camera, int n,
                                const struct image *inverse, struct canvas_offset offset)
{
    esra_status status;
    *frame = (struct frame){0};
    TRY(esra_image_create(&frame->map, inverse->width, inverse->height, 2, context->message));
    TRY(esra_image_create(&frame->nearest, camera->width, camera->height, PLANES, context->message));
    esra_camera_map(context, camera, n, inverse, offset, &frame->map);
    splat(&frame->map, inverse, image_plane(&frame->nearest, NEAREST));
    esra_largest(context, image_plane(&frame->nearest, NEAREST), image_plane(&frame->nearest, GROWN), 1,
                 image_plane(&frame->nearest, SCRATCH));
    return ESRA_OK;
done:
    frame_free(frame);
    return status;
}

esra_status esra_camera_visible(struct context *context, const struct camera *camera, int n,
                                const struct image *inverse, struct canvas_offset offset, double tolerance,
                                const struct image *to)
{
    struct frame frame;
    struct image seen = {0};
    size_t pixels = image_pixels(inverse);
    esra_status status = frame_create(&frame, context, camera, n, inverse, offset);
    if (status != ESRA_OK)
        return status;
    TRY(esra_image_create(&seen, inverse->width, inverse->height, 2, context->message));
    for (size_t k = 0; k < pixels; k++) {
        float u = frame.map.data[k], v = frame.map.data[pixels + k];
        if (is_inside(u, v, camera->width, camera->height)) {
            float nearest = plane_row(image_plane(&frame.nearest, GROWN), (int)(v + .5f))[(int)(u + .5f)];
            seen.data[k] = (double)inverse->data[k] >= (double)nearest - tolerance;
        }
    }
    esra_smallest(context, image_plane(&seen, 0), image_plane(to, 0), 1, image_plane(&seen, 1));
done:
    frame_free(&frame);
    esra_image_free(&seen);
    return status;
}

/* Disocclusions: empty pixels take the farther w of the nearest filled ones left and right; a row without any takes the
 * row above's. */
static void continue_rows(struct plane grown, struct plane filled)
{
    for (int y = 0; y < grown.height; y++) {
        const float *from = plane_row(grown, y);
        float *to = plane_row(filled, y), last = EMPTY;
        for (int x = 0; x < grown.width; x++)
            to[x] = last = from[x] > EMPTY ? from[x] : last;
        last = EMPTY;
        for (int x = grown.width - 1; x >= 0; x--) {
            last = from[x] > EMPTY ? from[x] : last;
            if (!(from[x] > EMPTY) && last > EMPTY)
                to[x] = to[x] > EMPTY && to[x] < last ? to[x] : last;
        }
        for (int x = 0; x < grown.width && y > 0 && !(to[0] > EMPTY); x++)
            to[x] = plane_row(filled, y - 1)[x];
    }
}

/* Pixels are worked on eight at a time: every step of an iteration waits for the one before. */
#define FOURS  2
#define BESIDE (FOURS * FOUR)

/* Undoes distortion: the q whose q (1 + k |q|^2) is (ax, ay), by fixed-point steps. */
static void unbend(double k, const four ax[FOURS], const four ay[FOURS], four qx[FOURS], four qy[FOURS])
{
    for (int n = 0; n < FOURS; n++) {
        qx[n] = ax[n];
        qy[n] = ay[n];
    }
    for (int step = 0; step < LENS_STEPS; step++)
        for (int n = 0; n < FOURS; n++) {
            four wide = 1 + k * (qx[n] * qx[n] + qy[n] * qy[n]);
            qx[n] = ax[n] / wide;
            qy[n] = ay[n] / wide;
        }
}

struct unmapping {
    const struct camera *camera;
    const struct pose *pose;
    const struct image *inverse, *to;
    struct canvas_offset offset;
    struct plane nearest, filled;
};

/* The epipolar lines of a photo's pixels in the reference: at inverse depth w a ray passes through
 *     X = z a - w b,  a = R'(p, 1),  b = R't,  z = (1 + w b_3)/a_3. */
struct sightlines {
    four a[3][FOURS];
    double b[3];
};

/* Of pixels (u, v), (u + 1, v), ... */
static void look_back(const struct unmapping *m, int u, int v, struct sightlines *lines)
{
    const struct camera *camera = m->camera;
    const double *r = m->pose->r, *t = m->pose->t;
    const four ramp = {0, 1, 2, 3}, row = {v, v, v, v};
    four ax[FOURS], ay[FOURS], px[FOURS], py[FOURS];
    for (int n = 0; n < FOURS; n++) {
        ax[n] = (u + n * FOUR + ramp - camera->cx) / camera->focal_px;
        ay[n] = (row - camera->cy) / camera->focal_px;
    }
    unbend(camera->k1, ax, ay, px, py);
    for (int k = 0; k < 3; k++) {
        for (int n = 0; n < FOURS; n++)
            lines->a[k][n] = r[k] * px[n] + r[3 + k] * py[n] + r[6 + k];
        lines->b[k] = r[k] * t[0] + r[3 + k] * t[1] + r[6 + k] * t[2];
    }
}

/* The canvas' pixels of the rays' points at inverse depths w. */
static void place(const struct unmapping *m, const struct sightlines *lines, const four w[FOURS], four x[FOURS],
                  four y[FOURS])
{
    four ax[FOURS], ay[FOURS];
    for (int n = 0; n < FOURS; n++) {
        four z = (1 + w[n] * lines->b[2]) / lines->a[2][n];
        ax[n] = z * lines->a[0][n] - w[n] * lines->b[0];
        ay[n] = z * lines->a[1][n] - w[n] * lines->b[1];
    }
    unbend(-m->camera->k1, ax, ay, x, y);
    for (int n = 0; n < FOURS; n++) {
        x[n] = m->camera->cx + m->camera->focal_px * x[n] + m->offset.left;
        y[n] = m->camera->cy + m->camera->focal_px * y[n] + m->offset.top;
    }
}

/* w of the canvas at (x, y), bilinear, borders repeated. */
static double sample(const struct image *inverse, double x, double y)
{
    double right = inverse->width - 1, bottom = inverse->height - 1;
    x = x > 0 ? x < right ? x : right : 0;
    y = y > 0 ? y < bottom ? y : bottom : 0;
    int i = (int)x, j = (int)y, next = i < right ? 1 : 0;
    const float *a = plane_row(image_plane(inverse, 0), j), *b = j < bottom ? a + inverse->width : a;
    double upper = a[i] + (x - i) * (a[i + next] - a[i]), lower = b[i] + (x - i) * (b[i + next] - b[i]);
    return upper + (y - j) * (lower - upper);
}

/* Fixed-point iteration from the z-buffer's w, which gave (x, y), to the w that the canvas has where it leads; only of
 * pixels that have such a w, and where it settles. */
static void refine(const struct unmapping *m, const struct sightlines *lines, const bool *known, four x[FOURS],
                   four y[FOURS])
{
    four u[FOURS], v[FOURS], before_u[FOURS], before_v[FOURS], w[FOURS];
    memcpy(u, x, sizeof u);
    memcpy(v, y, sizeof v);
    for (int step = 0; step < REFINEMENTS; step++) {
        memcpy(before_u, u, sizeof u);
        memcpy(before_v, v, sizeof v);
        for (int n = 0; n < BESIDE; n++)
            w[n / FOUR][n % FOUR] = sample(m->inverse, u[n / FOUR][n % FOUR], v[n / FOUR][n % FOUR]);
        place(m, lines, w, u, v);
    }
    for (int n = 0; n < BESIDE; n++) {
        int k = n / FOUR, l = n % FOUR;
        if (known[n] && esra_hypot(u[k][l] - before_u[k][l], v[k][l] - before_v[k][l]) < SETTLED_PX) {
            x[k][l] = u[k][l];
            y[k][l] = v[k][l];
        }
    }
}

/* Pixels (u, v) to (u + count - 1, v); those past them are worked on for nothing. */
static void unmap_pixels(const struct unmapping *m, int u, int v, int count)
{
    const float *nearest = plane_row(m->nearest, v) + u, *filled = plane_row(m->filled, v) + u;
    struct sightlines lines;
    bool known[BESIDE] = {false}, any = false;
    four w[FOURS] = {{0}}, x[FOURS], y[FOURS];
    for (int n = 0; n < count; n++) {
        known[n] = nearest[n] > EMPTY;
        any = any || known[n];
        w[n / FOUR][n % FOUR] = filled[n] > EMPTY ? filled[n] : m->camera->far;
    }
    look_back(m, u, v, &lines);
    place(m, &lines, w, x, y);
    if (any)
        refine(m, &lines, known, x, y);
    for (int n = 0; n < count; n++) {
        plane_row(image_plane(m->to, 0), v)[u + n] = (float)x[n / FOUR][n % FOUR];
        plane_row(image_plane(m->to, 1), v)[u + n] = (float)y[n / FOUR][n % FOUR];
    }
}

static void unmap_block(void *work, int task, int worker)
{
    const struct unmapping *m = work;
    int width = m->to->width;
    (void)worker;
    for (int v = rows_begin(task); v < rows_end(task, m->to->height); v++)
        for (int u = 0; u < width; u += BESIDE)
            unmap_pixels(m, u, v, width - u < BESIDE ? width - u : BESIDE);
}
WIDE_TASK(unmap_block)

esra_status esra_camera_unmap(struct context *context, const struct camera *camera, int n, const struct image *inverse,
                              struct canvas_offset offset, const struct image *to)
{
    struct frame frame;
    esra_status status = frame_create(&frame, context, camera, n, inverse, offset);
    if (status != ESRA_OK)
        return status;
    struct unmapping m = {camera,
                          &camera->pose[n],
                          inverse,
                          to,
                          offset,
                          image_plane(&frame.nearest, GROWN),
                          image_plane(&frame.nearest, SCRATCH)};
    continue_rows(m.nearest, m.filled);
    esra_context_run(context, WIDE(context, unmap_block), &m, rows_blocks(to->height), NULL);
    frame_free(&frame);
    return ESRA_OK;
}
