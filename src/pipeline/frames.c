/* pipeline/frames.c - photos into the reference's frame, and layers back into the photos' own. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "ops/resample.h"
#include "pipeline/parallax.h"

/* As esra_problem has it. */
#define LARGEST_MIXING 1e3
/* Nothing that is seen moves by as many pixels. */
#define LARGEST_MOTION 1e12

static esra_status check_image(const struct pipeline *p, const esra_image *image, int number)
{
    if (!image->data)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT, "photo %d has no data: its pointer is NULL", number);
    if (image->width != p->width || image->height != p->height || image->channels != p->channels)
        return esra_fail(p->context->message, ESRA_BAD_DATA,
                         "photo 1 is %d x %d with %d channel(s) and photo %d %d x %d with %d: bring "
                         "all to one size",
                         p->width, p->height, p->channels, number, image->width, image->height, image->channels);
    for (int c = 0; c < p->channels; c++)
        for (int y = 0; y < p->height; y++)
            for (int x = 0; x < p->width; x++)
                if (!(fabsf(*image_sample(image, x, y, c)) <= PIPELINE_LARGEST))
                    return esra_fail(
                        p->context->message, ESRA_BAD_DATA,
                        "photo %d holds %g at row %d, column %d: intensities must be finite, and lie about [0,1]",
                        number, (double)*image_sample(image, x, y, c), y, x);
    return ESRA_OK;
}

bool esra_pipeline_left_out(const struct pipeline *p, int i)
{
    bool zeros = p->input->transmitted != NULL && i != p->input->reference;
    for (int n = 0; zeros && n < 9; n++)
        zeros = p->input->transmitted[i].h[n] == 0;
    return zeros;
}

/* What is given of photo `number`: numbers, and such as the stages may divide by and multiply with. */
static esra_status check_given(const struct pipeline *p, int i)
{
    const esra_photos *in = p->input;
    const esra_transform *given[] = {in->transmitted, in->reflected};
    double mixing = in->mixing ? in->mixing[i] / in->mixing[in->reference] : 1;
    if (!(mixing >= 1 / LARGEST_MIXING && mixing <= LARGEST_MIXING))
        return esra_fail(p->context->message, ESRA_BAD_DATA,
                         "photo %d has %g times the reference's mixing coefficient: that must lie in "
                         "[%g, %g]",
                         i + 1, mixing, 1 / LARGEST_MIXING, LARGEST_MIXING);
    for (int n = 0; n < 2 * 9 && !esra_pipeline_left_out(p, i); n++) {
        const double *h = given[n / 9] ? given[n / 9][i].h : TRANSFORM_IDENTITY.h;
        if (!(fabs(h[n % 9] / h[8]) <= LARGEST_MOTION))
            return esra_fail(p->context->message, ESRA_BAD_DATA,
                             "a transform of photo %d holds %g over %g: that must lie in "
                             "[-%g, %g]",
                             i + 1, h[n % 9], h[8], LARGEST_MOTION, LARGEST_MOTION);
    }
    return ESRA_OK;
}

/* What is to be filled: the photos' size, and so many channels. */
static esra_status check_output(const struct pipeline *p, const esra_image *image, int channels, const char *name)
{
    if (!image->data || (image->width == p->width && image->height == p->height && image->channels == channels))
        return ESRA_OK;
    return esra_fail(p->context->message, ESRA_BAD_DATA,
                     "the image for %s is %d x %d with %d channel(s): it must be %d x %d with %d", name, image->width,
                     image->height, image->channels, p->width, p->height, channels);
}

static esra_status check_outputs(const struct pipeline *p)
{
    const esra_separation *out = p->output;
    esra_status status;
    TRY(check_output(p, &out->transmitted, p->channels, "the transmitted layer"));
    TRY(check_output(p, &out->confidence, 1, "the confidence"));
    for (int i = 0; out->reflected && i < p->photos; i++)
        TRY(check_output(p, &out->reflected[i], p->channels, "a reflected layer"));
done:
    return status;
}

/* Past the last row, or column, there is no difference, and anything may stand there. */
static esra_status check_gradients(const struct pipeline *p)
{
    for (int n = 0; p->input->gradients && n < 2 * (p->photos + 1); n++) {
        const esra_image *image = &p->input->gradients[n];
        if (!image->data || image->width != p->width || image->height != p->height || image->channels != p->channels)
            return esra_fail(p->context->message, ESRA_BAD_DATA,
                             "the gradients of layer %d are not %d x %d with %d channel(s), as the "
                             "photos are",
                             n / 2, p->width, p->height, p->channels);
        for (int c = 0; c < p->channels; c++)
            for (int y = 0; y < p->height - !(n % 2); y++)
                for (int x = 0; x < p->width - n % 2; x++)
                    if (!(fabsf(*image_sample(image, x, y, c)) <= PIPELINE_LARGEST))
                        return esra_fail(p->context->message, ESRA_BAD_DATA,
                                         "the gradients of layer %d hold %g at row %d, column %d", n / 2,
                                         (double)*image_sample(image, x, y, c), y, x);
    }
    return ESRA_OK;
}

