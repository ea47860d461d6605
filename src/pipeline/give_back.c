/* pipeline/give_back.c - layers from the reference's frame into the photos' own, and what was found out about them. */
#include "pipeline/give_back.h"

#include <math.h>
#include <string.h>

#include "ops/resample.h"
#include "pipeline/deep.h"
#include "pipeline/evidence_table.h"

/* ---- Layers ---- */

static void store(const struct image *image, const esra_image *to)
{
    for (int c = 0; to->data && c < image->channels; c++)
        esra_plane_store(image_plane(image, c), to, c);
}

/* A layer of roots becomes light again. */
static void store_layer(const struct model *model, struct image *layer, const esra_image *to)
{
    size_t samples = image_samples(layer);
    for (size_t n = 0; model->light == LIGHT_ROOT && n < samples; n++)
        layer->data[n] *= layer->data[n];
    store(layer, to);
}

/* The reference photo to the bit. */
static void return_photo(const struct run *run, struct image *own)
{
    for (int c = 0; c < own->channels; c++)
        esra_plane_load(image_plane(own, c), &run->input->images[run->input->reference], c);
    store(own, &run->output->transmitted);
}

/* What photo i reflects, from the reference's frame into its own; black where the reference does not reach. */
static esra_status return_reflected(const struct layers *layers, const struct model *model, int i, struct image *own,
                                    struct image *mask, struct run *run)
{
    struct transform back;
    size_t pixels = image_pixels(mask);
    esra_status status = ESRA_OK;
    memset(mask->data, 0, pixels * sizeof(float));
    if (run->output->method == ESRA_METHOD_NONE || !model->motions[i].aligned)
        memset(own->data, 0, image_samples(own) * sizeof(float));
    else if (model->kind == MODEL_DEPTH)
        TRY(esra_deep_return(model, i, &layers->guide.layers[i + 1], own, mask, run->context));
    else if (esra_transform_invert(&model->still[i], &back))
        esra_resample(run->context, &layers->guide.layers[i + 1], &back, own, image_plane(mask, 0));
    for (size_t n = 0; n < image_samples(own); n++)
        own->data[n] *= mask->data[n % pixels];
    store_layer(model, own, &run->output->reflected[i]);
done:
    return status;
}

/* The mean over the photos of how far the joint solution explains each; what it completed, it does not explain. */
static void return_confidence(const struct layers *layers, struct image *mean, struct run *run)
{
    int photos = layers->guide.photos;
    size_t pixels = image_pixels(mean);
    memset(mean->data, 0, pixels * sizeof(float));
    for (int i = 0; run->output->method == ESRA_METHOD_JOINT && i < photos; i++)
        for (size_t n = 0; n < pixels; n++) {
            float weight = layers->guide.weights[i].data[n];
            mean->data[n] += weight > LAYERS_LEAST_WEIGHT ? weight / (float)photos : 0;
        }
    store(mean, &run->output->confidence);
}

/* Bringing layers of large photos back takes seconds: the callback is asked in between. */
static bool is_wanted(struct run *run)
{
    esra_info *info = run->output->info;
    if (info->outcome != ESRA_STOPPED && esra_run_stopping(run, STAGE_RETURN))
        info->outcome = ESRA_STOPPED;
    return !*run->unwanted;
}

esra_status esra_give_back_layers(struct layers *layers, struct model *model, struct run *run)
{
    const esra_image *first = run->input->images;
    struct image own = {0}, mask = {0};
    esra_status status = ESRA_OK;
    /* The caller's images take memory when they are written to for the first time: what only led to the layers makes
     * room. */
    esra_images_free(&layers->guide.gradients, 2 * (layers->guide.photos + 1));
    esra_images_free(&model->aligned, model->photos);
    if (!is_wanted(run))
        return ESRA_OK;
    TRY(esra_image_create(&own, first->width, first->height, first->channels, run->context->message));
    TRY(esra_image_create(&mask, first->width, first->height, 1, run->context->message));
    if (run->output->method == ESRA_METHOD_NONE)
        return_photo(run, &own);
    else
        store_layer(model, &layers->guide.layers[0], &run->output->transmitted);
    for (int i = 0; run->output->reflected && i < run->input->photos && is_wanted(run); i++)
        TRY(return_reflected(layers, model, i, &own, &mask, run));
    if (run->output->confidence.data && is_wanted(run))
        return_confidence(layers, &mask, run);
done:
    esra_image_free(&own);
    esra_image_free(&mask);
    return status;
}

/* ---- Facts ---- */

/* Shares are alignment's; it does not see a reflection that only shows beside T, nor what the caller aligned. */
static esra_photo_facts facts_of(const struct model *model, const struct photo_evidence *photo, int i, bool given)
{
    const struct photo_motion *m = &model->motions[i];
    double first = given ? NAN : m->explained, second = given || !m->second ? NAN : m->explained_second;
    return (esra_photo_facts){m->aligned, model->exchanged ? second : first, model->exchanged ? first : second,
                              m->overlap, isnan(photo->apart_px) ? 0 : photo->apart_px};
}

/* R at x of the reference is at mirror^-1 x of the aligned photo, and so at still(mirror^-1 x) of its own. */
static struct transform reflected_motion(const struct model *model, int i)
{
    struct transform back;
    return esra_transform_invert(&model->mirror[i], &back) ? esra_transform_compose(&model->still[i], &back)
                                                           : TRANSFORM_IDENTITY;
}

static void give_back_photo(const struct model *model, const struct evidence *evidence, int i, struct run *run)
{
    esra_separation *out = run->output;
    struct transform reflected = reflected_motion(model, i);
    if (out->transmitted_motion)
        memcpy(out->transmitted_motion[i].h, model->still[i].h, sizeof model->still[i].h);
    if (out->reflected_motion)
        memcpy(out->reflected_motion[i].h, reflected.h, sizeof reflected.h);
    if (out->mixing)
        out->mixing[i] = esra_model_gain_of_light(model, model->mixing[i]);
    if (out->reflection_gain)
        out->reflection_gain[i] = esra_model_gain_of_light(model, model->reflection_gain[i]);
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
    out->prediction_error = known(evidence->delivered.prediction_error);
    out->prediction_base = known(evidence->delivered.prediction_base);
    out->joint_objective = model->joint_info.objective;
    out->joint_residual = model->joint_info.residual;
    out->joint_trusted = model->joint_info.trusted;
    esra_evidence_to_numbers(evidence, out->evidence, out->photo_evidence);
}
