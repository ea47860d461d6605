/* synth/scene.c - photos through glass whose truth is known: photo_i = a_i T(f_i) + b_i R(g_i) in linear light, then
 * the curve of sRGB, the noise of a sensor, and rounding, as a camera does it. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/cpu.h"
#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "ops/resample.h"
#include "synth/canvas.h"
#include "synth/motion.h"
#include "synth/relief.h"
#include "synth/settings.h"

struct synth {
    esra_synth_settings settings;
    esra_synth_result *result;
    struct message message;
    struct context *context;
    struct exposure *exposures;
    esra_camera *cameras; /* with depth */
    struct lens lens;
    struct frame frame;      /* of both layers */
    struct relief layers[2]; /* T and R in the frame */
    struct image seen[2];    /* as one photo sees them */
    int channels;
};

/* What is written to one of the caller's images: sum of weight_l seen_l. */
struct drawing {
    const struct synth *synth;
    const esra_image *to;
    double weight[2];
    double noise;
    int number; /* of the photo, for its noise */
};

/* ---- Checks ---- */

static bool fits(const esra_image *image, const struct synth *s, int channels)
{
    return !image->data ||
           (image->width == s->settings.width && image->height == s->settings.height && image->channels == channels);
}

static esra_status check_images(const struct synth *s, const esra_image *t, const esra_image *r,
                                struct message *message)
{
    const esra_synth_result *result = s->result;
    bool good = fits(&result->transmitted, s, s->channels) && fits(&result->reflected, s, s->channels);
    bool inverse = fits(&result->transmitted_inverse, s, 1) && fits(&result->reflected_inverse, s, 1);
    if (!t->data || !r->data || t->width < 2 || t->height < 2 || r->width < 2 || r->height < 2)
        return esra_fail(message, ESRA_BAD_DATA, "both layers need a picture of at least 2 x 2 pixels");
    if (t->channels < 1 || r->channels < 1 || (t->channels != r->channels && t->channels != 1 && r->channels != 1))
        return esra_fail(message, ESRA_BAD_DATA,
                         "the layers have %d and %d channels: equal numbers are needed, or a grey one", t->channels,
                         r->channels);
    for (int l = 0; s->settings.depth && l < 2; l++) {
        const esra_image *depth = l ? s->settings.reflected_depth : s->settings.transmitted_depth;
        if (depth && depth->data && (depth->channels != 1 || depth->width < 2 || depth->height < 2))
            return esra_fail(message, ESRA_BAD_DATA, "a depth map needs one channel and at least 2 x 2 pixels");
    }
    for (int i = 0; result->photos && i < s->settings.photos; i++)
        good = good && fits(&result->photos[i], s, s->channels);
    if (s->settings.depth && !inverse)
        return esra_fail(message, ESRA_BAD_DATA, "the images for inverse depths are not %d x %d of one channel",
                         s->settings.width, s->settings.height);
    return good ? ESRA_OK
                : esra_fail(message, ESRA_BAD_DATA, "the images to be filled are not %d x %d of %d channel(s)",
                            s->settings.width, s->settings.height, s->channels);
}

/* ---- Drawing ---- */

/* IEC 61966-2-1, of what a sensor can hold. */
static double stored(double linear)
{
    linear = fmin(fmax(linear, 0), 1);
    return linear <= 0.0031308 ? 12.92 * linear : 1.055 * esra_pow(linear, 1 / 2.4) - 0.055;
}

static double rounded(double value, int bits)
{
    double steps = bits == 16 ? 65535 : 255;
    value = fmin(fmax(value, 0), 1);
    return bits == 0 ? value : floor(value * steps + .5) / steps;
}

static void draw_row(const struct drawing *d, int y, int channel, uint64_t *state)
{
    const struct synth *s = d->synth;
    const float *rows[2];
    for (int l = 0; l < 2; l++)
        rows[l] = plane_row(image_plane(&s->seen[l], s->seen[l].channels == 1 ? 0 : channel), y);
    for (int x = 0; x < s->settings.width; x++) {
        double value = stored(d->weight[0] * rows[0][x] + d->weight[1] * rows[1][x]);
        if (d->noise > 0)
            value += d->noise * esra_synth_normal(state);
        *image_sample(d->to, x, y, channel) = (float)rounded(value, s->settings.bits);
    }
}

