/* pipeline/rests.c - what T leaves of the photos, and what moves in it. */
#include "pipeline/rests.h"

#include <math.h>

#include "base/memory.h"
#include "camera/blocks.h"
#include "ops/scale.h"
#include "pipeline/deep.h"
#include "pipeline/thresholds.h"

struct leaving {
    const struct model *model;
    const struct series *series;
    struct rests *rests;
};

/* rest <- photo - a (T + offset); `rest` holds T. */
static void take_off(const struct model *model, int i, const struct image *photo, const struct image *rest)
{
    size_t pixels = image_pixels(rest);
    for (int c = 0; c < rest->channels; c++)
        for (size_t n = (size_t)c * pixels; n < ((size_t)c + 1) * pixels; n++) {
            double less = model->mixing[i] * (model->depth.offset[i][c] - (double)rest->data[n]);
            rest->data[n] = fmaxf(photo->data[n] + (float)less + (float)pipeline_thresholds.mirror_lift, 0);
        }
}

/* Nothing where the photo is not aligned. A job of esra_context_side_by_side(). */
static esra_status find_rest(void *work, int i, struct context *own)
{
    const struct leaving *l = work;
    const struct model *model = l->model;
    struct image *rest = &l->rests->images[i], seen = {0};
    int width, height;
    esra_status status;
    esra_scale_sides(model->width, model->height, BLOCKS_SIDE_PX, &width, &height);
    TRY(esra_image_create(rest, model->width, model->height, model->channels, own->message));
    TRY(esra_image_create(&seen, model->width, model->height, 1, own->message));
    if (model->motions[i].aligned && !esra_context_stopping(own)) {
        TRY(esra_deep_return(model, i, &model->depth.voted, rest, &seen, own));
        take_off(model, i, &l->series->images[i], rest);
    }
    TRY(esra_scale_down(&l->rests->seen[i], own, &seen, width, height, (struct range){0, 1}));
done:
    esra_image_free(&seen);
    return status;
}

esra_status esra_rests_find(struct rests *rests, const struct model *model, const struct series *series,
                            struct context *context)
{
    esra_status status;
    rests->photos = model->photos;
    rests->images = esra_allocate((size_t)model->photos, sizeof *rests->images);
    rests->seen = esra_allocate((size_t)model->photos, sizeof *rests->seen);
    TRY(rests->images && rests->seen ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_context_side_by_side(context, find_rest, &(struct leaving){model, series, rests}, model->photos));
done:
    return status;
}

esra_status esra_rests_track(struct rests *rests, const struct model *model, struct context *context)
{
    struct blocks_options options = {.seen = rests->seen, .still = model->depth.still};
    esra_status status;
    TRY(esra_blocks_find(&rests->blocks, context, rests->images, rests->photos, model->reference, &options));
    const struct tracks *blocks = rests->blocks.count ? &rests->blocks : NULL; /* photos may be smaller than one */
    if (!esra_context_stopping(context))
        TRY(esra_tracks_find(&rests->tracks, context, rests->images, rests->photos, model->reference, blocks));
done:
    return status;
}

void esra_rests_free(struct rests *rests)
{
    esra_images_free(&rests->images, rests->photos);
    esra_images_free(&rests->seen, rests->photos);
    esra_tracks_free(&rests->blocks);
    esra_tracks_free(&rests->tracks);
    *rests = (struct rests){0};
}
