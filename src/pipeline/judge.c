/* pipeline/judge.c - leaves out one photo after the other, predicts it, and sees how far the layers depend on it. */
#include "pipeline/judge.h"

#include <math.h>

#include "base/memory.h"
#include "gradients/opposed.h"
#include "ops/blur.h"
#include "pipeline/doubt.h"

/* Two photos leave nothing to leave out. What there is of doubt is then made of how far the gains may be wrong: by these
 * parts of them, as measured on scenes with known ones. */
#define MIXING_ERROR .005
#define GAIN_ERROR .01

/* Differences are compared after this blur. At the finest scale they are noise, which no layers predict: without the blur
 * right motions and wrong ones differed by a factor of 1.1 to 1.4 where with it they do by 1.5 to 6. */
#define SMOOTH_PX 2

struct judge {
    struct joint *joint;
    struct joint_model model;
    struct joint_settings settings;
    struct context *context;
    int photos, reference, level;
    double *confidence, *mixing, *gain; /* the model's, to be changed */
    struct image *shown;                /* [photos] as they are at the size judged */
    struct image transmitted;           /* T by all photos */
    struct image *scatter;              /* [photos]: T without photo j, less T */
    struct image raw, difference;       /* of two images: one channel, and all, smoothed */
    int replicates;
};

static size_t samples(const struct image *image)
{
    return (size_t)image->width * (size_t)image->height * (size_t)image->channels;
}

/* The length of a pixel's colour gradient. */
static float gradient_length(const struct image *image, int x, int y)
{
    size_t pixels = (size_t)image->width * (size_t)image->height, n = (size_t)y * (size_t)image->width + (size_t)x;
    float sum = 0;
    for (int c = 0; c < image->channels; c++) {
        const float *p = image->data + (size_t)c * pixels + n;
        float right = p[1] - p[0], down = p[image->width] - p[0];
        sum += right * right + down * down;
    }
    return sqrtf(sum);
}

/* difference = a - factor b where it is known, smoothed. */
static void subtract(struct judge *judge, const struct image *a, const struct image *b, double factor,
                     const struct image *mask)
{
    size_t pixels = (size_t)a->width * (size_t)a->height;
    for (int c = 0; c < a->channels; c++) {
        for (size_t n = 0; n < pixels; n++) {
            size_t k = (size_t)c * pixels + n;
            judge->raw.data[n] = mask->data[n] == 0 ? 0 : a->data[k] - (float)factor * b->data[k];
        }
        esra_blur(judge->context, image_plane(&judge->raw, 0), image_plane(&judge->difference, c), SMOOTH_PX);
    }
}

/* How far the gradients of a are from those of factor b: the sum of lengths over pixels that are known, and their number. */
static double image_distance(struct judge *judge, const struct image *a, const struct image *b, double factor,
                             const struct image *mask, double *count)
{
    double sum = 0, known = 0;
    subtract(judge, a, b, factor, mask);
    for (int y = 0; y + 1 < a->height; y++)
        for (int x = 0; x + 1 < a->width; x++) {
            const float *m = plane_row(image_plane(mask, 0), y) + x;
            if (m[0] == 0 || m[1] == 0 || m[a->width] == 0)
                continue;
            sum += gradient_length(&judge->difference, x, y);
            known++;
        }
    *count = known;
    return sum;
}

/* The least error that another photo in the place of photo j would make: what is there before anything is solved. */
static double nearest_photo(struct judge *judge, int j, const struct image *mask)
{
    double least = INFINITY, count;
    for (int i = 0; i < judge->photos; i++)
        if (i != j && judge->shown[i].data)
            least = fmin(least, image_distance(judge, &judge->shown[j], &judge->shown[i],
                                               judge->mixing[j] / judge->mixing[i], mask, &count));
    return least;
}

static esra_status solve(struct judge *judge)
{
    struct joint_info info;
    return esra_joint_solve(judge->joint, &judge->model, &judge->settings, judge->level, &info);
}

/* One more replicate: the layers just solved, as they differ from those of all photos. */
static esra_status keep_scatter(struct judge *judge)
{
    struct image *scatter = &judge->scatter[judge->replicates];
    esra_status status = esra_joint_transmitted(judge->joint, scatter);
    if (status != ESRA_OK)
        return status;
    for (size_t n = 0; n < samples(scatter); n++)
        scatter->data[n] -= judge->transmitted.data[n];
    judge->replicates++;
    return ESRA_OK;
}

static esra_status leave_out(struct judge *judge, int j, struct judgement *judgement)
{
    struct image predicted = {0}, shown = {0}, mask = {0};
    double kept = judge->confidence[j], count = 0;
    esra_status status;
    judge->confidence[j] = 0;
    TRY(solve(judge));
    TRY(esra_joint_predict(judge->joint, j, &predicted, &shown, &mask));
    TRY(keep_scatter(judge));
    double error = image_distance(judge, &shown, &predicted, 1, &mask, &count);
    if (count > 0) {
        judgement->error += error / count;
        judgement->baseline += nearest_photo(judge, j, &mask) / count;
    }
done:
    judge->confidence[j] = kept;
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&mask);
    return status;
}

static esra_status change_gain(struct judge *judge, double *gain, double error)
{
    double kept = *gain;
    esra_status status;
    *gain *= 1 + error;
    TRY(solve(judge));
    TRY(keep_scatter(judge));
done:
    *gain = kept;
    return status;
}

