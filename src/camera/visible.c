/* camera/visible.c - which pixels of an inverse depth image are occluded in a photo, and the inverse map, from the
 * photo to the image: both by a z-buffer, points splatted into the photo's frame with the nearest staying. */
#include <math.h>

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

/* Undoes distortion: the q whose q (1 + k |q|^2) is (ax, ay), by fixed-point steps. */
static void unbend(double k, double ax, double ay, double *qx, double *qy)
{
    *qx = ax;
    *qy = ay;
    for (int step = 0; step < LENS_STEPS; step++) {
        double wide = 1 + k * (*qx * *qx + *qy * *qy);
        *qx = ax / wide;
        *qy = ay / wide;
    }
}

struct unmapping {
    const struct camera *camera;
    const struct pose *pose;
    const struct image *inverse, *to;
    struct canvas_offset offset;
    struct plane nearest, filled;
};

/* The epipolar line of a photo's pixel in the reference: at inverse depth w its ray passes through
 *     X = z a - w b,  a = R'(p, 1),  b = R't,  z = (1 + w b_3)/a_3. */
struct sightline {
    double a[3], b[3];
};

static void look_back(const struct unmapping *m, int u, int v, struct sightline *line)
{
    const struct camera *camera = m->camera;
    const double *r = m->pose->r, *t = m->pose->t;
    double px, py;
    unbend(camera->k1, (u - camera->cx) / camera->focal_px, (v - camera->cy) / camera->focal_px, &px, &py);
    for (int k = 0; k < 3; k++) {
        line->a[k] = r[k] * px + r[3 + k] * py + r[6 + k];
        line->b[k] = r[k] * t[0] + r[3 + k] * t[1] + r[6 + k] * t[2];
    }
}

/* The canvas' pixel of the ray's point at inverse depth w. */
static void place(const struct unmapping *m, const struct sightline *line, double w, double *x, double *y)
{
    double z = (1 + w * line->b[2]) / line->a[2], qx, qy;
    unbend(-m->camera->k1, z * line->a[0] - w * line->b[0], z * line->a[1] - w * line->b[1], &qx, &qy);
    *x = m->camera->cx + m->camera->focal_px * qx + m->offset.left;
    *y = m->camera->cy + m->camera->focal_px * qy + m->offset.top;
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

/* Fixed-point iteration from the z-buffer's w to the w that the canvas has where it leads. */
static void refine(const struct unmapping *m, const struct sightline *line, double w, double *x, double *y)
{
    double u, v, away = INFINITY;
    place(m, line, w, x, y);
    u = *x;
    v = *y;
    for (int step = 0; step < REFINEMENTS; step++) {
        double before_u = u, before_v = v;
        place(m, line, sample(m->inverse, u, v), &u, &v);
        away = esra_hypot(u - before_u, v - before_v);
    }
    if (away < SETTLED_PX) {
        *x = u;
        *y = v;
    }
}

static void unmap_block(void *work, int task, int worker)
{
    const struct unmapping *m = work;
    (void)worker;
    for (int v = rows_begin(task); v < rows_end(task, m->to->height); v++)
        for (int u = 0; u < m->to->width; u++) {
            struct sightline line;
            float w = plane_row(m->filled, v)[u];
            double x, y;
            look_back(m, u, v, &line);
            if (plane_row(m->nearest, v)[u] > EMPTY)
                refine(m, &line, w, &x, &y);
            else
                place(m, &line, w > EMPTY ? w : m->camera->far, &x, &y);
            plane_row(image_plane(m->to, 0), v)[u] = (float)x;
            plane_row(image_plane(m->to, 1), v)[u] = (float)y;
        }
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
