/* ops/field.c - colour gradient fields. */
#include "ops/field.h"

#include <string.h>

#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "ops/blur.h"

static esra_status create(struct field *field, int width, int height, void *(*allocate)(size_t, size_t),
                          struct message *message)
{
    size_t samples;
    *field = (struct field){NULL, width, height};
    if (!esra_size_multiply((size_t)width, (size_t)height * FIELD_FLOATS, &samples))
        return esra_fail_memory(message);
    field->data = allocate(samples, sizeof *field->data);
    return field->data ? ESRA_OK : esra_fail_memory(message);
}

esra_status esra_field_create(struct field *field, int width, int height, struct message *message)
{
    return create(field, width, height, esra_allocate, message);
}

esra_status esra_field_reserve(struct field *field, int width, int height, struct message *message)
{
    return create(field, width, height, esra_allocate_untouched, message);
}

void esra_field_free(struct field *field)
{
    esra_release(&field->data);
    *field = (struct field){0};
}

struct differencing {
    struct plane from;
    const struct field *to;
    int channel;
};

/* The first channel's also clear the border and what channels that are not there leave. */
static void difference_block(void *work, int task, int worker)
{
    const struct differencing *d = work;
    struct plane from = d->from;
    int begin = rows_begin(task), end = rows_end(task, from.height);
    (void)worker;
    if (d->channel == 0)
        memset(field_sample(d->to, 0, begin), 0,
               (size_t)(end - begin) * (size_t)from.width * FIELD_FLOATS * sizeof(float));
    for (int y = begin; y < end; y++)
        for (int x = 1; x < from.width - 1 && y > 0 && y < from.height - 1; x++) {
            const float *here = plane_row(from, y) + x;
            float *sample = field_sample(d->to, x, y) + d->channel;
            sample[0] = .5f * (here[1] - here[-1]);
            sample[4] = .5f * (here[from.stride] - here[-from.stride]);
        }
}

esra_status esra_field_of_image(struct field *field, struct context *context, const struct image *image, double blur_px)
{
    struct image smooth = {0};
    esra_status status;
    *field = (struct field){0};
    TRY(esra_image_reserve(&smooth, image->width, image->height, 1, context->message));
    TRY(esra_field_reserve(field, image->width, image->height, context->message));
    for (int c = 0; c < image->channels && c < 3; c++) {
        struct differencing d = {image_plane(&smooth, 0), field, c};
        esra_blur(context, image_plane(image, c), d.from, blur_px);
        esra_context_run(context, difference_block, &d, rows_blocks(image->height), NULL);
    }
    esra_image_free(&smooth);
    return ESRA_OK;
done:
    esra_image_free(&smooth);
    esra_field_free(field);
    return status;
}

esra_status esra_fields_of_pyramid(struct fields *fields, struct context *context, const struct pyramid *pyramid,
                                   double blur_px)
{
    *fields = (struct fields){.levels = pyramid->levels};
    for (int n = 0; n < pyramid->levels; n++) {
        esra_status status = esra_field_of_image(&fields->level[n], context, &pyramid->level[n], blur_px);
        if (status != ESRA_OK) {
            esra_fields_free(fields);
            return status;
        }
    }
    return ESRA_OK;
}

static struct plane floats_plane(const struct field *field)
{
    return (struct plane){field->data, field->width, field->height, (ptrdiff_t)field->width * FIELD_FLOATS};
}

esra_status esra_fields_of_field(struct fields *fields, struct context *context, struct field *base)
{
    struct field *level = fields->level;
    *fields = (struct fields){.levels = 1};
    level[0] = *base;
    *base = (struct field){0};
    while (fields->levels < PYRAMID_LEVELS && level->width >> fields->levels >= 16 &&
           level->height >> fields->levels >= 16) {
        struct field *from = &level[fields->levels - 1], *to = &level[fields->levels];
        esra_status status = esra_field_reserve(to, (from->width + 1) / 2, (from->height + 1) / 2, context->message);
        if (status != ESRA_OK) {
            esra_fields_free(fields);
            return status;
        }
        esra_halve(context, floats_plane(from), floats_plane(to), FIELD_FLOATS);
        fields->levels++;
    }
    return ESRA_OK;
}

