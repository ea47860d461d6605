/* pipeline/small.c - motions and gains of large photos, found on small ones. What moves how, and what tells the layers
 * apart, shows at half a megapixel as well as at twelve; only the last round of registration needs every pixel. */
#include <math.h>

#include "base/memory.h"
#include "ops/blur.h"
#include "pipeline/pipeline.h"

static int halvings(const struct pipeline *p)
{
    int times = 0;
    for (double pixels = (double)p->width * p->height; pixels > SMALL_PIXELS; pixels /= 4)
        times++;
    return times;
}

/* Pixel 0 stays pixel 0: esra_transform_rescale() takes motions between the sizes. */
static esra_status halve(const struct pipeline *p, const struct image *from, int times, struct image *to)
{
    struct image last = *from, next = {0};
    esra_status status = ESRA_OK;
    *to = (struct image){0};
    for (int n = 0; n < times; n++) {
        TRY(esra_image_reserve(&next, (last.width + 1) / 2, (last.height + 1) / 2, last.channels, p->context->message));
        for (int c = 0; c < last.channels; c++)
            esra_halve(p->context, image_plane(&last, c), image_plane(&next, c), 1);
        esra_image_free(to);
        *to = last = next;
    }
    return ESRA_OK;
done:
    esra_image_free(to);
    return status;
}

/* Motions as align/ found them, from px of one size to those of another. */
static void take_motions(struct pipeline *to, const struct pipeline *from, double scale)
{
    for (int i = 0; i < to->photos; i++) {
        to->motions[i] = from->motions[i];
        to->motions[i].transmitted = esra_transform_rescale(&from->motions[i].transmitted, scale);
        to->motions[i].reflected = esra_transform_rescale(&from->motions[i].reflected, scale);
        to->motions[i].apart_px *= scale;
        to->still[i] = esra_transform_rescale(&from->still[i], scale);
    }
}

/* Those that were given are in px of the large photos. */
static esra_status align(struct pipeline *p, struct pipeline *small, double scale)
{
    esra_status status;
    if (p->input->transmitted) {
        TRY(esra_pipeline_align(p));
        take_motions(small, p, scale);
    } else {
        TRY(esra_pipeline_align(small));
        take_motions(p, small, 1 / scale);
    }
done:
    return status;
}

/* What was found on the small photos, in px of the large ones. Depth is looked for again: its maps are as fine as the
 * photos. */
static void take_over(struct pipeline *p, struct pipeline *small, double scale)
{
    for (int i = 0; !small->by_depth && i < p->photos; i++) {
        p->still[i] = esra_transform_rescale(&small->still[i], scale);
        p->mirror[i] = esra_transform_rescale(&small->mirror[i], scale);
    }
    esra_pipeline_take_gains(p, small);
    p->by_depth = small->by_depth;
    p->adds_up = small->adds_up;
    p->alike = small->alike;
    p->oddities |= small->oddities;
    p->reflection_found = small->reflection_found && !small->by_depth;
    p->exchanged = small->exchanged;
    p->rounds = small->rounds;
    p->judgement = small->judgement;
    small->judgement = (struct judgement){0};
    p->approached = true;
    p->stopped = p->stopped || small->stopped;
}

static esra_status find(struct pipeline *p, const struct image *images, esra_image *views, double scale)
{
    esra_photos input = *p->input;
    struct pipeline small = esra_pipeline_sibling(p, &input);
    esra_status status;
    for (int i = 0; i < p->photos; i++)
        views[i] = esra_image_planar(images[i].data, images[i].width, images[i].height, images[i].channels);
    input.images = views;
    small.is_small = true;
    small.by_depth = p->by_depth;
    TRY(esra_pipeline_load(&small));
    if (!p->by_depth)
        TRY(align(p, &small, scale));
    if (!p->by_depth && !esra_pipeline_stopping(&small, "align"))
        TRY(esra_pipeline_try_flat(&small));
    if (!esra_pipeline_stopping(&small, "separate"))
        TRY(esra_pipeline_choose(&small));
    take_over(p, &small, 1 / scale);
done:
    esra_pipeline_free(&small);
    return status;
}

esra_status esra_pipeline_approach(struct pipeline *p)
{
    int times = halvings(p);
    esra_status status = ESRA_OK;
    if (times == 0)
        return ESRA_OK;
    struct image *images = esra_allocate((size_t)p->photos, sizeof *images);
    esra_image *views = esra_allocate((size_t)p->photos, sizeof *views);
    if (!images || !views)
        TRY(esra_fail_memory(p->context->message));
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++)
        TRY(halve(p, &p->seen[i], times, &images[i]));
    if (!esra_pipeline_stopping(p, "align"))
        TRY(find(p, images, views, ldexp(1, -times)));
done:
    esra_images_free(&images, p->photos);
    esra_release(&views);
    return status;
}