/* What was asked for, and fits together. */
static esra_status check_wishes(const struct pipeline *p)
{
    const esra_photos *in = p->input;
    if (in->motion < ESRA_MOTION_HOMOGRAPHY || in->motion > ESRA_MOTION_AUTO)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT, "motion %d is none of esra_motion", (int)in->motion);
    if (in->motion == ESRA_MOTION_DEPTH && in->photos > AGREEMENT_PHOTOS_MOST)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT,
                         "depth is found from %d photos at most, and there are %d: give fewer, or "
                         "ask for homographies",
                         AGREEMENT_PHOTOS_MOST, in->photos);
    if (in->reflected && !in->transmitted)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT,
                         "the reflection's motion was given without the scene's: give the "
                         "scene's too");
    return ESRA_OK;
}

static esra_status check_photos(struct pipeline *p)
{
    const esra_photos *in = p->input;
    const esra_image *first = in->images;
    esra_status status = ESRA_OK;
    if (in->photos < 2 || !first)
        return esra_fail(p->context->message, ESRA_BAD_DATA, "two photos are needed at least, and there is %d",
                         in->photos);
    if (in->reference < 0 || in->reference >= in->photos)
        return esra_fail(p->context->message, ESRA_BAD_ARGUMENT, "the reference is photo %d of %d", in->reference,
                         in->photos);
    if (first->channels != 1 && first->channels != 3)
        return esra_fail(p->context->message, ESRA_BAD_DATA, "photos have %d channels: 1 or 3 are needed",
                         first->channels);
    if (first->width < 1 || first->height < 1)
        return esra_fail(p->context->message, ESRA_BAD_DATA, "photos are %d x %d", first->width, first->height);
    p->photos = in->photos;
    p->reference = in->reference;
    p->width = first->width;
    p->height = first->height;
    p->channels = first->channels;
    for (int i = 0; i < p->photos; i++) {
        TRY(check_image(p, &in->images[i], i + 1));
        TRY(check_given(p, i));
    }
    TRY(check_wishes(p));
    if (!p->is_small && !p->on_trial) {
        TRY(check_gradients(p));
        TRY(check_outputs(p));
    }
done:
    return status;
}

static bool is_planar(const esra_image *image)
{
    return image->column_stride == 1 && image->row_stride == image->width &&
           (image->channels == 1 || image->channel_stride == (ptrdiff_t)image->width * image->height);
}

/* A planar photo is used where it is; another layout is copied. */
static esra_status take_photo(struct pipeline *p, int i)
{
    const esra_image *image = &p->input->images[i];
    if (is_planar(image)) {
        p->seen[i] = (struct image){image->data, p->width, p->height, p->channels};
        return ESRA_OK;
    }
    esra_status status = esra_image_create(&p->copies[i], p->width, p->height, p->channels, p->context->message);
    for (int c = 0; status == ESRA_OK && c < p->channels; c++)
        esra_plane_load(image_plane(&p->copies[i], c), image, c);
    p->seen[i] = p->copies[i];
    return status;
}

esra_status esra_pipeline_load(struct pipeline *p)
{
    esra_status status;
    TRY(check_photos(p));
    size_t m = (size_t)p->photos;
    p->seen = esra_allocate(m, sizeof *p->seen);
    p->copies = esra_allocate(m, sizeof *p->copies);
    p->looks = esra_allocate(m, sizeof *p->looks);
    p->motions = esra_allocate(m, sizeof *p->motions);
    p->still = esra_allocate(m, sizeof *p->still);
    p->mirror = esra_allocate(m, sizeof *p->mirror);
    p->mixing = esra_allocate(m, sizeof *p->mixing);
    p->reflection_gain = esra_allocate(m, sizeof *p->reflection_gain);
    p->aligned = esra_allocate(m, sizeof *p->aligned);
    p->masks = esra_allocate(m, sizeof *p->masks);
    if (!p->seen || !p->copies || !p->looks || !p->motions || !p->still || !p->mirror || !p->mixing || !p->reflection_gain ||
        !p->aligned || !p->masks)
        return esra_fail_memory(p->context->message);
    for (int i = 0; i < p->photos; i++) {
        p->still[i] = p->mirror[i] = TRANSFORM_IDENTITY;
        p->mixing[i] = p->reflection_gain[i] = 1;
        TRY(take_photo(p, i));
    }
    if (!p->is_small && !p->on_trial)
        TRY(esra_pipeline_look(p));
done:
    return status;
}

