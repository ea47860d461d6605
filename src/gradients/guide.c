/* gradients/guide.c - gradients and weights for the solver, and room for its layers. */
#include "gradients/guide.h"

#include "ops/diff.h"

esra_status esra_guide_create(struct guide *guide, int photos, int width, int height, int channels,
                              struct message *message)
{
    esra_status status = ESRA_OK;
    *guide = (struct guide){.photos = photos};
    TRY(esra_images_create(&guide->gradients, 2 * (photos + 1), width, height, channels, message));
    TRY(esra_images_create(&guide->weights, photos, width, height, 1, message));
    TRY(esra_images_create(&guide->layers, photos + 1, width, height, channels, message));
    return ESRA_OK;
done:
    esra_guide_free(guide);
    return status;
}

void esra_guide_free(struct guide *guide)
{
    esra_images_free(&guide->gradients, 2 * (guide->photos + 1));
    esra_images_free(&guide->weights, guide->photos);
    esra_images_free(&guide->layers, guide->photos + 1);
    *guide = (struct guide){0};
}

/* Zero for differences that have an unknown pixel on either side. */
static void forget_unknown(struct plane down, struct plane right, struct plane known)
{
    for (int y = 0; y < known.height; y++)
        for (int x = 0; x < known.width; x++) {
            const float *here = plane_row(known, y) + x;
            if (y < known.height - 1 && (here[0] == 0 || here[known.stride] == 0))
                plane_row(down, y)[x] = 0;
            if (x < known.width - 1 && (here[0] == 0 || here[1] == 0))
                plane_row(right, y)[x] = 0;
        }
}

void esra_guide_set_layer(struct guide *guide, int layer, const struct image *image, const struct image *known)
{
    for (int c = 0; c < image->channels; c++) {
        struct plane down = image_plane(&guide->gradients[2 * layer], c);
        struct plane right = image_plane(&guide->gradients[2 * layer + 1], c);
        esra_diff_forward(image_plane(image, c), down, right);
        if (known)
            forget_unknown(down, right, image_plane(known, 0));
    }
}