static void draw_block(void *work, int task, int worker)
{
    const struct drawing *d = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, d->synth->settings.height); y++) {
        uint64_t state = esra_synth_state(d->synth->settings.seed, d->number, y);
        for (int c = 0; c < d->synth->channels; c++)
            draw_row(d, y, c, &state);
    }
}

static void draw(const struct drawing *d)
{
    if (d->to->data)
        esra_context_run(d->synth->context, draw_block, (void *)d, rows_blocks(d->synth->settings.height), NULL);
}

/* seen = the layer by this motion: a pixel of the photo is looked up where it stands in the layer's frame. */
static void look_flat(const struct synth *s, int layer, const struct transform *motion)
{
    struct transform back, place = esra_transform_shift(-s->frame.left, -s->frame.top);
    esra_transform_invert(motion, &back);
    back = esra_transform_compose(&place, &back);
    esra_resample(s->context, &s->layers[layer].colour, &back, &s->seen[layer], (struct plane){0});
}

static void look(struct synth *s, int layer, int photo)
{
    if (s->settings.depth)
        esra_relief_render(&s->layers[layer], s->context, &s->cameras[photo], &s->lens, &s->seen[layer]);
    else
        look_flat(s, layer, layer ? &s->exposures[photo].reflected : &s->exposures[photo].transmitted);
}

static void draw_photo(struct synth *s, int i)
{
    const struct exposure *e = &s->exposures[i];
    double t = s->settings.transmission, r = s->settings.reflection;
    look(s, 0, i);
    look(s, 1, i);
    if (s->result->photos)
        draw(
            &(struct drawing){s, &s->result->photos[i], {e->mixing * t, e->reflection_gain * r}, s->settings.noise, i});
    if (i == 0) {
        draw(&(struct drawing){s, &s->result->transmitted, {t, 0}, 0, 0});
        draw(&(struct drawing){s, &s->result->reflected, {0, r}, 0, 0});
    }
}

static void tell_inverse(const struct synth *s, int layer, const esra_image *to)
{
    struct plane plane = image_plane(&s->layers[layer].inverse, 0);
    struct plane part = {plane_row(plane, -s->frame.top) - s->frame.left, s->settings.width, s->settings.height,
                         plane.stride};
    if (to->data)
        esra_plane_store(part, to, 0);
}

static void tell_depth(const struct synth *s)
{
    tell_inverse(s, 0, &s->result->transmitted_inverse);
    tell_inverse(s, 1, &s->result->reflected_inverse);
    if (s->result->cameras)
        memcpy(s->result->cameras, s->cameras, (size_t)s->settings.photos * sizeof *s->cameras);
    s->result->focal_px = s->lens.focal_px;
}

static void tell_truth(const struct synth *s)
{
    esra_synth_result *result = s->result;
    if (s->settings.depth)
        tell_depth(s);
    for (int i = 0; i < s->settings.photos; i++) {
        const struct exposure *e = &s->exposures[i];
        if (result->transmitted_motion && !s->settings.depth)
            memcpy(result->transmitted_motion[i].h, e->transmitted.h, sizeof e->transmitted.h);
        if (result->reflected_motion && !s->settings.depth)
            memcpy(result->reflected_motion[i].h, e->reflected.h, sizeof e->reflected.h);
        if (result->mixing)
            result->mixing[i] = e->mixing;
        if (result->reflection_gain)
            result->reflection_gain[i] = e->reflection_gain;
    }
}

/* ---- The whole ---- */

/* What the photos see of flat layers. */
static void frame_flat(struct synth *s)
{
    for (int i = 0; i < s->settings.photos; i++) {
        esra_frame_include(&s->frame, &s->exposures[i].transmitted, s->settings.width, s->settings.height);
        esra_frame_include(&s->frame, &s->exposures[i].reflected, s->settings.width, s->settings.height);
    }
}