/* A photo that is not aligned sees nothing: its mask is 0 everywhere, and no stage counts it. */
esra_status esra_pipeline_warp(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++) {
        if (!p->aligned[i].data) {
            TRY(esra_image_create(&p->aligned[i], p->width, p->height, p->channels, p->context->message));
            TRY(esra_image_create(&p->masks[i], p->width, p->height, 1, p->context->message));
        }
        esra_resample(p->context, &p->seen[i], &p->still[i], &p->aligned[i], image_plane(&p->masks[i], 0));
        if (!p->motions[i].aligned)
            memset(p->masks[i].data, 0, (size_t)p->width * (size_t)p->height * sizeof(float));
        p->motions[i].overlap = esra_image_mean(&p->masks[i]);
    }
done:
    return status;
}

static void store(const struct image *image, const esra_image *to)
{
    for (int c = 0; to->data && c < image->channels; c++)
        esra_plane_store(image_plane(image, c), to, c);
}

/* A layer, as light again where its root was worked on. */
static void store_layer(const struct pipeline *p, struct image *layer, const esra_image *to)
{
    size_t samples = (size_t)layer->width * (size_t)layer->height * (size_t)layer->channels;
    for (size_t n = 0; p->rooted && n < samples; n++)
        layer->data[n] *= layer->data[n];
    store(layer, to);
}

/* To the bit, and so not from its root. */
static void give_back_photo(struct pipeline *p, struct image *own)
{
    for (int c = 0; c < p->channels; c++)
        esra_plane_load(image_plane(own, c), &p->input->images[p->reference], c);
    store(own, &p->output->transmitted);
}

/* What photo i reflects, from the reference's frame into its own; black where the reference does not reach. */
static esra_status return_reflected(struct pipeline *p, int i, struct image *own, struct image *mask)
{
    struct transform back;
    size_t pixels = (size_t)p->width * (size_t)p->height;
    esra_status status = ESRA_OK;
    memset(mask->data, 0, pixels * sizeof(float));
    if (p->output->method == ESRA_METHOD_NONE || !p->motions[i].aligned)
        memset(own->data, 0, pixels * (size_t)p->channels * sizeof(float));
    else if (p->parallax)
        TRY(esra_parallax_return(p, i, &p->guide.start[i + 1], own, mask));
    else if (esra_transform_invert(&p->still[i], &back))
        esra_resample(p->context, &p->guide.start[i + 1], &back, own, image_plane(mask, 0));
    for (int c = 0; c < p->channels; c++)
        for (size_t n = 0; n < pixels; n++)
            own->data[(size_t)c * pixels + n] *= mask->data[n];
    store_layer(p, own, &p->output->reflected[i]);
done:
    return status;
}

/* The mean over the photos of how far the joint solution explains each. */
static void return_confidence(struct pipeline *p, struct image *mean)
{
    size_t pixels = (size_t)p->width * (size_t)p->height;
    memset(mean->data, 0, pixels * sizeof(float));
    for (int i = 0; p->output->method == ESRA_METHOD_JOINT && i < p->photos; i++)
        for (size_t n = 0; n < pixels; n++)
            mean->data[n] += p->guide.weights[i].data[n] / (float)p->photos;
    store(mean, &p->output->confidence);
}

/* Layers of large photos take seconds to be brought back. */
static bool is_wanted(struct pipeline *p)
{
    esra_info *info = &p->output->info;
    if (info->outcome != ESRA_STOPPED && esra_pipeline_stopping(p, "return"))
        info->outcome = ESRA_STOPPED;
    return !*p->unwanted;
}

/* The layers are there, and their owner's images, written to for the first time, will take memory: what only led to them
 * makes room. */
static void make_room(struct pipeline *p)
{
    esra_images_free(&p->guide.gradients, 2 * (p->guide.photos + 1));
    esra_images_free(&p->aligned, p->photos);
}

static esra_status return_layers(struct pipeline *p)
{
    struct image own = {0}, mask = {0};
    esra_status status;
    TRY(esra_image_create(&own, p->width, p->height, p->channels, p->context->message));
    TRY(esra_image_create(&mask, p->width, p->height, 1, p->context->message));
    if (p->output->method == ESRA_METHOD_NONE)
        give_back_photo(p, &own);
    else
        store_layer(p, &p->guide.start[0], &p->output->transmitted);
    for (int i = 0; p->output->reflected && i < p->photos && is_wanted(p); i++)
        TRY(return_reflected(p, i, &own, &mask));
    if (p->output->confidence.data && is_wanted(p))
        return_confidence(p, &mask);
done:
    esra_image_free(&own);
    esra_image_free(&mask);
    return status;
}

esra_status esra_pipeline_return(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    make_room(p);
    if (is_wanted(p))
        status = return_layers(p);
    if (status == ESRA_OK)
        esra_pipeline_tell(p);
    return status;
}
