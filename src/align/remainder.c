/* align/remainder.c - the remainders of aligned photos: what they hold beside the transmitted layer. */
#include "align/remainder.h"

#include <math.h>
#include <string.h>

#include "align/thresholds.h"
#include "base/rows.h"
#include "base/select.h"
#include "ops/thresholds.h"

#define PHOTOS_AT_ONCE 64

struct voting {
    struct field *fields;
    const struct image *masks;
    const double *mixing;
    int count;
};

static bool seen_by(const struct voting *v, int photo, int x, int y)
{
    return plane_row(image_plane(&v->masks[photo], 0), y)[x] > 0;
}

/* One component of T's gradient: the median over the photos that see the pixel, and half a vote for zero. */
static float transmitted_part(const struct voting *v, int x, int y, int part)
{
    struct weighted votes[PHOTOS_AT_ONCE + 1] = {{0, TIE_BREAKER}};
    int count = 1;
    for (int n = 0; n < v->count && n < PHOTOS_AT_ONCE; n++)
        if (seen_by(v, n, x, y))
            votes[count++] = (struct weighted){field_sample(&v->fields[n], x, y)[part] / (float)v->mixing[n], 1};
    return esra_weighted_median(votes, count);
}

static void vote_block(void *work, int task, int worker)
{
    const struct voting *v = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, v->fields[0].height); y++)
        for (int x = 0; x < v->fields[0].width; x++)
            for (int part = 0; part < FIELD_FLOATS; part++) {
                float transmitted = transmitted_part(v, x, y, part);
                for (int n = 0; n < v->count; n++) {
                    float *sample = field_sample(&v->fields[n], x, y) + part;
                    *sample = seen_by(v, n, x, y) ? *sample - (float)v->mixing[n] * transmitted : 0;
                }
            }
}

esra_status esra_remainder_by_median(struct context *context, const struct image *photos, const struct image *masks,
                                     const double *mixing, int count, struct field *fields)
{
    struct voting v = {fields, masks, mixing, count};
    memset(fields, 0, (size_t)count * sizeof *fields);
    for (int n = 0; n < count; n++) {
        esra_status status = esra_field_of_image(&fields[n], context, &photos[n], ops_thresholds.field_blur_px);
        if (status != ESRA_OK) {
            for (int k = 0; k < n; k++)
                esra_field_free(&fields[k]);
            return status;
        }
    }
    esra_context_run(context, vote_block, &v, rows_blocks(fields[0].height), NULL);
    return ESRA_OK;
}

/* The root of the positive part of sign (photo/mixing - reference). */
static void fill_part(const struct image *reference, const struct image *photo, const struct image *mask, double mixing,
                      float sign, const struct image *part)
{
    size_t pixels = image_pixels(part);
    for (int c = 0; c < part->channels; c++)
        for (size_t n = 0; n < pixels; n++) {
            size_t k = (size_t)c * pixels + n;
            float difference = sign * (photo->data[k] / (float)mixing - reference->data[k]);
            part->data[k] =
                sqrtf((mask->data[n] > 0 && difference > 0 ? difference : 0) + (float)align_thresholds.remainder_dark);
        }
}

esra_status esra_remainder_by_sign(const struct image *reference, const struct image *photo, const struct image *mask,
                                   double mixing, struct image parts[2], struct message *message)
{
    esra_status status;
    parts[1] = (struct image){0};
    TRY(esra_image_create(&parts[0], photo->width, photo->height, photo->channels, message));
    TRY(esra_image_create(&parts[1], photo->width, photo->height, photo->channels, message));
    fill_part(reference, photo, mask, mixing, -1, &parts[0]);
    fill_part(reference, photo, mask, mixing, 1, &parts[1]);
    return ESRA_OK;
done:
    esra_image_free(&parts[0]);
    return status;
}
