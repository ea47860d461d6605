/* gradients/guide.c - gradients and weights for the solver, and room for its layers. */
#include "gradients/guide.h"

#include "base/memory.h"

esra_status esra_guide_create(struct guide *guide, int photos, int width, int height, int channels,
                              struct message *message)
{
    esra_status status = ESRA_OK;
    *guide = (struct guide){.photos = photos, .channels = channels};
    TRY(esra_images_create(&guide->weights, photos, width, height, 1, message));
    TRY(esra_images_create(&guide->layers, photos + 1, width, height, channels, message));
    return ESRA_OK;
done:
    esra_guide_free(guide);
    return status;
}

esra_status esra_guide_expect(struct guide *guide, struct message *message)
{
    const struct image *like = &guide->layers[0];
    int count = guide->channels * (guide->photos + 1);
    esra_status status = ESRA_OK;
    guide->expected = esra_allocate((size_t)count, sizeof *guide->expected);
    if (!guide->expected)
        return esra_fail_memory(message);
    for (int n = 0; n < count; n++)
        TRY(esra_codes_create(&guide->expected[n], like->width, like->height, message));
done:
    return status;
}

esra_status esra_guide_expect_votes(struct guide *guide, struct message *message)
{
    const struct image *like = &guide->layers[0];
    return esra_images_create(&guide->voted, guide->channels * 2, like->width, like->height, 1, message);
}

esra_status esra_guide_encode(struct guide *guide, struct message *message)
{
    esra_status status = ESRA_OK;
    guide->codes = esra_allocate((size_t)guide->photos, sizeof *guide->codes);
    if (!guide->codes)
        return esra_fail_memory(message);
    for (int i = 0; i < guide->photos; i++) {
        struct image *weight = &guide->weights[i];
        TRY(esra_codes_create(&guide->codes[i], weight->width, weight->height, message));
        esra_codes_store(&guide->codes[i], 0, weight->data, image_pixels(weight));
        esra_image_free(weight);
    }
done:
    return status;
}

static void free_codes(struct codes **codes, int count)
{
    for (int n = 0; *codes && n < count; n++)
        esra_codes_free(&(*codes)[n]);
    esra_release(codes);
}

void esra_guide_forget(struct guide *guide)
{
    free_codes(&guide->expected, guide->channels * (guide->photos + 1));
    free_codes(&guide->codes, guide->photos);
    esra_images_free(&guide->voted, guide->channels * 2);
}

void esra_guide_free(struct guide *guide)
{
    esra_guide_forget(guide);
    esra_images_free(&guide->weights, guide->photos);
    esra_images_free(&guide->layers, guide->photos + 1);
    esra_image_free(&guide->confidence);
    *guide = (struct guide){0};
}
