/* light.c - between arrays of any kind and the library's float32 samples: an integer's full scale is 1, and integers
 * are mostly code values of sRGB where the library wants light. */
#include "binding.h"

#include <stdint.h>
#include <string.h>

/* One row of one channel. */
struct row {
    char *samples; /* of the kind below */
    ptrdiff_t step;
    char kind;
    float *floats;
    ptrdiff_t stride;
    int count;
};

/* memcpy(), since samples may stand anywhere. */
#define EACH_SAMPLE(type, action)                                                                                      \
    for (int n = 0; n < row->count; n++) {                                                                             \
        type sample;                                                                                                   \
        char *at = row->samples + n * row->step;                                                                       \
        float *value = row->floats + n * row->stride;                                                                  \
        action;                                                                                                        \
    }
#define LOAD(type, expression) EACH_SAMPLE(type, memcpy(&sample, at, sizeof sample); *value = (expression))
#define SAVE(type, expression) EACH_SAMPLE(type, sample = (expression); memcpy(at, &sample, sizeof sample))

static void load_row(const struct row *row)
{
    switch (row->kind) {
    case 'B': LOAD(uint8_t, (float)sample / 255.0f) break;
    case 'H': LOAD(uint16_t, (float)sample / 65535.0f) break;
    case 'f': LOAD(float, sample) break;
    case 'd': LOAD(double, (float)sample) break;
    }
}

/* Comparisons are false for NaN, which so becomes 0. */
static inline unsigned quantise(float value, float scale)
{
    float clipped = value > 0 ? (value < 1 ? value : 1) : 0;
    return (unsigned)(clipped * scale + 0.5f);
}

static void save_row(const struct row *row)
{
    switch (row->kind) {
    case 'B': SAVE(uint8_t, (uint8_t)quantise(*value, 255.0f)) break;
    case 'H': SAVE(uint16_t, (uint16_t)quantise(*value, 65535.0f)) break;
    case 'f': SAVE(float, *value) break;
    case 'd': SAVE(double, (double)*value) break;
    }
}

static void each_row(const struct array *array, const esra_image *image, void (*apply)(const struct row *))
{
    for (int c = 0; c < image->channels; c++)
        for (int y = 0; y < image->height; y++) {
            struct row row = {
                array->data + y * array->row_step + c * array->channel_step,     array->column_step,   array->kind,
                image->data + y * image->row_stride + c * image->channel_stride, image->column_stride, image->width};
            apply(&row);
        }
}

static bool check_sizes(struct call *call, const struct array *array, const esra_image *image)
{
    bool same = array->height == image->height && array->width == image->width && array->channels == image->channels;
    return same || call_fail(call, "two arrays of one shape are needed");
}

/* Linear light of sRGB's codes, in place, or codes of light; of nothing, nothing. */
static esra_status apply_curve(const esra_image *image, bool decode)
{
    if (image->width == 0 || image->height == 0 || image->channels == 0)
        return ESRA_OK;
    return decode ? esra_srgb_decode(image, image) : esra_srgb_encode(image, image);
}

static PyObject *end(struct call *call, esra_status status)
{
    bool good = call_check(call, status, status == ESRA_OUT_OF_MEMORY ? "out of memory" : esra_status_name(status));
    return call_end(call, good ? Py_NewRef(Py_None) : NULL);
}

/* load(array, floats, srgb): floats = the array's samples, as light where they are codes of sRGB. */
FUNCTION(binding_load)
{
    struct call call = {.state = PyModule_GetState(module)};
    struct array array = {0};
    esra_image image = {0};
    PyObject *from, *to;
    int srgb;
    if (!PyArg_ParseTuple(arguments, "OOp", &from, &to, &srgb) ||
        !array_take(&call, &array, from, "BHfd", false, "a photo") ||
        !image_take(&call, &image, to, true, "the copy of a photo") || !check_sizes(&call, &array, &image))
        return call_end(&call, NULL);
    call_release_python(&call);
    each_row(&array, &image, load_row);
    esra_status status = srgb ? apply_curve(&image, true) : ESRA_OK;
    call_take_python(&call);
    return end(&call, status);
}

/* save(floats, array, srgb): the inverse, by way of the floats, which hold codes afterwards. */
FUNCTION(binding_save)
{
    struct call call = {.state = PyModule_GetState(module)};
    struct array array = {0};
    esra_image image = {0};
    PyObject *from, *to;
    int srgb;
    if (!PyArg_ParseTuple(arguments, "OOp", &from, &to, &srgb) || !image_take(&call, &image, from, true, "a layer") ||
        !array_take(&call, &array, to, "BHfd", true, "the room for a layer") || !check_sizes(&call, &array, &image))
        return call_end(&call, NULL);
    call_release_python(&call);
    esra_status status = srgb ? apply_curve(&image, false) : ESRA_OK;
    each_row(&array, &image, save_row);
    call_take_python(&call);
    return end(&call, status);
}

/* to = from + strength (to - from), as the command line removes a part of the reflection. */
static void mix(const esra_image *from, const esra_image *to, float strength)
{
    for (int c = 0; c < to->channels; c++)
        for (int y = 0; y < to->height; y++)
            for (int x = 0; x < to->width; x++) {
                float photo = from->data[y * from->row_stride + x * from->column_stride + c * from->channel_stride];
                float *value = &to->data[y * to->row_stride + x * to->column_stride + c * to->channel_stride];
                *value = photo + strength * (*value - photo);
            }
}

/* mix(photo, layer, strength) */
FUNCTION(binding_mix)
{
    struct call call = {.state = PyModule_GetState(module)};
    esra_image images[2] = {{0}};
    PyObject *photo, *layer;
    double strength;
    if (!PyArg_ParseTuple(arguments, "OOd", &photo, &layer, &strength) ||
        !image_take(&call, &images[0], photo, false, "the photo") ||
        !image_take(&call, &images[1], layer, true, "the layer"))
        return call_end(&call, NULL);
    bool same = images[0].width == images[1].width && images[0].height == images[1].height &&
                images[0].channels == images[1].channels;
    if (!(strength >= 0 && strength <= 1))
        return call_end(&call, (call_fail(&call, "strength is a number from 0 to 1"), NULL));
    if (!same)
        return call_end(&call, (call_fail(&call, "two arrays of one shape are needed"), NULL));
    call_release_python(&call);
    mix(&images[0], &images[1], (float)strength);
    call_take_python(&call);
    return end(&call, ESRA_OK);
}
