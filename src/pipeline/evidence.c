/* pipeline/evidence.c - measures the numbers of evidence.def of a series and of its models. */
#include "pipeline/evidence.h"

#include <math.h>

#include "base/maths.h"
#include "base/memory.h"
#include "evidence/leave_out.h"
#include "evidence/noise.h"
#include "evidence/remains.h"
#include "evidence/sharpness.h"
#include "pipeline/deep.h"
#include "pipeline/thresholds.h"

/* A photo's scale is measured on a grid of so many points a side. */
#define SCALE_GRID 9

static const struct way_evidence nothing_of_way = {
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) .name = NAN,
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
};

static const struct photo_evidence nothing_of_photo = {
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning) .name = NAN,
#include "pipeline/evidence.def"
};

esra_status esra_evidence_create(struct evidence *evidence, int photos, int reference, struct message *message)
{
    *evidence = (struct evidence){
#define SERIES_EVIDENCE(name, meaning) .name = NAN,
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
        .flat = nothing_of_way,
        .depth = nothing_of_way,
        .farther = nothing_of_way,
        .nearer = nothing_of_way,
        .delivered = nothing_of_way,
        .photos = photos,
        .reference = reference,
        .photo = esra_allocate((size_t)photos, sizeof *evidence->photo),
    };
    if (!evidence->photo)
        return esra_fail_memory(message);
    for (int i = 0; i < photos; i++)
        evidence->photo[i] = nothing_of_photo;
    return ESRA_OK;
}

void esra_evidence_free(struct evidence *evidence)
{
    esra_release(&evidence->photo);
}

/* ---- Photos by themselves ---- */

static double clipped_share(const struct image *photo)
{
    const float clipped_level = (float)pipeline_thresholds.clipped_level;
    size_t pixels = image_pixels(photo), clipped = 0;
    for (size_t n = 0; n < pixels; n++) {
        bool full = false;
        for (int c = 0; c < photo->channels; c++)
            full = full || photo->data[(size_t)c * pixels + n] >= clipped_level;
        clipped += full;
    }
    return (double)clipped / (double)pixels;
}

static double deviation(const struct image *photo)
{
    size_t samples = image_samples(photo);
    double sum = 0, squares = 0;
    for (size_t n = 0; n < samples; n++) {
        sum += photo->data[n];
        squares += (double)photo->data[n] * photo->data[n];
    }
    double mean = sum / (double)samples, variance = squares / (double)samples - mean * mean;
    return variance > 0 ? sqrt(variance) : 0;
}

struct looking {
    struct evidence *evidence;
    const struct series *series;
};

/* A job of esra_context_side_by_side(): sums over a photo are one after the other. */
static esra_status look_at_photo(void *work, int i, struct context *own)
{
    const struct looking *l = work;
    struct photo_evidence *photo = &l->evidence->photo[i];
    if (esra_context_stopping(own))
        return ESRA_OK;
    photo->deviation = deviation(&l->series->images[i]);
    return esra_sharpness(own, &l->series->images[i], l->series->light == LIGHT_LINEAR, &photo->sharpness);
}

esra_status esra_evidence_photos(struct evidence *evidence, const struct series *series, struct run *run)
{
    struct looking looking = {evidence, series};
    evidence->clipped = clipped_share(&series->images[series->reference]);
    evidence->shortest_side_px = series->width < series->height ? series->width : series->height;
    return esra_context_side_by_side(run->context, look_at_photo, &looking, series->photos);
}

/* ---- Models ---- */

/* Nobody asks where motions of both layers are given. */
static esra_status measure_structure(struct way_evidence *way, const struct model *model, struct run *run)
{
    esra_status status = ESRA_OK;
    way->structure = run->input->reflected ? NAN : 0;
    for (int i = 0; i < model->photos && !run->input->reflected; i++) {
        struct noise_pair pair = {&model->aligned[model->reference], &model->aligned[i], &model->masks[i],
                                  model->mixing[i]};
        double share;
        if (!model_takes_part(model, i))
            continue;
        TRY(esra_noise_structure(run->context, &pair, &share));
        way->structure = fmax(way->structure, share);
    }
done:
    return status;
}

