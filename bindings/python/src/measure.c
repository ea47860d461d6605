/* measure.c - compare() and plan(): numbers about images, and about what work on them takes. */
#include "binding.h"

#include <string.h>

static const struct field comparison_fields[] = {
    FIELD_OF(esra_comparison, psnr, REAL),
    FIELD_OF(esra_comparison, ssim, REAL),
    FIELD_OF(esra_comparison, ncc, REAL),
    FIELD_OF(esra_comparison, psnr_fit, REAL),
    FIELD_OF(esra_comparison, ssim_fit, REAL),
    FIELD_OF(esra_comparison, psnr_exposure, REAL),
    FIELD_OF(esra_comparison, ssim_exposure, REAL),
    FIELD_OF(esra_comparison, exposure, REAL),
    {NULL, FIELD_INT, 0},
};

/* The library's call has no message: its header says what each status means. */
static const char *comparison_text(esra_status status, const esra_image *a, const esra_image *b)
{
    if (status == ESRA_OUT_OF_MEMORY)
        return "out of memory: the images are too large to be compared here";
    if (a->width != b->width || a->height != b->height)
        return "only images of one size can be compared";
    if (a->channels != b->channels && a->channels != 1 && b->channels != 1)
        return "only images of equal channels can be compared, or of one that is grey";
    if (a->width < 1 || a->height < 1 || a->channels < 1 || b->channels < 1)
        return "an image without samples cannot be compared";
    return "only finite numbers can be compared: an image holds NaN or infinity";
}

/* compare(image, truth) */
FUNCTION(binding_compare)
{
    struct call call = {.state = PyModule_GetState(module)};
    esra_image images[2] = {{0}};
    esra_comparison comparison = ESRA_COMPARISON_INIT;
    PyObject *a, *b;
    if (!PyArg_ParseTuple(arguments, "OO", &a, &b) || !image_take(&call, &images[0], a, false, "the image") ||
        !image_take(&call, &images[1], b, false, "the truth"))
        return call_end(&call, NULL);
    call_release_python(&call);
    esra_status status = esra_compare(&images[0], &images[1], &comparison);
    bool good = call_done(&call, status, comparison_text(status, &images[0], &images[1]));
    return call_end(&call, good ? fields_to_dictionary(&comparison, comparison_fields) : NULL);
}

static const struct field plan_fields[] = {
    FIELD_OF(esra_plan, bytes, REAL),
    FIELD_OF(esra_plan, stage, TEXT),
    FIELD_OF(esra_plan, core_seconds, REAL),
    {NULL, FIELD_INT, 0},
};

/* plan(separating, photos, width, height, channels, settings) */
FUNCTION(binding_plan)
{
    struct call call = {.state = PyModule_GetState(module)};
    esra_settings settings;
    esra_plan plan = ESRA_PLAN_INIT;
    PyObject *options;
    int separating, photos, width, height, channels;
    esra_settings_default(&settings);
    if (!PyArg_ParseTuple(arguments, "piiiiO!", &separating, &photos, &width, &height, &channels, &PyDict_Type,
                          &options) ||
        !settings_take(&call, &settings, options))
        return call_end(&call, NULL);
    esra_status status = separating ? esra_plan_separate(photos, width, height, channels, &settings, &plan)
                                    : esra_plan_run(photos, width, height, channels, &settings, &plan);
    const char *text = status == ESRA_OVER_LIMIT ? "photos as large cannot be held by any machine"
                       : separating ? "two photos at least, of one pixel at least and 1 or 3 channels, are needed"
                                    : "one mixture at least, of one pixel and one channel at least, is needed";
    return call_end(&call, call_check(&call, status, text) ? fields_to_dictionary(&plan, plan_fields) : NULL);
}
