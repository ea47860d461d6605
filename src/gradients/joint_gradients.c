/* gradients/joint_gradients.c - the guide of a joint two-layer solution: the gradients of its layers. Its robust
 * weights (IRLS) become those of the paper's data term: a photo that is an outlier to the one is no evidence to the
 * other. */
#include "gradients/joint_gradients.h"

static void clip_into(const struct image *from, struct image *to)
{
    size_t samples = (size_t)to->width * (size_t)to->height * (size_t)to->channels;
    for (size_t n = 0; n < samples; n++)
        to->data[n] = from->data[n] < 0 ? 0 : from->data[n] > 1 ? 1 : from->data[n];
}

void esra_guide_take_transmitted(struct guide *guide, const struct image *transmitted)
{
    esra_guide_set_layer(guide, 0, transmitted, NULL);
}

void esra_guide_take_reflected(struct guide *guide, int photo, const struct image *seen, const struct image *trust)
{
    esra_guide_set_layer(guide, photo + 1, seen, trust);
    clip_into(trust, &guide->weights[photo]);
}
