/* evidence/noise.c - differences of aligned photos: noise is white, layers are not. */
#include "evidence/noise.h"

#include "evidence/thresholds.h"
#include "ops/blur.h"

/* d = photo/gain - reference in one channel, less its mean over the pixels seen; 0 elsewhere. */
static void subtract(const struct noise_pair *pair, int channel, struct plane d)
{
    struct plane photo = image_plane(pair->photo, channel), reference = image_plane(pair->reference, channel);
    const float *mask = pair->mask->data;
    size_t pixels = image_pixels(pair->mask);
    double sum = 0, seen = 0;
    for (size_t n = 0; n < pixels; n++)
        if (mask[n] > 0) {
            d.data[n] = (float)(photo.data[n] / pair->gain) - reference.data[n];
            sum += d.data[n];
            seen++;
        }
    for (size_t n = 0; n < pixels; n++)
        d.data[n] = mask[n] > 0 ? d.data[n] - (float)(sum / seen) : 0;
}

esra_status esra_noise_structure(struct context *context, const struct noise_pair *pair, double *share)
{
    struct image work = {0};
    size_t pixels = image_pixels(pair->mask);
    double blur_px = evidence_thresholds.difference_blur_px, before = 0, after = 0;
    esra_status status;
    *share = 1;
    TRY(esra_image_create(&work, pair->mask->width, pair->mask->height, 3, context->message));
    struct plane d = image_plane(&work, 0), smooth = image_plane(&work, 1), inside = image_plane(&work, 2);
    esra_blur(context, image_plane(pair->mask, 0), inside, blur_px);
    for (int c = 0; c < pair->reference->channels; c++) {
        subtract(pair, c, d);
        esra_blur(context, d, smooth, blur_px);
        for (size_t n = 0; n < pixels; n++)
            if (inside.data[n] > 0.99f) { /* a blur away from what is not seen */
                before += (double)d.data[n] * d.data[n];
                after += (double)smooth.data[n] * smooth.data[n];
            }
    }
    if (before > 0)
        *share = after / before;
done:
    esra_image_free(&work);
    return status;
}
