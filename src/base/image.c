/* base/image.c - planar float32 images. */
#include "base/image.h"

#include "base/memory.h"

static esra_status create(struct image *image, int width, int height, int channels, void *(*allocate)(size_t, size_t),
                          struct message *message)
{
    size_t samples;
    *image = (struct image){.width = width, .height = height, .channels = channels};
    if (!esra_size_multiply((size_t)width, (size_t)height, &samples) ||
        !esra_size_multiply(samples, (size_t)channels, &samples))
        return esra_fail_memory(message);
    image->data = allocate(samples, sizeof *image->data);
    return image->data ? ESRA_OK : esra_fail_memory(message);
}

esra_status esra_image_create(struct image *image, int width, int height, int channels, struct message *message)
{
    return create(image, width, height, channels, esra_allocate, message);
}

esra_status esra_image_reserve(struct image *image, int width, int height, int channels, struct message *message)
{
    return create(image, width, height, channels, esra_allocate_untouched, message);
}

void esra_image_free(struct image *image)
{
    if (!image->lent)
        esra_release(&image->data);
    *image = (struct image){0};
}

esra_status esra_images_create(struct image **images, int count, int width, int height, int channels,
                               struct message *message)
{
    esra_status status = ESRA_OK;
    *images = esra_allocate((size_t)count, sizeof **images);
    if (!*images)
        return esra_fail_memory(message);
    for (int n = 0; n < count; n++)
        TRY(esra_image_create(&(*images)[n], width, height, channels, message));
done:
    return status;
}

void esra_images_free(struct image **images, int count)
{
    for (int n = 0; *images && n < count; n++)
        esra_image_free(&(*images)[n]);
    esra_release(images);
}

double esra_image_mean(const struct image *image)
{
    size_t samples = image_samples(image);
    double sum = 0;
    for (size_t n = 0; n < samples; n++)
        sum += image->data[n];
    return sum / (double)samples;
}
