/* colour/srgb.c - sRGB's code values to linear light and back, for callers of the library. */
#include "colour/light.h"

static bool fits(const esra_image *from, const esra_image *to)
{
    return from->data && to->data && from->width > 0 && from->height > 0 && from->channels > 0 &&
           from->width == to->width && from->height == to->height && from->channels == to->channels;
}

typedef void conversion(const struct light *light, const esra_image *from, const esra_image *to);

static esra_status convert(const esra_image *from, const esra_image *to, conversion *apply)
{
    struct light srgb;
    struct message message;
    if (!from || !to)
        return ESRA_BAD_ARGUMENT;
    if (!fits(from, to))
        return ESRA_BAD_DATA;
    esra_status status = esra_light_srgb(&srgb, LIGHT_ASSUMED, &message);
    if (status != ESRA_OK)
        return status;
    /* All channels have one curve, and there may be more of them than a photo has. */
    for (int c = 0; c < from->channels; c++) {
        esra_image a = *from, b = *to;
        a.data += c * a.channel_stride;
        b.data += c * b.channel_stride;
        a.channels = b.channels = 1;
        apply(&srgb, &a, &b);
    }
    esra_light_free(&srgb);
    return ESRA_OK;
}

esra_status esra_srgb_decode(const esra_image *codes, const esra_image *light)
{
    return convert(codes, light, esra_light_decode_view);
}

esra_status esra_srgb_encode(const esra_image *light, const esra_image *codes)
{
    return convert(light, codes, esra_light_encode_view);
}
