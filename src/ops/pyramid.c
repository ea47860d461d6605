/* ops/pyramid.c - an image at its own size, at half, at a quarter ..., made ready for estimating motion. */
#include "ops/pyramid.h"

#include <math.h>

#include "ops/blur.h"

static esra_status halve_image(struct context *context, const struct image *from, struct image *to)
{
    esra_status status =
        esra_image_reserve(to, (from->width + 1) / 2, (from->height + 1) / 2, from->channels, context->message);
    for (int c = 0; status == ESRA_OK && c < from->channels; c++)
        esra_halve(context, image_plane(from, c), image_plane(to, c), 1);
    return status;
}

/* Infinite samples count as this, brighter than any light, so that differences stay finite. */
#define VALUE_MOST 1e6f

/* NaN and negative samples count as black: one bad sample must not spread over the levels. */
static esra_status take_image(const struct image *from, bool compress, struct image *to, struct message *message)
{
    int channels = from->channels < 3 ? from->channels : 3;
    esra_status status = esra_image_reserve(to, from->width, from->height, channels, message);
    size_t samples = image_pixels(from) * (size_t)channels;
    for (size_t n = 0; status == ESRA_OK && n < samples; n++) {
        float value = from->data[n] > 0 ? fminf(from->data[n], VALUE_MOST) : 0;
        to->data[n] = compress ? sqrtf(value) : value;
    }
    return status;
}

esra_status esra_pyramid_create(struct pyramid *pyramid, struct context *context, const struct image *image,
                                const struct pyramid_options *options)
{
    esra_status status;
    struct image *level = pyramid->level;
    *pyramid = (struct pyramid){.levels = 1, .scale = 1};
    TRY(take_image(image, options->compress, &level[0], context->message));
    while ((double)level[0].width * level[0].height > options->most_pixels) {
        struct image half = {0};
        TRY(halve_image(context, &level[0], &half));
        esra_image_free(&level[0]);
        level[0] = half;
        pyramid->scale /= 2;
    }
    for (int n = 1; n < PYRAMID_LEVELS; n++) {
        if (level[n - 1].width < 2 * PYRAMID_SIDE_LEAST || level[n - 1].height < 2 * PYRAMID_SIDE_LEAST)
            break;
        TRY(halve_image(context, &level[n - 1], &level[n]));
        pyramid->levels = n + 1;
    }
    return ESRA_OK;
done:
    esra_pyramid_free(pyramid);
    return status;
}

void esra_pyramid_free(struct pyramid *pyramid)
{
    for (int n = 0; n < PYRAMID_LEVELS; n++)
        esra_image_free(&pyramid->level[n]);
    *pyramid = (struct pyramid){0};
}
