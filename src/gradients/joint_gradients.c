/* gradients/joint_gradients.c - the guide of a joint two-layer solution: its layers are those expected. Its robust
 * weights (IRLS) become those of the paper's data term: a photo that is an outlier to the one is no evidence to the
 * other. */
#include "gradients/joint_gradients.h"

#include <math.h>

/* known NULL: everywhere. */
static void expect(struct guide *guide, int l, const struct image *layer, const struct image *known)
{
    size_t pixels = image_pixels(layer);
    for (int c = 0; c < layer->channels; c++) {
        float *to = guide->expected[c * (guide->photos + 1) + l].data;
        const float *from = image_plane(layer, c).data;
        for (size_t n = 0; n < pixels; n++)
            to[n] = known && known->data[n] == 0 ? NAN : from[n];
    }
}

static void clip_into(const struct image *from, struct image *to)
{
    size_t samples = (size_t)to->width * (size_t)to->height * (size_t)to->channels;
    for (size_t n = 0; n < samples; n++)
        to->data[n] = from->data[n] < 0 ? 0 : from->data[n] > 1 ? 1 : from->data[n];
}

void esra_guide_take_transmitted(struct guide *guide, const struct image *transmitted)
{
    expect(guide, 0, transmitted, NULL);
}

void esra_guide_take_reflected(struct guide *guide, int photo, const struct image *seen, const struct image *trust)
{
    expect(guide, photo + 1, seen, trust);
    clip_into(trust, &guide->weights[photo]);
}