void esra_fields_free(struct fields *fields)
{
    for (int n = 0; n < PYRAMID_LEVELS; n++)
        esra_field_free(&fields->level[n]);
    *fields = (struct fields){0};
}

struct warping {
    const struct field *from, *to;
    struct transform transform;
    struct plane valid;
    float jacobian[4]; /* du/dx, du/dy, dv/dx, dv/dy */
};

/* J of (u, v) = (p/d, q/d) at one point, by the quotient rule. */
static void find_jacobian(const struct transform *t, double x, double y, float *jacobian)
{
    const double *h = t->h;
    double d = h[6] * x + h[7] * y + h[8], u = 0, v = 0;
    if (!transform_apply(t, x, y, &u, &v))
        d = 1;
    jacobian[0] = (float)((h[0] - h[6] * u) / d);
    jacobian[1] = (float)((h[1] - h[7] * u) / d);
    jacobian[2] = (float)((h[3] - h[6] * v) / d);
    jacobian[3] = (float)((h[4] - h[7] * v) / d);
}

static void interpolate(const struct field *from, double u, double v, colours *out)
{
    int x = (int)u, y = (int)v;
    float p = (float)(u - x), q = (float)(v - y);
    float a = (1 - p) * (1 - q), b = p * (1 - q), c = (1 - p) * q, d = p * q;
    const colours *top = (const colours *)field_sample(from, x, y),
                  *bottom = (const colours *)field_sample(from, x, y + 1);
    out[0] = a * top[0] + b * top[2] + c * bottom[0] + d * bottom[2];
    out[1] = a * top[1] + b * top[3] + c * bottom[1] + d * bottom[3];
}

#define STRETCH 64

/* Where pixels lie in `from`: one after the other, so that the compiler makes vectors of the divisions. */
struct places {
    double u[STRETCH], v[STRETCH]; /* u = -1: nowhere */
};

/* transform_apply() of pixels (begin, y) and on. */
static void place(const struct transform *t, int begin, int y, int count, struct places *places)
{
    const double *h = t->h;
    for (int k = 0; k < count; k++) {
        double x = begin + k, d = h[6] * x + h[7] * y + h[8];
        double u = (h[0] * x + h[1] * y + h[2]) / d, v = (h[3] * x + h[4] * y + h[5]) / d;
        places->u[k] = d > 1e-6 ? u : -1;
        places->v[k] = v;
    }
}

static void warp_pixel(const struct warping *w, double u, double v, colours *to, float *seen)
{
    colours g[2] = {{0}, {0}};
    bool valid = u >= 2 && v >= 2 && u < w->from->width - 3 && v < w->from->height - 3;
    if (valid)
        interpolate(w->from, u, v, g);
    /* d/dx I(t x) = I_u du/dx + I_v dv/dx, and the same for y. */
    to[0] = w->jacobian[0] * g[0] + w->jacobian[2] * g[1];
    to[1] = w->jacobian[1] * g[0] + w->jacobian[3] * g[1];
    *seen = valid ? 1 : 0;
}

static void warp_block(void *work, int task, int worker)
{
    const struct warping *w = work;
    struct places places;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, w->to->height); y++)
        for (int begin = 0; begin < w->to->width; begin += STRETCH) {
            int count = w->to->width - begin < STRETCH ? w->to->width - begin : STRETCH;
            colours *to = (colours *)field_sample(w->to, begin, y);
            float *seen = plane_row(w->valid, y) + begin;
            place(&w->transform, begin, y, count, &places);
            for (int k = 0; k < count; k++)
                warp_pixel(w, places.u[k], places.v[k], to + 2 * k, seen + k);
        }
}
WIDE_TASK(warp_block)

void esra_field_warp(struct context *context, const struct field *from, const struct transform *t,
                     const struct field *to, struct plane valid)
{
    struct warping w = {.from = from, .to = to, .transform = *t, .valid = valid};
    find_jacobian(t, .5 * to->width, .5 * to->height, w.jacobian);
    esra_context_run(context, WIDE(context, warp_block), &w, rows_blocks(to->height), NULL);
}
