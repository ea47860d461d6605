/* io/array.c - NPY as a photo format: float arrays (h, w) or (h, w, c). */
#include <limits.h>

#include "base/memory.h"
#include "io/codec.h"
#include "io/npy.h"

static esra_status check_shape(struct decoding *decoding, const struct npy_array *array)
{
    char shape[128];
    size_t channels = array->dimensions == 3 ? array->shape[2] : 1;
    if ((array->dimensions == 2 || array->dimensions == 3) && (channels == 1 || channels == 3) &&
        array->shape[0] <= INT_MAX && array->shape[1] <= INT_MAX)
        return ESRA_OK;
    esra_npy_describe(array, shape, sizeof shape);
    return esra_fail(decoding->message, ESRA_BAD_DATA,
                     "%s has shape %s, and a photo has (height, width), (height, width, 1) or (height, width, 3)",
                     decoding->input->name, shape);
}

/* An npy_accept. */
static esra_status claim(void *user, const struct npy_array *head)
{
    struct decoding *decoding = user;
    esra_status status;
    TRY(check_shape(decoding, head));
    TRY(esra_decoding_claim(decoding, (int64_t)head->shape[1], (int64_t)head->shape[0],
                            head->dimensions == 3 ? (int)head->shape[2] : 1));
    decoding->photo->depth = 32;
done:
    return status;
}

static void copy_samples(const struct image *pixels, const struct npy_array *array)
{
    bool coloured = array->dimensions == 3;
    for (int c = 0; c < pixels->channels; c++)
        for (int y = 0; y < pixels->height; y++) {
            const float *from = array->data + y * array->stride[0] + (coloured ? c * array->stride[2] : 0);
            float *to = plane_row(image_plane(pixels, c), y);
            for (int x = 0; x < pixels->width; x++)
                to[x] = from[x * array->stride[1]];
        }
}

esra_status esra_array_decode(struct decoding *decoding)
{
    struct npy_array array = {0};
    int64_t limit = decoding->options->limits.pixels, most = limit > INT64_MAX / 3 ? INT64_MAX : 3 * limit;
    esra_status status;
    decoding->input->keep = false; /* an array is read once, in order */
    if (decoding->options->head_only) {
        TRY(esra_npy_read_head(&array, decoding->input, most, decoding->message));
        return claim(decoding, &array);
    }
    TRY(esra_npy_read_input(&array, decoding->input, most, claim, decoding, decoding->message));
    copy_samples(&decoding->photo->pixels, &array);
done:
    esra_npy_free(&array);
    return status;
}

/* NPY has no place for a profile or EXIF: they stay behind. */
esra_status esra_array_encode(const struct encoding *encoding)
{
    const struct image *pixels = &encoding->photo->pixels;
    size_t channels = (size_t)pixels->channels, size = (size_t)pixels->width * (size_t)pixels->height;
    size_t shape[3] = {(size_t)pixels->height, (size_t)pixels->width, channels};
    float *interleaved = esra_allocate_untouched(size, channels * sizeof *interleaved);
    if (!interleaved)
        return esra_fail_memory(encoding->message);
    for (size_t c = 0; c < channels; c++)
        for (size_t n = 0; n < size; n++)
            interleaved[n * channels + c] = pixels->data[c * size + n];
    esra_status status = esra_npy_write(encoding->output, interleaved, channels > 1 ? 3 : 2, shape, encoding->message);
    esra_release(&interleaved);
    return status;
}
