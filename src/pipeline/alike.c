/* pipeline/alike.c - differences of aligned photos: noise is white, layers are not. */
#include "pipeline/alike.h"

#include <math.h>

#include "ops/blur.h"
#include "pipeline/pipeline.h"

#define BLUR_PX 2

/* Photos of a scene without reflection, and of two layers that move together: .02 to .08. Of forty scenes that could be told
 * apart, photos with noise of .05 and of a hundredth of the light reflected among them, the photo that shows most had .3. */
#define NOISE_ALONE .13

/* One channel's difference, 0 where it is not known. */
static void subtract(const struct image *reference, const struct image *photo, const struct image *mask, double gain,
                     int channel, struct plane out)
{
    struct plane a = image_plane(photo, channel), b = image_plane(reference, channel), m = image_plane(mask, 0);
    size_t pixels = (size_t)out.width * (size_t)out.height;
    double sum = 0, known = 0;
    for (size_t n = 0; n < pixels; n++)
        if (m.data[n] > 0) {
            out.data[n] = (float)(a.data[n] / gain) - b.data[n];
            sum += out.data[n];
            known++;
        }
    for (size_t n = 0; n < pixels; n++)
        out.data[n] = m.data[n] > 0 ? out.data[n] - (float)(sum / known) : 0;
}

esra_status esra_alike_structure(const struct image *reference, const struct image *photo, const struct image *mask,
                                 double gain, struct context *context, double *share)
{
    struct image work = {0};
    size_t pixels = (size_t)mask->width * (size_t)mask->height;
    double before = 0, after = 0;
    esra_status status;
    *share = 1;
    TRY(esra_image_create(&work, mask->width, mask->height, 3, context->message));
    struct plane difference = image_plane(&work, 0), smooth = image_plane(&work, 1), inside = image_plane(&work, 2);
    esra_blur(context, image_plane(mask, 0), inside, BLUR_PX);
    for (int c = 0; c < reference->channels; c++) {
        subtract(reference, photo, mask, gain, c, difference);
        esra_blur(context, difference, smooth, BLUR_PX);
        for (size_t n = 0; n < pixels; n++)
            if (inside.data[n] > 0.99f) {
                before += (double)difference.data[n] * difference.data[n];
                after += (double)smooth.data[n] * smooth.data[n];
            }
    }
    if (before > 0)
        *share = after / before;
done:
    esra_image_free(&work);
    return status;
}

/* Where no photo shows more than noise there is nothing to find. Nobody asks where motions of both layers are given. */
esra_status esra_pipeline_compare(struct pipeline *p)
{
    double most = 0, share;
    esra_status status = ESRA_OK;
    if (p->approached || p->input->reflected)
        return ESRA_OK;
    for (int i = 0; i < p->photos; i++) {
        if (i == p->reference || !p->motions[i].aligned)
            continue;
        TRY(esra_alike_structure(&p->aligned[p->reference], &p->aligned[i], &p->masks[i], p->mixing[i], p->context,
                                 &share));
        most = fmax(most, share);
    }
    p->alike = most > 0 && most < NOISE_ALONE;
done:
    return status;
}