/* Photos at the size judged, and T by all of them. */
static esra_status look(struct judge *judge, struct judgement *judgement)
{
    struct image predicted = {0}, mask = {0}, seen = {0};
    esra_status status;
    TRY(solve(judge));
    TRY(esra_joint_transmitted(judge->joint, &judge->transmitted));
    TRY(esra_image_create(&judge->raw, judge->transmitted.width, judge->transmitted.height, 1,
                          judge->context->message));
    TRY(esra_image_create(&judge->difference, judge->transmitted.width, judge->transmitted.height,
                          judge->transmitted.channels, judge->context->message));
    TRY(esra_joint_seen(judge->joint, judge->reference, &seen));
    judgement->opposed = esra_gradients_opposed(&judge->transmitted, &seen);
    for (int i = 0; i < judge->photos; i++) {
        if (judge->confidence[i] == 0)
            continue;
        TRY(esra_joint_predict(judge->joint, i, &predicted, &judge->shown[i], &mask));
        esra_image_free(&predicted);
        esra_image_free(&mask);
    }
done:
    esra_image_free(&seen);
    return status;
}

/* doubt of the reflection, that is of what the reference photo shows beside T. */
static esra_status weigh(struct judge *judge, double factor, struct judgement *judgement)
{
    const struct image *shown = &judge->shown[judge->reference];
    struct image reflection;
    esra_status status;
    TRY(esra_image_create(&reflection, shown->width, shown->height, shown->channels, judge->context->message));
    for (size_t n = 0; n < samples(shown); n++)
        reflection.data[n] =
            shown->data[n] - (float)judge->mixing[judge->reference] * judge->transmitted.data[n];
    TRY(esra_doubt(&judgement->doubt, &reflection, judge->scatter, judge->replicates, factor, judge->context));
done:
    esra_image_free(&reflection);
    return status;
}

/* The jackknife's variance of m replicates is (m-1)/m of their squares' sum. It says how well m - 1 photos determine the
 * layers; m determine them better, by about the freedom left beside two layers: (m-2)/m of it was true of scenes with
 * m = 3 and 5. */
static esra_status leave_out_each(struct judge *judge, int m, struct judgement *judgement)
{
    esra_status status = ESRA_OK;
    for (int j = 0; j < judge->photos && !esra_context_stopping(judge->context); j++)
        if (judge->confidence[j] > 0)
            TRY(leave_out(judge, j, judgement));
    judgement->judged = true;
    judgement->error /= m;
    judgement->baseline /= m;
    TRY(weigh(judge, (double)(m - 1) * (m - 2) / ((double)m * m), judgement));
done:
    return status;
}

static esra_status change_gains(struct judge *judge, struct judgement *judgement)
{
    esra_status status = ESRA_OK;
    for (int j = 0; j < judge->photos && !esra_context_stopping(judge->context); j++) {
        if (judge->confidence[j] == 0 || j == judge->reference)
            continue;
        TRY(change_gain(judge, &judge->mixing[j], MIXING_ERROR));
        TRY(change_gain(judge, &judge->gain[j], GAIN_ERROR));
    }
    TRY(weigh(judge, 1, judgement));
done:
    return status;
}

static int prepare(struct judge *judge, const struct joint_model *model)
{
    int taking_part = 0;
    for (int i = 0; i < judge->photos; i++) {
        judge->mixing[i] = model->mixing[i];
        judge->gain[i] = model->reflection_gain[i];
        judge->confidence[i] = model->confidence && model->confidence[i] == 0 ? 0 : 1;
        taking_part += judge->confidence[i] > 0;
    }
    judge->model = (struct joint_model){.mixing = judge->mixing,
                                        .reflection_gain = judge->gain,
                                        .motion = model->motion,
                                        .maps = model->maps,
                                        .confidence = judge->confidence};
    return taking_part;
}

static esra_status make_room(struct judge *judge, const struct joint_photos *photos)
{
    const struct image *first = &photos->photos[0];
    size_t m = (size_t)photos->count;
    while ((first->width > first->height ? first->width : first->height) >> judge->level > JUDGED_SIDE)
        judge->level++;
    esra_joint_settings_default(&judge->settings);
    judge->confidence = esra_allocate(m, sizeof *judge->confidence);
    judge->mixing = esra_allocate(m, sizeof *judge->mixing);
    judge->gain = esra_allocate(m, sizeof *judge->gain);
    judge->shown = esra_allocate(m, sizeof *judge->shown);
    judge->scatter = esra_allocate(m, sizeof *judge->scatter);
    if (!judge->confidence || !judge->mixing || !judge->gain || !judge->shown || !judge->scatter)
        return esra_fail_memory(judge->context->message);
    return esra_joint_create(&judge->joint, photos, JOINT_MAX_LEVELS, judge->context);
}

static void clean_up(struct judge *judge)
{
    esra_joint_free(&judge->joint);
    esra_release(&judge->confidence);
    esra_release(&judge->mixing);
    esra_release(&judge->gain);
    esra_image_free(&judge->transmitted);
    esra_image_free(&judge->raw);
    esra_image_free(&judge->difference);
    esra_images_free(&judge->shown, judge->photos);
    esra_images_free(&judge->scatter, judge->photos);
}

esra_status esra_judge(struct judgement *judgement, const struct joint_photos *photos, const struct joint_model *model,
                       int reference, struct context *context)
{
    struct judge judge = {.context = context, .photos = photos->count, .reference = reference};
    esra_status status = ESRA_OK;
    *judgement = (struct judgement){0};
    TRY(make_room(&judge, photos));
    int taking_part = prepare(&judge, model);
    TRY(look(&judge, judgement));
    if (taking_part > 2)
        TRY(leave_out_each(&judge, taking_part, judgement));
    else if (taking_part == 2)
        TRY(change_gains(&judge, judgement));
done:
    clean_up(&judge);
    return status;
}

void esra_judgement_free(struct judgement *judgement)
{
    esra_image_free(&judgement->doubt);
}
