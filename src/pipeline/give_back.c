/* pipeline/give_back.c - layers from the reference's frame into the photos' own, and what was found out about them. */
#include "pipeline/give_back.h"

#include <math.h>
#include <string.h>

#include "ops/enlarge.h"
#include "ops/resample.h"
#include "pipeline/deep.h"
#include "pipeline/evidence_table.h"

/* ---- Layers ---- */

/* What is brought back, and room for it. */
struct returning {
    struct layers *layers;
    const struct model *model;
    struct run *run;
    struct image own, mask; /* of the model's size, which for a draft is less than the photos' */
};

/* Pixel 0 of the smaller photos is pixel 0 of the photos. */
static void store(const struct returning *r, const struct image *image, const esra_image *to)
{
    if (to->data && r->model->scale < 1)
        esra_enlarge(r->run->context, image, r->model->scale, NULL, to);
    else
        for (int c = 0; to->data && c < image->channels; c++)
            esra_plane_store(image_plane(image, c), to, c);
}

/* By homographies layers that change their names are solved for again. By depth they are as they were found: the scene
 * is what the reference shows of R, and photo i reflects a_i T. */
static bool changes_names(const struct model *model)
{
    return model->kind == MODEL_DEPTH && model->exchanged;
}

/* A layer of roots becomes light again. */
static void square(const struct model *model, struct image *layer)
{
    size_t samples = image_samples(layer);
    for (size_t n = 0; model->light == LIGHT_ROOT && n < samples; n++)
        layer->data[n] *= layer->data[n];
}

/* A photo without a reflection is a model, too: where the photos tell R in part only, a layer is the mean over both, as
 * they are weighed by what is retained of R. Without it T is the photo, and R is black (NULL). */
static void average(const struct model *model, struct image *layer, const struct image *without)
{
    float share = (float)model->retained;
    size_t samples = image_samples(layer);
    for (size_t n = 0; share > 0 && n < samples; n++)
        layer->data[n] += share * ((without ? without->data[n] : 0) - layer->data[n]);
}

/* The reference photo to the bit. */
static void return_photo(struct returning *r)
{
    const esra_image *photo = &r->run->input->images[r->run->input->reference], *to = &r->run->output->transmitted;
    for (int c = 0; to->data && c < to->channels; c++)
        for (int y = 0; y < to->height; y++)
            for (int x = 0; x < to->width; x++)
                *image_sample(to, x, y, c) = *image_sample(photo, x, y, c);
}

/* A draft knows what to take off the small photo: that is enlarged, and taken off the photo itself. */
static void sharpen(struct returning *r, struct image *layer, const struct image *small)
{
    const esra_image *photo = &r->run->input->images[r->run->input->reference], *to = &r->run->output->transmitted;
    for (size_t n = 0; n < image_samples(layer); n++)
        layer->data[n] -= small->data[n];
    if (to->data)
        esra_enlarge(r->run->context, layer, r->model->scale, photo, to);
}

static void return_transmitted(struct returning *r, const struct series *series)
{
    struct image *layer = &r->layers->guide.layers[changes_names(r->model) ? 1 + series->reference : 0];
    const struct image *photo = &series->images[series->reference];
    square(r->model, layer);
    average(r->model, layer, photo);
    if (r->model->scale < 1)
        sharpen(r, layer, photo);
    else
        store(r, layer, &r->run->output->transmitted);
}

/* What photo i reflects, from the reference's frame into its own; black where the reference does not reach. */
static esra_status return_reflected(struct returning *r, int i)
{
    const struct model *model = r->model;
    bool other = changes_names(model);
    const struct image *layer = &r->layers->guide.layers[other ? 0 : i + 1];
    float gain = other ? (float)model->mixing[i] : 1;
    struct run *run = r->run;
    struct transform back;
    size_t pixels = image_pixels(&r->mask);
    esra_status status = ESRA_OK;
    memset(r->mask.data, 0, pixels * sizeof(float));
    if (run->output->method == ESRA_METHOD_NONE || !model->motions[i].aligned)
        memset(r->own.data, 0, image_samples(&r->own) * sizeof(float));
    else if (model->kind == MODEL_DEPTH)
        TRY(esra_deep_return(model, i, layer, &r->own, &r->mask, run->context));
    else if (esra_transform_invert(&model->still[i], &back))
        esra_resample(run->context, layer, &back, &r->own, image_plane(&r->mask, 0));
    for (int c = 0; c < r->own.channels; c++)
        for (size_t n = 0; n < pixels; n++)
            r->own.data[(size_t)c * pixels + n] *= gain * r->mask.data[n];
    square(model, &r->own);
    average(model, &r->own, NULL);
    store(r, &r->own, &run->output->reflected[i]);
done:
    return status;
}

/* None where the layers are not those of a joint solution. */
static void return_confidence(struct returning *r)
{
    const struct image *confidence = &r->layers->guide.confidence;
    memset(r->mask.data, 0, image_pixels(&r->mask) * sizeof(float));
    store(r, confidence->data ? confidence : &r->mask, &r->run->output->confidence);
}

