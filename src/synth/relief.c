/* synth/relief.c - a layer with depth, rendered by walking along each ray from the near end until it meets the surface.
 */
#include "synth/relief.h"

#include <math.h>

#include "base/maths.h"
#include "base/rows.h"
#include "ops/extreme.h"

/* Rays through a pixel, along each side. */
#define RAYS 2
/* A step along a ray moves by this much on the reference's grid at most: thinner things could be stepped over. */
#define STEP_PX 0.5
/* So many steps, which lead half as many pixels far or a little farther, are skipped at once where nothing within
 * NEAREST_PX is near enough. */
#define LEAP       16
#define NEAREST_PX 14
/* Halvings of the step in which the surface is met. */
#define HALVINGS 8
/* Depth maps have steps; a surface has slopes. Within a few pixels, so that it hides what is behind. */
#define SLOPE_PX 1.5
#define REACH_PX 4
/* Cameras see inverse depths a little beyond the reference's, as they move along their view. */
#define SLACK 1.2
/* How far before the reference what a corner of a photo sees may be: less, and it is beside the reference or behind it.
 */
#define LEAST_DEPTH .2

void esra_relief_range(int layer, double *low, double *high)
{
    *low = layer == 0 ? 0.55 : 0.15;
    *high = layer == 0 ? 1 : 0.5;
}

bool esra_relief_include(struct frame *frame, const esra_camera *camera, const struct lens *lens, double low,
                         double high)
{
    double left = frame->left, top = frame->top, right = left + frame->width - 1, bottom = top + frame->height - 1;
    for (int n = 0; n < 8; n++) {
        double point[3], nearness = n & 4 ? SLACK * high : low / SLACK;
        esra_camera_look(camera, lens, n & 1 ? 2 * lens->x : 0, n & 2 ? 2 * lens->y : 0, nearness, point);
        if (!(point[2] > 0 && point[2] < nearness / LEAST_DEPTH))
            return false;
        left = fmin(left, floor(point[0]) - REACH_PX);
        right = fmax(right, ceil(point[0]) + REACH_PX);
        top = fmin(top, floor(point[1]) - REACH_PX);
        bottom = fmax(bottom, ceil(point[1]) + REACH_PX);
    }
    *frame = (struct frame){(int)left, (int)top, (int)(right - left) + 1, (int)(bottom - top) + 1};
    return true;
}

/* 0..1 over the frame, u and v in [-1,1]: a floor and a wall that meet aslant, and a round thing near the camera. The
 * reflected layer has the same, mirrored. */
static double built_in(int layer, double u, double v)
{
    double side = layer == 0 ? u : -u;
    double planes = fmax(.15 + .3 * (v + .2), .2 - .25 * (side + .3));
    double from_middle = esra_hypot(side - .35, (v - .15) / 1.2);
    double near = 1 / (1 + esra_exp((from_middle - .33) / .003));
    return fmin(fmax(planes, 0), .8) * (1 - near) + near;
}

static void fill_built_in(struct relief *relief, int layer)
{
    struct plane plane = image_plane(&relief->inverse, 0);
    for (int y = 0; y < plane.height; y++)
        for (int x = 0; x < plane.width; x++)
            plane_row(plane, y)[x] = (float)built_in(layer, 2. * x / plane.width - 1, 2. * y / plane.height - 1);
}

static esra_status find_nearest(struct relief *relief, struct context *context)
{
    struct image scratch = {0};
    esra_status status;
    TRY(esra_image_create(&relief->nearest, relief->frame.width, relief->frame.height, 1, context->message));
    TRY(esra_image_create(&scratch, relief->frame.width, relief->frame.height, 1, context->message));
    esra_largest(context, image_plane(&relief->inverse, 0), image_plane(&relief->nearest, 0), NEAREST_PX,
                 image_plane(&scratch, 0));
done:
    esra_image_free(&scratch);
    return status;
}

esra_status esra_relief_shape(struct relief *relief, struct context *context, int layer, const esra_image *picture)
{
    esra_status status;
    if (picture && picture->data) {
        TRY(esra_canvas_draw(&relief->inverse, context, picture, &relief->frame, SLOPE_PX));
    } else {
        TRY(esra_image_create(&relief->inverse, relief->frame.width, relief->frame.height, 1, context->message));
        fill_built_in(relief, layer);
    }
    size_t pixels = (size_t)relief->frame.width * (size_t)relief->frame.height;
    for (size_t n = 0; n < pixels; n++) {
        double value = fmin(fmax(relief->inverse.data[n], 0), 1);
        relief->inverse.data[n] = (float)(relief->low + (relief->high - relief->low) * value);
    }
    TRY(find_nearest(relief, context));
done:
    return status;
}

/* Bilinear; the border is repeated. */
static double sample(struct plane plane, double x, double y)
{
    x = fmin(fmax(x, 0), plane.width - 1.001);
    y = fmin(fmax(y, 0), plane.height - 1.001);
    int i = (int)x, j = (int)y;
    double fx = x - i, fy = y - j;
    const float *upper = plane_row(plane, j) + i, *lower = plane_row(plane, j + 1) + i;
    return (1 - fy) * (upper[0] + fx * (upper[1] - upper[0])) + fy * (lower[0] + fx * (lower[1] - lower[0]));
}

