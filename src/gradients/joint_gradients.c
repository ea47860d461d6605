/* gradients/joint_gradients.c - the guide of a joint two-layer solution: its layers are those expected. Its robust
 * weights (IRLS) become those of the paper's data term: a photo that is an outlier to the one is no evidence to the
 * other. */
#include "gradients/joint_gradients.h"

#include <math.h>

#include "base/rows.h"

/* Layer l of the guide. What is known of it weighs its photo; NULL: it is known everywhere, and weighs none. */
struct expecting {
    const struct guide *guide;
    int l;
    const struct image *layer, *known;
};

/* Pixels that are coded at once. */
#define CHUNK 256

static void expect_chunk(const struct expecting *expecting, int c, size_t n, size_t count)
{
    const struct guide *guide = expecting->guide;
    const float *from = image_plane(expecting->layer, c).data + n;
    const float *known = expecting->known ? expecting->known->data + n : NULL;
    float chunk[CHUNK];
    for (size_t k = 0; k < count; k++)
        chunk[k] = known && known[k] == 0 ? NAN : from[k];
    esra_codes_store(&guide->expected[c * (guide->photos + 1) + expecting->l], n, chunk, count);
}

static void expect_rows(void *work, int task, int worker)
{
    const struct expecting *expecting = work;
    size_t width = (size_t)expecting->layer->width, first = (size_t)rows_begin(task) * width,
           end = (size_t)rows_end(task, expecting->layer->height) * width;
    (void)worker;
    for (int c = 0; c < expecting->layer->channels; c++)
        for (size_t n = first; n < end; n += CHUNK)
            expect_chunk(expecting, c, n, end - n < CHUNK ? end - n : CHUNK);
    for (size_t n = first; expecting->known && n < end; n++) {
        float trust = expecting->known->data[n];
        expecting->guide->weights[expecting->l - 1].data[n] = trust < 0 ? 0 : trust > 1 ? 1 : trust;
    }
}

static void expect(struct context *context, const struct guide *guide, int l, const struct image *layer,
                   const struct image *known)
{
    struct expecting expecting = {guide, l, layer, known};
    esra_context_run(context, expect_rows, &expecting, rows_blocks(layer->height), NULL);
}

void esra_guide_take_transmitted(struct context *context, struct guide *guide, const struct image *transmitted)
{
    expect(context, guide, 0, transmitted, NULL);
}

void esra_guide_take_reflected(struct context *context, struct guide *guide, int photo, const struct image *seen,
                               const struct image *trust)
{
    expect(context, guide, photo + 1, seen, trust);
}