void esra_evidence_residuals(struct evidence *evidence, const struct model *flat)
{
    for (int i = 0; i < flat->photos; i++)
        evidence->photo[i].residual = flat->motions[i].residual;
}

esra_status esra_evidence_alignment(struct way_evidence *way, const struct model *model, struct run *run)
{
    const struct camera *camera = &model->depth.camera;
    if (model->kind == MODEL_DEPTH && camera->found) {
        way->parallax_px = camera->parallax_px;
        way->track_error_px = camera->error_px;
        way->bend = camera->bend;
    }
    return measure_structure(way, model, run);
}

/* Photos that are not aligned see nothing, and are not predicted. */
static esra_status leave_out(const struct model *model, const struct leave_out_options *options,
                             struct leave_out *result, struct run *run)
{
    struct joint_photos photos = esra_model_photos(model);
    struct joint_model joint_model = esra_model_joint(model);
    double *confidence = esra_allocate((size_t)model->photos, sizeof *confidence);
    if (!confidence)
        return esra_fail_memory(run->context->message);
    for (int i = 0; i < model->photos; i++)
        confidence[i] = model->motions[i].aligned;
    joint_model.confidence = confidence;
    esra_status status = esra_leave_out(run->context, &photos, &joint_model, options, result);
    esra_release(&confidence);
    return status;
}

void esra_evidence_trust(struct way_evidence *way, const struct model *model)
{
    if (model->joint)
        way->trusted = model->joint_info.trusted;
}

esra_status esra_evidence_layers(struct way_evidence *way, const struct model *model, bool roughly, struct image *doubt,
                                 struct run *run)
{
    struct leave_out_options options = {
        .reference = model->reference, .halvings = roughly, .alone = true, .brief = !doubt, .doubt = doubt != NULL};
    struct leave_out result = {0};
    esra_status status;
    if (!model->two_motions || run->input->gradients)
        return ESRA_OK;
    TRY(leave_out(model, &options, &result, run));
    way->prediction_error = result.error;
    way->prediction_base = result.baseline;
    way->prediction_alone = result.alone;
    way->opposed = result.opposed;
    esra_evidence_trust(way, model);
    if (doubt) {
        esra_image_free(doubt);
        *doubt = result.doubt;
        result.doubt = (struct image){0};
    }
done:
    esra_leave_out_free(&result);
    return status;
}

esra_status esra_evidence_motions(struct way_evidence *way, const struct model *model, int halvings, struct run *run)
{
    struct leave_out_options options = {.reference = model->reference, .halvings = halvings, .brief = true};
    struct leave_out result = {0};
    esra_status status;
    if (!model->two_motions)
        return ESRA_OK;
    TRY(leave_out(model, &options, &result, run));
    way->prediction_error = result.error;
    way->prediction_base = result.baseline;
done:
    esra_leave_out_free(&result);
    return status;
}

esra_status esra_evidence_pair(struct evidence *evidence, const struct model *model, struct run *run)
{
    struct leave_out_options options = {.reference = model->reference, .alone = true, .brief = true};
    struct leave_out result = {0};
    esra_status status;
    if (!model->two_motions)
        return ESRA_OK;
    TRY(leave_out(model, &options, &result, run));
    evidence->prediction_pair = result.error / result.alone;
done:
    esra_leave_out_free(&result);
    return status;
}

/* ---- The model delivered ---- */

/* Where photo i has the scene's point at (x, y) of the reference; false where it is behind the camera. */
static bool follow(const struct model *model, int i, int x, int y, double *u, double *v)
{
    bool before = model->kind == MODEL_DEPTH ? esra_deep_follow(model, i, x, y, u, v)
                                             : transform_apply(&model->still[i], x, y, u, v);
    return before && fabs(*u) < 1e5 && fabs(*v) < 1e5;
}

/* The scale of the similarity u ~ s x + t that fits photo i's motion best, points as complex numbers:
 * |<x - mean, u - mean>|/|x - mean|^2. */