struct rendering {
    const struct relief *relief;
    const esra_camera *camera;
    const struct lens *lens;
    struct image *out;
    int steps;
    struct context *context;
};

/* How far behind the surface the ray is at s: inverse depth there minus its own; point: on the relief's frame. */
static double behind(const struct rendering *r, double u, double v, double s, double point[3])
{
    esra_camera_look(r->camera, r->lens, u, v, s, point);
    point[0] -= r->relief->frame.left;
    point[1] -= r->relief->frame.top;
    return sample(image_plane(&r->relief->inverse, 0), point[0], point[1]) - point[2];
}

/* The n-th place to look at along a ray: an inverse depth in the camera's own frame, nearest first. */
static double ray_place(const struct rendering *r, int n)
{
    double near = SLACK * r->relief->high, far = r->relief->low / SLACK;
    return near + (far - near) * n / r->steps;
}

/* Whether the ray is before the surface from step n on for LEAP steps. Along a ray the reference's inverse depth s/p_3
 * falls with s, p_3 being linear in s and positive: it is least at the end. Its picture is straight; samples between
 * pixels reach one farther, and the place asked for is rounded. */
static bool is_clear(const struct rendering *r, double u, double v, int n)
{
    struct plane nearest = image_plane(&r->relief->nearest, 0);
    double begin[3], end[3];
    esra_camera_look(r->camera, r->lens, u, v, ray_place(r, n), begin);
    esra_camera_look(r->camera, r->lens, u, v, ray_place(r, n + LEAP - 1), end);
    double x = fmin(fmax(begin[0] - r->relief->frame.left, 0), nearest.width - 1);
    double y = fmin(fmax(begin[1] - r->relief->frame.top, 0), nearest.height - 1);
    return esra_hypot(end[0] - begin[0], end[1] - begin[1]) <= NEAREST_PX - 2 &&
           plane_row(nearest, (int)y)[(int)x] < end[2];
}

/* The first place, from the camera on, that is not before the surface. */
static void meet(const struct rendering *r, double u, double v, double point[3])
{
    double before = ray_place(r, 0), s = before;
    for (int n = 1; n <= r->steps; n++) {
        bool leap = n % LEAP == 1 && n + LEAP <= r->steps && is_clear(r, u, v, n);
        n += leap ? LEAP - 1 : 0;
        s = ray_place(r, n);
        if (!leap && behind(r, u, v, s, point) >= 0)
            break;
        before = s;
    }
    for (int n = 0; n < HALVINGS; n++) {
        double middle = .5 * (before + s);
        if (behind(r, u, v, middle, point) >= 0)
            s = middle;
        else
            before = middle;
    }
    behind(r, u, v, .5 * (before + s), point);
}

static void render_pixel(const struct rendering *r, int x, int y)
{
    const struct image *colour = &r->relief->colour;
    for (int c = 0; c < colour->channels; c++)
        plane_row(image_plane(r->out, c), y)[x] = 0;
    for (int n = 0; n < RAYS * RAYS; n++) {
        double point[3], u = x + (n % RAYS + .5) / RAYS - .5, v = y + (n / RAYS + .5) / RAYS - .5;
        meet(r, u, v, point);
        for (int c = 0; c < colour->channels; c++)
            plane_row(image_plane(r->out, c), y)[x] +=
                (float)(sample(image_plane(colour, c), point[0], point[1]) / (RAYS * RAYS));
    }
}

static void render_block(void *work, int task, int worker)
{
    const struct rendering *r = work;
    /* The caller's own thread may ask, and runs through the blocks that are left. */
    if (worker == 0 && esra_context_stopping(r->context))
        return;
    for (int y = rows_begin(task); y < rows_end(task, r->out->height); y++)
        for (int x = 0; x < r->out->width; x++)
            render_pixel(r, x, y);
}

/* How far a ray moves on the reference's grid between its ends; longest at a corner. */
static double longest_way_px(const struct rendering *r)
{
    double longest = 0;
    for (int n = 0; n < 4; n++) {
        double a[3], b[3], u = n & 1 ? 2 * r->lens->x : 0, v = n & 2 ? 2 * r->lens->y : 0;
        esra_camera_look(r->camera, r->lens, u, v, SLACK * r->relief->high, a);
        esra_camera_look(r->camera, r->lens, u, v, r->relief->low / SLACK, b);
        longest = fmax(longest, esra_hypot(a[0] - b[0], a[1] - b[1]));
    }
    return longest;
}

void esra_relief_render(const struct relief *relief, struct context *context, const esra_camera *camera,
                        const struct lens *lens, struct image *out)
{
    struct rendering r = {relief, camera, lens, out, 0, context};
    r.steps = 1 + (int)(longest_way_px(&r) / STEP_PX);
    esra_context_run(context, render_block, &r, rows_blocks(out->height), NULL);
}
