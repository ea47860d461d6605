/* bindings/wasm/src/photos.c - photos one at a time, before a separation: what they are, small pictures of them,
 * smaller copies, and what separating them would take. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/exif.h"
#include "memory.h"
#include "module.h"
#include "ops/scale.h"

/* ---- Looking ---- */

static json_t *facts_to_json(const struct photo *photo)
{
    char taken[48];
    const char *profile = photo->icc.size == 0 ? NULL : photo->profile_name[0] ? photo->profile_name : "without a name";
    esra_exif_taken(&photo->exif, taken, sizeof taken);
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:s?, s:b, s:o}", "format", photo->format, "width", photo->pixels.width,
                     "height", photo->pixels.height, "channels", photo->pixels.channels, "depth", photo->depth,
                     "profile", profile, "exif", photo->exif.size > 0, "taken", name_to_json(taken));
}

/* Pixels averaged in light down to that size, then code values again. */
static esra_status shrink(struct photo *photo, int width, int height, struct message *message)
{
    struct light light = {0};
    struct context *context = NULL;
    struct image small = {0};
    const struct range range = {0, 1};
    esra_status status;
    TRY(esra_context_create(&context, 1, message));
    TRY(reading_light(&light, photo, photo->pixels.channels, message));
    esra_light_decode(&light, &photo->pixels);
    TRY(esra_scale_down(&small, context, &photo->pixels, width, height, range));
    esra_light_encode(&light, &small);
    esra_image_free(&photo->pixels);
    photo->pixels = small;
done:
    esra_light_free(&light);
    esra_context_free(&context);
    return status;
}

static esra_status read_photo(struct photo *photo, const char *path, struct message *message)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    options.profile = true;
    return esra_photo_read(photo, path, &options, message);
}

static esra_status encode_small(struct photo *photo, int width, int height, const struct write_options *options,
                                struct bytes *file, struct message *message)
{
    esra_status status;
    TRY(shrink(photo, width, height, message));
    TRY(esra_photo_encode(photo, options, file, message));
done:
    return status;
}

const char *module_look(const char *path, int side_px)
{
    struct message message = {""};
    struct photo photo = {0};
    struct bytes file = {0};
    const struct write_options jpeg = {"jpg", 8, 85};
    json_t *facts = NULL;
    int width, height;
    esra_status status;
    TRY(read_photo(&photo, path, &message));
    facts = facts_to_json(&photo);
    esra_scale_sides(photo.pixels.width, photo.pixels.height, side_px, &width, &height);
    esra_bytes_free(&photo.exif);
    TRY(encode_small(&photo, width, height, &jpeg, &file, &message));
    answer_bytes(file);
done:
    esra_photo_free(&photo);
    return answer(status, facts, &message);
}

const char *module_shrink(const char *path, const char *to, int width, int height)
{
    struct message message = {""};
    struct photo photo = {0};
    struct bytes file = {0};
    const struct write_options png = {"png", 16, 95};
    esra_status status;
    TRY(read_photo(&photo, path, &message));
    TRY(encode_small(&photo, width, height, &png, &file, &message));
    FILE *out = fopen(to, "wb");
    if (!out || fwrite(file.data, 1, file.size, out) != file.size)
        status = esra_fail_memory(&message);
    if (out)
        fclose(out);
done:
    esra_bytes_free(&file);
    esra_photo_free(&photo);
    return answer(status, json_object(), &message);
}

/* ---- Planning ---- */

const char *module_plan(int photos, int width, int height, int channels, int threads)
{
    struct memory_shape shape = {photos, width, height, channels, false};
    struct message message = {"these photos are too large for any computer of this kind"};
    esra_settings settings;
    esra_plan plan;
    double bytes;
    esra_settings_for_separation(&settings);
    settings.threads = threads;
    esra_status status = memory_plan_separate(&shape, &settings, &plan, &bytes);
    bytes += (double)width * height * sizeof(float) * ((photos + 1) * channels + 1);
    return answer(status, json_pack("{s:f, s:f}", "bytes", bytes, "core_seconds", plan.core_seconds), &message);
}
