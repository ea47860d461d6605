/* gradients/offset.c - offsets of photos by the median, which stands while fewer than half of the pixels are outliers.
 */
#include "gradients/offset.h"

#include "base/select.h"

void esra_offset_estimate(const struct image *reference, const struct image *photo, const struct image *mask,
                          double mixing, double *offset, float *scratch)
{
    size_t pixels = (size_t)photo->width * (size_t)photo->height;
    float scale = (float)(1 / mixing);
    for (int c = 0; c < photo->channels; c++) {
        const float *at = photo->data + c * pixels, *base = reference->data + c * pixels;
        size_t count = 0;
        for (size_t n = 0; n < pixels; n++)
            if (mask->data[n] > 0)
                scratch[count++] = base[n] - scale * at[n];
        offset[c] = count > 0 ? esra_select_rank(scratch, count, count / 2) : 0;
    }
}