/* The cameras, and what they see of layers with depth. */
static esra_status frame_depth(struct synth *s)
{
    const esra_synth_settings *settings = &s->settings;
    int larger = settings->width > settings->height ? settings->width : settings->height;
    double focal = settings->focal_px != 0 ? settings->focal_px : 1.2 * larger;
    s->lens = (struct lens){focal, (settings->width - 1) / 2., (settings->height - 1) / 2.};
    s->cameras = esra_allocate((size_t)settings->photos, sizeof *s->cameras);
    if (!s->cameras)
        return esra_fail_memory(&s->message);
    esra_cameras_hold(s->cameras, settings, &s->lens);
    for (int l = 0; l < 2; l++) {
        esra_relief_range(l, &s->layers[l].low, &s->layers[l].high);
        for (int i = 0; i < settings->photos; i++)
            if (!esra_relief_include(&s->frame, &s->cameras[i], &s->lens, s->layers[l].low, s->layers[l].high))
                return esra_fail(&s->message, ESRA_BAD_ARGUMENT,
                                 "photo %d sees what is beside photo 1 or behind it: turn and "
                                 "shift less, or take a longer focal length",
                                 i + 1);
    }
    return ESRA_OK;
}

static esra_status prepare_layer(struct synth *s, int l, const esra_image *picture)
{
    const esra_synth_settings *settings = &s->settings;
    esra_status status;
    s->layers[l].frame = s->frame;
    TRY(esra_canvas_draw(&s->layers[l].colour, s->context, picture, &s->frame, l ? settings->blur_px : 0));
    if (settings->depth)
        TRY(esra_relief_shape(&s->layers[l], s->context, l,
                              l ? settings->reflected_depth : settings->transmitted_depth));
    TRY(esra_image_create(&s->seen[l], settings->width, settings->height, picture->channels, &s->message));
done:
    return status;
}

static esra_status prepare(struct synth *s, const esra_image *const pictures[2])
{
    const esra_synth_settings *settings = &s->settings;
    int processors = esra_cpu_count();
    int threads = settings->threads                ? settings->threads
                  : processors < ESRA_THREADS_MOST ? processors
                                                   : ESRA_THREADS_MOST;
    /* What lies past the canvas would be missing from the blur at its edge. */
    int spare = (int)ceil(3 * settings->blur_px);
    esra_status status;
    s->exposures = esra_allocate((size_t)settings->photos, sizeof *s->exposures);
    if (!s->exposures)
        TRY(esra_fail_memory(&s->message));
    TRY(esra_context_create(&s->context, threads, &s->message));
    esra_synth_expose(s->exposures, settings);
    s->frame = (struct frame){0, 0, settings->width, settings->height};
    if (settings->depth)
        TRY(frame_depth(s));
    else
        frame_flat(s);
    s->frame = (struct frame){s->frame.left - spare, s->frame.top - spare, s->frame.width + 2 * spare,
                              s->frame.height + 2 * spare};
    for (int l = 0; l < 2; l++)
        TRY(prepare_layer(s, l, pictures[l]));
done:
    return status;
}

static void synth_free(struct synth *s)
{
    for (int l = 0; l < 2; l++) {
        esra_image_free(&s->layers[l].colour);
        esra_image_free(&s->layers[l].inverse);
        esra_image_free(&s->layers[l].nearest);
        esra_image_free(&s->seen[l]);
    }
    esra_release(&s->cameras);
    esra_release(&s->exposures);
    esra_context_free(&s->context);
}

static bool is_enough(void *user)
{
    const struct synth *s = user;
    esra_info info = ESRA_INFO_INIT;
    info.stage = "synth";
    info.threads = esra_context_threads(s->context);
    return s->settings.progress && s->settings.progress(s->settings.user, &info) != 0;
}

esra_status esra_synth(const esra_image *transmitted, const esra_image *reflected, const esra_synth_settings *settings,
                       esra_synth_result *result)
{
    if (!transmitted || !reflected || !result || result->struct_size < sizeof *result)
        return ESRA_BAD_ARGUMENT;
    struct synth s = {.result = result};
    esra_status status;
    TRY(esra_synth_settings_check(&s.settings, settings, &s.message));
    s.channels = transmitted->channels > reflected->channels ? transmitted->channels : reflected->channels;
    TRY(check_images(&s, transmitted, reflected, &s.message));
    TRY(prepare(&s, (const esra_image *const[]){transmitted, reflected}));
    esra_context_ask(s.context, is_enough, &s);
    for (int i = 0; i < s.settings.photos && !esra_context_stopping(s.context); i++)
        draw_photo(&s, i);
    tell_truth(&s);
done:
    memcpy(result->message, s.message.text, sizeof result->message - 1);
    result->message[sizeof result->message - 1] = '\0';
    synth_free(&s);
    return status;
}