static double scale_of(const struct model *model, int i)
{
    double count = 0, x_sum = 0, y_sum = 0, u_sum = 0, v_sum = 0, along = 0, across = 0, square = 0;
    for (int n = 0; n < SCALE_GRID * SCALE_GRID; n++) {
        int x = (n % SCALE_GRID) * (model->width - 1) / (SCALE_GRID - 1);
        int y = n / SCALE_GRID * (model->height - 1) / (SCALE_GRID - 1);
        double u, v;
        if (!follow(model, i, x, y, &u, &v))
            continue;
        count++;
        x_sum += x;
        y_sum += y;
        u_sum += u;
        v_sum += v;
        along += x * u + y * v;
        across += x * v - y * u;
        square += (double)x * x + (double)y * y;
    }
    square -= (x_sum * x_sum + y_sum * y_sum) / count;
    along -= (x_sum * u_sum + y_sum * v_sum) / count;
    across -= (x_sum * v_sum - y_sum * u_sum) / count;
    return square > 0 ? esra_hypot(along, across) / square : 1;
}

/* How far the layers moved against each other in photo i, at the corners. */
static double apart_px(const struct model *model, int i)
{
    struct transform identity = TRANSFORM_IDENTITY;
    double distance = esra_transform_distance(&model->mirror[i], &identity, model->width, model->height);
    return isfinite(distance) ? distance : 0;
}

static void describe_motion(struct photo_evidence *photo, const struct model *model, int i, const esra_photos *input)
{
    const struct photo_motion *motion = &model->motions[i];
    photo->aligned = motion->aligned;
    photo->overlap = motion->overlap;
    photo->gain = esra_model_gain_of_light(model, model->mixing[i]);
    if (isnan(photo->residual) && !input->transmitted)
        photo->residual = 1 - motion->explained;
    if (model->two_motions)
        photo->apart_px = apart_px(model, i);
    if (model_takes_part(model, i) && !input->transmitted)
        photo->scale = scale_of(model, i);
}

static esra_status measure_remains(struct photo_evidence *photo, const struct model *model, int i,
                                   struct message *message)
{
    struct image predicted = {0}, shown = {0}, mask = {0}, weight = {0};
    struct explained_photo explained = {&shown, &predicted, &mask, &weight};
    struct remains remains;
    esra_status status;
    TRY(esra_joint_predict(model->joint, i, &predicted, &shown, &mask));
    TRY(esra_joint_trust(model->joint, i, &weight));
    TRY(esra_remains_find(&explained, &remains, message));
    photo->darker = remains.darker;
    photo->brighter = remains.brighter;
    photo->patches = remains.patches;
    photo->largest_patch = remains.largest;
done:
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&mask);
    esra_image_free(&weight);
    return status;
}

static void to_light(const struct model *model, struct image *layer)
{
    for (size_t n = 0; model->light == LIGHT_ROOT && n < image_samples(layer); n++)
        layer->data[n] *= layer->data[n];
}

esra_status esra_evidence_energy(struct way_evidence *way, const struct model *model, struct context *context)
{
    struct image transmitted = {0}, reflected = {0};
    esra_status status = ESRA_OK;
    if (!model->joint)
        return ESRA_OK;
    TRY(esra_joint_transmitted(model->joint, &transmitted));
    TRY(esra_joint_seen(model->joint, model->reference, &reflected));
    to_light(model, &transmitted);
    to_light(model, &reflected);
    TRY(esra_layer_energy(context, &transmitted, &reflected, &way->energy));
done:
    esra_image_free(&transmitted);
    esra_image_free(&reflected);
    return status;
}

void esra_evidence_root(struct evidence *evidence)
{
    evidence->prediction_root = evidence->delivered.prediction_error / evidence->delivered.prediction_alone;
}

esra_status esra_evidence_delivered(struct evidence *evidence, const struct model *model, struct run *run)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < model->photos; i++)
        describe_motion(&evidence->photo[i], model, i, run->input);
    esra_evidence_trust(&evidence->delivered, model);
    if (!model->joint || run->input->transmitted)
        return ESRA_OK;
    for (int i = 0; i < model->photos && !esra_context_stopping(run->context); i++)
        if (i == model->reference || model->motions[i].aligned)
            TRY(measure_remains(&evidence->photo[i], model, i, run->context->message));
    TRY(esra_evidence_energy(&evidence->delivered, model, run->context));
done:
    return status;
}
