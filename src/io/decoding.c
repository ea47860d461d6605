/* io/decoding.c - what decoders share: refusals in the same words, limits, memory for pixels. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/codec.h"

/* Offered only where the command has the option, the format supports it, and it was not given already. */
static const char *other_advice(const struct decoding *decoding)
{
    const struct read_options *options = decoding->options;
    bool helps = decoding->in_part && options->offers_tolerance && !options->tolerate_truncated;
    return helps ? ", or take what is there with --tolerate-truncated" : "";
}

esra_status esra_decoding_damaged(struct decoding *decoding, const char *words)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s is damaged (%.120s); get a fresh copy%s",
                     decoding->input->name, words, other_advice(decoding));
}

esra_status esra_decoding_truncated(struct decoding *decoding)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s is truncated; get a fresh copy%s", decoding->input->name,
                     other_advice(decoding));
}

esra_status esra_decoding_refuse(struct decoding *decoding, const char *what, const char *advice)
{
    return esra_fail(decoding->message, ESRA_BAD_DATA, "%s %s; %s", decoding->input->name, what, advice);
}

/* Composing with a background would invent light that the camera never saw. */
esra_status esra_decoding_transparent(struct decoding *decoding)
{
    return esra_decoding_refuse(decoding, "has transparent pixels, which no photo has", "flatten it first");
}

esra_status esra_decoding_check_metadata(struct decoding *decoding, int64_t bytes)
{
    int64_t limit = decoding->options->limits.metadata;
    if (bytes <= limit)
        return ESRA_OK;
    return esra_fail(decoding->message, ESRA_OVER_LIMIT,
                     "%s has over %.1f MiB of metadata; if it can be trusted, lift the limits with --no-limits",
                     decoding->input->name, (double)limit / (1 << 20));
}

esra_status esra_decoding_check_size(struct decoding *decoding, int64_t width, int64_t height)
{
    int64_t limit = decoding->options->limits.pixels, side = decoding->options->limits.side;
    if (width < 1 || height < 1)
        return esra_decoding_refuse(decoding, "claims to have no pixels", "get a fresh copy");
    if (width > INT_MAX || height > INT_MAX || width > side || height > side || width > limit / height ||
        width > (int64_t)(SIZE_MAX / 16) / height)
        return esra_fail(decoding->message, ESRA_OVER_LIMIT,
                         "%s claims %lld x %lld pixels, over the limit of %.0f megapixels or %lld a side; if it can be "
                         "trusted, lift the limits with --no-limits",
                         decoding->input->name, (long long)width, (long long)height, (double)limit / 1e6,
                         (long long)side);
    return ESRA_OK;
}

esra_status esra_decoding_claim(struct decoding *decoding, int64_t width, int64_t height, int channels)
{
    const struct read_options *options = decoding->options;
    struct image *pixels = &decoding->photo->pixels;
    esra_status status = esra_decoding_check_size(decoding, width, height);
    if (status != ESRA_OK)
        return status;
    esra_image_free(pixels);
    *pixels = (struct image){.width = (int)width, .height = (int)height, .channels = channels};
    if (options->accept)
        status = options->accept(options->accept_user, pixels, decoding->message);
    if (status != ESRA_OK || options->head_only)
        return status;
    /* The size has been checked, so that the product fits; with channels and bytes the allocation checks it. What a
     * damaged file leaves out is black: zeros, which a large block has without being written to. */
    void *(*allocate)(size_t, size_t) = options->tolerate_truncated ? esra_allocate : esra_allocate_untouched;
    pixels->data = allocate((size_t)width * (size_t)height, (size_t)channels * sizeof *pixels->data);
    return pixels->data ? ESRA_OK : esra_fail_memory(decoding->message);
}

esra_status esra_bytes_copy(struct bytes *bytes, const void *from, size_t size, struct message *message)
{
    esra_bytes_free(bytes);
    if (size == 0)
        return ESRA_OK;
    bytes->data = malloc(size);
    if (!bytes->data)
        return esra_fail_memory(message);
    memcpy(bytes->data, from, size);
    bytes->size = size;
    return ESRA_OK;
}

void esra_bytes_free(struct bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct bytes){0};
}

esra_status esra_input_slurp(struct input *input, struct bytes *bytes, struct message *message)
{
    esra_status status = esra_input_measure(input, message);
    if (status != ESRA_OK)
        return status;
    size_t size = (size_t)esra_input_left(input);
    esra_bytes_free(bytes);
    bytes->data = malloc(size ? size : 1);
    if (!bytes->data)
        return esra_fail_memory(message);
    return esra_input_take(input, bytes->data, size, &bytes->size, message);
}

/* Limited as a pipe is: both are one block of memory. A limit other than the default one comes from --max-memory. */
esra_status esra_decoding_slurp(struct decoding *decoding, struct bytes *bytes)
{
    const struct limits usual = LIMITS_DEFAULT;
    int64_t limit = decoding->options->limits.stream;
    esra_status status;
    TRY(esra_input_measure(decoding->input, decoding->message));
    if (limit && esra_input_left(decoding->input) > limit)
        return esra_fail(decoding->message, ESRA_OVER_LIMIT,
                         "%s has more than %.4g MiB, all of which would be kept in memory; %s", decoding->input->name,
                         (double)limit / (1 << 20),
                         limit == usual.stream ? "if it can be trusted, lift the limits with --no-limits"
                                               : "convert it to TIFF, or allow more with --max-memory");
    TRY(esra_input_slurp(decoding->input, bytes, decoding->message));
done:
    return status;
}