/* Bringing layers of large photos back takes seconds: the callback is asked in between. */
static bool is_wanted(struct run *run)
{
    esra_info *info = run->output->info;
    if (info->outcome != ESRA_STOPPED && esra_run_stopping(run, STAGE_RETURN))
        info->outcome = ESRA_STOPPED;
    return !*run->unwanted;
}

static esra_status make_room(struct returning *r)
{
    const struct model *model = r->model;
    struct message *message = r->run->context->message;
    esra_status status;
    TRY(esra_image_create(&r->own, model->width, model->height, model->channels, message));
    TRY(esra_image_create(&r->mask, model->width, model->height, 1, message));
done:
    return status;
}

esra_status esra_give_back_layers(struct layers *layers, struct model *model, const struct series *series,
                                  struct run *run)
{
    struct returning r = {.layers = layers, .model = model, .run = run};
    esra_status status = ESRA_OK;
    /* The caller's images take memory when they are written to for the first time: what only led to the layers makes
     * room. */
    esra_guide_forget(&layers->guide);
    esra_images_free(&model->aligned, model->photos);
    if (!is_wanted(run))
        return ESRA_OK;
    TRY(make_room(&r));
    if (run->output->method == ESRA_METHOD_NONE)
        return_photo(&r);
    else
        return_transmitted(&r, series);
    for (int i = 0; run->output->reflected && i < run->input->photos && is_wanted(run); i++)
        TRY(return_reflected(&r, i));
    if (run->output->confidence.data && is_wanted(run))
        return_confidence(&r);
done:
    esra_image_free(&r.own);
    esra_image_free(&r.mask);
    return status;
}

/* ---- Facts ---- */

/* The shares explained are those that alignment found: NaN where the caller gave the motions, and R's where alignment
 * saw one motion only and R was found later, beside T. */
static esra_photo_facts facts_of(const struct model *model, const struct photo_evidence *photo, int i, bool given)
{
    const struct photo_motion *m = &model->motions[i];
    double first = given ? NAN : m->explained, second = given || !m->second ? NAN : m->explained_second;
    return (esra_photo_facts){m->aligned, model->exchanged ? second : first, model->exchanged ? first : second,
                              m->overlap, isnan(photo->apart_px) ? 0 : photo->apart_px / model->scale};
}

/* R at x of the reference is at mirror^-1 x of the aligned photo, and so at still(mirror^-1 x) of its own. */
static struct transform reflected_motion(const struct model *model, int i)
{
    struct transform back;
    return esra_transform_invert(&model->mirror[i], &back) ? esra_transform_compose(&model->still[i], &back)
                                                           : TRANSFORM_IDENTITY;
}

/* A layer's motion into photo i and its gain there, as the caller wants them. */
static void give_back_motion(const struct model *model, struct transform motion, double gain, esra_transform *motion_to,
                             double *gain_to)
{
    if (model->scale < 1)
        motion = esra_transform_rescale(&motion, 1 / model->scale);
    if (motion_to)
        memcpy(motion_to->h, motion.h, sizeof motion.h);
    if (gain_to)
        *gain_to = esra_model_gain_of_light(model, gain);
}

static void give_back_photo(const struct model *model, const struct evidence *evidence, int i, struct run *run)
{
    const esra_separation *out = run->output;
    bool other = changes_names(model);
    esra_transform *motions[2] = {out->transmitted_motion ? &out->transmitted_motion[i] : NULL,
                                  out->reflected_motion ? &out->reflected_motion[i] : NULL};
    double *gains[2] = {out->mixing ? &out->mixing[i] : NULL, out->reflection_gain ? &out->reflection_gain[i] : NULL};
    give_back_motion(model, model->still[i], model->mixing[i], motions[other], gains[other]);
    give_back_motion(model, reflected_motion(model, i), model->reflection_gain[i], motions[!other], gains[!other]);
    if (out->facts)
        out->facts[i] = facts_of(model, &evidence->photo[i], i, run->input->transmitted != NULL);
}

static double known(double number)
{
    return isnan(number) ? 0 : number;
}

void esra_give_back_facts(const struct model *model, const struct evidence *evidence, struct run *run)
{
    esra_separation *out = run->output;
    esra_motion wish = (esra_motion)run->input->motion;
    bool open = wish == ESRA_MOTION_AUTO || wish == ESRA_MOTION_DEPTH;
    for (int i = 0; i < model->photos; i++)
        give_back_photo(model, evidence, i, run);
    out->motion = model->kind == MODEL_DEPTH ? ESRA_MOTION_DEPTH : open ? ESRA_MOTION_HOMOGRAPHY : wish;
    out->in_roots = model->light == LIGHT_ROOT;
    out->scale = model->scale;
    out->taken_off = out->method == ESRA_METHOD_NONE ? 0 : 1 - model->retained;
    out->prediction_error = known(evidence->delivered.prediction_error);
    out->prediction_base = known(evidence->delivered.prediction_base);
    out->joint_objective = model->joint_info.objective;
    out->joint_residual = model->joint_info.residual;
    out->joint_trusted = model->joint_info.trusted;
    esra_evidence_to_numbers(evidence, out->evidence, out->photo_evidence);
}
