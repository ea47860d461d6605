/* tests/synth/synth.h - what the tests of synthetic scenes share. */
#ifndef ESRA_TESTS_SYNTH_H
#define ESRA_TESTS_SYNTH_H

#include <esra/esra.h>

#include "base/image.h"
#include "check.h"

static struct message message;

static inline esra_image view(const struct image *image)
{
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static inline void create(struct image *image, int width, int height, int channels)
{
    CHECK(esra_image_create(image, width, height, channels, &message) == ESRA_OK);
}

static inline esra_synth_settings settings_for(int photos, int width, int height, double shift_px)
{
    esra_synth_settings s;
    esra_synth_settings_default(&s);
    s.photos = photos;
    s.width = width;
    s.height = height;
    s.shift_px = shift_px;
    s.seed = check_seed();
    return s;
}

#endif
