/* gradients/joint_gradients.c - the guide of a joint two-layer solution: the gradients of its layers. Where the joint
 * solve did not believe a photo, the paper's data term should not either: its robust weights travel along. */
#include "gradients/joint_gradients.h"

#include <string.h>

struct guiding {
    struct guide *guide;
    const struct joint_layers *layers;
};

static void clip_into(const struct image *from, struct image *to)
{
    size_t samples = (size_t)to->width * (size_t)to->height * (size_t)to->channels;
    for (size_t n = 0; n < samples; n++)
        to->data[n] = from->data[n] < 0 ? 0 : from->data[n] > 1 ? 1 : from->data[n];
}

static void guide_layer(void *work, int layer, int worker)
{
    const struct guiding *guiding = work;
    struct guide *guide = guiding->guide;
    const struct joint_layers *layers = guiding->layers;
    const struct image *image = layer == 0 ? layers->transmitted : &layers->seen[layer - 1];
    (void)worker;
    esra_guide_set_layer(guide, layer, image, layer == 0 ? NULL : &layers->trust[layer - 1]);
    clip_into(image, &guide->start[layer]);
    if (layer > 0)
        clip_into(&layers->trust[layer - 1], &guide->weights[layer - 1]);
}

esra_status esra_guide_from_joint(struct guide *guide, const struct joint_layers *layers, struct pool *pool,
                                  struct message *message)
{
    const struct image *t = layers->transmitted;
    struct guiding guiding = {guide, layers};
    esra_status status = ESRA_OK;
    TRY(esra_guide_create(guide, layers->photos, t->width, t->height, t->channels, message));
    esra_pool_run(pool, guide_layer, &guiding, layers->photos + 1, NULL);
fail:
    return status;
}
