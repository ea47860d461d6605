/* pipeline/series_check.c - the caller's photos, what is given with them, and the images to be filled: sizes, ranges,
 * and every sample. */
#include <math.h>

#include "base/transform.h"
#include "gradients/agreement.h"
#include "pipeline/series.h"
#include "solve/problem.h"

/* Nothing that is seen moves by as many pixels. */
#define LARGEST_MOTION 1e12

static esra_status check_size(const struct series *series, const esra_image *image, int number, struct message *message)
{
    if (!image->data)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "photo %d has no data: its pointer is NULL", number);
    if (image->width != series->width || image->height != series->height || image->channels != series->channels)
        return esra_fail(message, ESRA_BAD_DATA,
                         "photo 1 is %d x %d with %d channel(s) and photo %d %d x %d with %d: bring all to one size",
                         series->width, series->height, series->channels, number, image->width, image->height,
                         image->channels);
    return ESRA_OK;
}

static esra_status check_photo(const struct series *series, const esra_image *image, int number,
                               struct message *message)
{
    esra_status status = check_size(series, image, number, message);
    for (int c = 0; status == ESRA_OK && c < series->channels; c++)
        for (int y = 0; y < series->height; y++)
            for (int x = 0; x < series->width; x++)
                if (!(fabsf(*image_sample(image, x, y, c)) <= PROBLEM_LARGEST))
                    return esra_fail(
                        message, ESRA_BAD_DATA,
                        "photo %d holds %g at row %d, column %d: intensities must be finite, and lie about [0,1]",
                        number, (double)*image_sample(image, x, y, c), y, x);
    return status;
}

bool esra_series_left_out(const esra_photos *input, int i)
{
    bool zeros = input->transmitted != NULL && i != input->reference;
    for (int n = 0; zeros && n < 9; n++)
        zeros = input->transmitted[i].h[n] == 0;
    return zeros;
}

/* Gains and transforms given of photo i: finite, and such that stages may divide by them. */
static esra_status check_given(const esra_photos *in, int i, struct message *message)
{
    const esra_transform *given[] = {in->transmitted, in->reflected};
    double mixing = in->mixing ? in->mixing[i] / in->mixing[in->reference] : 1;
    if (!(mixing >= 1 / PROBLEM_LARGEST_MIXING && mixing <= PROBLEM_LARGEST_MIXING))
        return esra_fail(message, ESRA_BAD_DATA,
                         "photo %d has %g times the reference's mixing coefficient: that must lie in [%g, %g]", i + 1,
                         mixing, 1 / PROBLEM_LARGEST_MIXING, PROBLEM_LARGEST_MIXING);
    for (int n = 0; n < 2 * 9 && !esra_series_left_out(in, i); n++) {
        const double *h = given[n / 9] ? given[n / 9][i].h : TRANSFORM_IDENTITY.h;
        if (!(fabs(h[n % 9] / h[8]) <= LARGEST_MOTION))
            return esra_fail(message, ESRA_BAD_DATA,
                             "a transform of photo %d holds %g over %g: that must lie in [-%g, %g]", i + 1, h[n % 9],
                             h[8], LARGEST_MOTION, LARGEST_MOTION);
    }
    return ESRA_OK;
}

/* An image to be filled has the photos' size, and so many channels. */
static esra_status check_output(const struct series *series, const esra_image *image, int channels, const char *name,
                                struct message *message)
{
    if (!image->data ||
        (image->width == series->width && image->height == series->height && image->channels == channels))
        return ESRA_OK;
    return esra_fail(message, ESRA_BAD_DATA,
                     "the image for %s is %d x %d with %d channel(s): it must be %d x %d with %d", name, image->width,
                     image->height, image->channels, series->width, series->height, channels);
}

static esra_status check_outputs(const struct series *series, const esra_separation *out, struct message *message)
{
    esra_status status;
    TRY(check_output(series, &out->transmitted, series->channels, "the transmitted layer", message));
    TRY(check_output(series, &out->confidence, 1, "the confidence", message));
    for (int i = 0; out->reflected && i < series->photos; i++)
        TRY(check_output(series, &out->reflected[i], series->channels, "a reflected layer", message));
done:
    return status;
}

/* Past the last row, or column, there is no difference, and anything may stand there. */
static esra_status check_gradient(const struct series *series, const esra_image *image, int n, struct message *message)
{
    if (!image->data || image->width != series->width || image->height != series->height ||
        image->channels != series->channels)
        return esra_fail(message, ESRA_BAD_DATA,
                         "the gradients of layer %d are not %d x %d with %d channel(s), as the photos are", n / 2,
                         series->width, series->height, series->channels);
    for (int c = 0; c < series->channels; c++)
        for (int y = 0; y < series->height - !(n % 2); y++)
            for (int x = 0; x < series->width - n % 2; x++)
                if (!(fabsf(*image_sample(image, x, y, c)) <= PROBLEM_LARGEST))
                    return esra_fail(message, ESRA_BAD_DATA, "the gradients of layer %d hold %g at row %d, column %d",
                                     n / 2, (double)*image_sample(image, x, y, c), y, x);
    return ESRA_OK;
}

/* Wishes that contradict each other. */
static esra_status check_wishes(const esra_photos *in, struct message *message)
{
    bool by_depth = in->motion == ESRA_MOTION_DEPTH;
    if (by_depth && in->photos > AGREEMENT_PHOTOS_MOST)
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "depth is found from %d photos at most, and there are %d: give fewer, or ask for homographies",
                         AGREEMENT_PHOTOS_MOST, in->photos);
    if (by_depth && !in->transmitted && in->swap)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "layers cannot be swapped when they are told apart by depth");
    if (in->reflected && !in->transmitted)
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "the reflection's motion was given without the scene's: give the scene's too");
    return ESRA_OK;
}

static esra_status check_numbers(struct series *series, const esra_photos *in, struct message *message)
{
    const esra_image *first = in->images;
    if (in->photos < 2 || !first)
        return esra_fail(message, ESRA_BAD_DATA, "two photos are needed at least, and there is %d", in->photos);
    if (in->reference < 0 || in->reference >= in->photos)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "the reference is photo %d of %d", in->reference, in->photos);
    if (first->channels != 1 && first->channels != 3)
        return esra_fail(message, ESRA_BAD_DATA, "photos have %d channels: 1 or 3 are needed", first->channels);
    if (first->width < 1 || first->height < 1)
        return esra_fail(message, ESRA_BAD_DATA, "photos are %d x %d", first->width, first->height);
    series->photos = in->photos;
    series->reference = in->reference;
    series->width = first->width;
    series->height = first->height;
    series->channels = first->channels;
    return ESRA_OK;
}

struct checking {
    const struct series *series;
    const esra_photos *in;
};

/* A job of esra_context_side_by_side(). */
static esra_status check_number(void *work, int i, struct context *own)
{
    const struct checking *c = work;
    esra_status status = check_photo(c->series, &c->in->images[i], i + 1, own->message);
    return status == ESRA_OK ? check_given(c->in, i, own->message) : status;
}

esra_status esra_series_check(struct series *series, const struct run *run)
{
    const esra_photos *in = run->input;
    struct message *message = run->context->message;
    esra_status status;
    TRY(check_numbers(series, in, message));
    TRY(esra_context_side_by_side(run->context, check_number, &(struct checking){series, in}, series->photos));
    TRY(check_wishes(in, message));
    for (int n = 0; in->gradients && n < 2 * (series->photos + 1); n++)
        TRY(check_gradient(series, &in->gradients[n], n, message));
    TRY(check_outputs(series, run->output, message));
done:
    return status;
}
