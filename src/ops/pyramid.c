/* ops/pyramid.c - an image at its own size, at half, at a quarter ..., made ready for estimating motion. */
#include "ops/pyramid.h"

#include <math.h>

#include "base/rows.h"
#include "base/wide.h"
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

struct taking {
    const struct image *from;
    struct image *to;
    bool compress;
};

/* NaN and negative samples count as black: one bad sample must not spread over the levels. */
static void take_block(void *work, int task, int worker)
{
    const struct taking *taking = work;
    size_t width = (size_t)taking->from->width, pixels = image_pixels(taking->from);
    size_t begin = (size_t)rows_begin(task) * width, end = (size_t)rows_end(task, taking->from->height) * width;
    (void)worker;
    for (int c = 0; c < taking->to->channels; c++) {
        const float *from = taking->from->data + (size_t)c * pixels;
        float *to = taking->to->data + (size_t)c * pixels;
        for (size_t n = begin; n < end; n++) {
            float value = from[n] > 0 ? fminf(from[n], VALUE_MOST) : 0;
            to[n] = taking->compress ? sqrtf(value) : value;
        }
    }
}
WIDE_TASK(take_block)

static esra_status take_image(struct context *context, const struct image *from, bool compress, struct image *to)
{
    int channels = from->channels < 3 ? from->channels : 3;
    esra_status status = esra_image_reserve(to, from->width, from->height, channels, context->message);
    if (status == ESRA_OK)
        esra_context_run(context, WIDE(context, take_block), &(struct taking){from, to, compress},
                         rows_blocks(from->height), NULL);
    return status;
}

esra_status esra_pyramid_create(struct pyramid *pyramid, struct context *context, const struct image *image,
                                const struct pyramid_options *options)
{
    esra_status status;
    struct image *level = pyramid->level;
    *pyramid = (struct pyramid){.levels = 1, .scale = 1};
    TRY(take_image(context, image, options->compress, &level[0]));
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
