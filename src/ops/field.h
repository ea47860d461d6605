/* ops/field.h - the colour gradients of an image, on which motion is estimated: a constant veil does not change
 * them, and where two layers overlap a pixel's gradient mostly belongs to one of them.
 *
 * A sample holds eight floats side by side, two vectors of colours: the x differences of up to three channels, a zero,
 * their y differences, a zero. Channels that are missing are zero. */
#ifndef ESRA_OPS_FIELD_H
#define ESRA_OPS_FIELD_H

#include "base/colours.h"
#include "base/transform.h"
#include "ops/pyramid.h"

#define FIELD_FLOATS (2 * COLOURS) /* x differences, y differences */

struct field {
    float *data; /* owned; float k of (x, y) at data[(y * width + x) * FIELD_FLOATS + k] */
    int width, height;
};

/* The fields of a pyramid's levels. */
struct fields {
    struct field level[PYRAMID_LEVELS];
    int levels;
};

static inline float *field_sample(const struct field *field, int x, int y)
{
    return field->data + ((size_t)y * (size_t)field->width + (size_t)x) * FIELD_FLOATS;
}

esra_status esra_field_create(struct field *field, int width, int height, struct message *message);

/* The same with samples unspecified, for whoever writes all of them. */
esra_status esra_field_reserve(struct field *field, int width, int height, struct message *message);

void esra_field_free(struct field *field);

/* Central differences of the image smoothed by blur_px; zero along the border. */
esra_status esra_field_of_image(struct field *field, struct context *context, const struct image *image,
                                double blur_px);

esra_status esra_fields_of_pyramid(struct fields *fields, struct context *context, const struct pyramid *pyramid,
                                   double blur_px);

/* Takes over *base as level 0 (also where it fails, then freeing it) and halves it down. */
esra_status esra_fields_of_field(struct fields *fields, struct context *context, struct field *base);

void esra_fields_free(struct fields *fields);

/* to(x) = the gradients of the photo seen through t: J'(field(t x)), bilinear, J the Jacobian of t in the middle of the
 * image. valid becomes 1 where t x lies two pixels inside `from`, 0 elsewhere, where `to` is zero. */
void esra_field_warp(struct context *context, const struct field *from, const struct transform *t,
                     const struct field *to, struct plane valid);

#endif
