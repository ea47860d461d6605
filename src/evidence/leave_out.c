/* evidence/leave_out.c - leaves out one photo after the other, predicts it, and takes the jackknife's variance of T. */
#include "evidence/leave_out.h"

#include <math.h>

#include "base/memory.h"
#include "evidence/doubt.h"
#include "evidence/opposed.h"
#include "evidence/thresholds.h"
#include "ops/blur.h"

/* The weight of |R|^2 that leaves none of R. */
#define RIDGE_ALONE 1e3

struct trial {
    struct joint *joint;
    struct joint_model model;
    struct joint_settings settings;
    struct context *context;
    int photos, reference, level;
    bool alone;                         /* T is asked without R, too */
    double *confidence, *mixing, *gain; /* copies of the model's, which the trial varies */
    struct image *shown;                /* [photos] at the size of the trial */
    struct image transmitted;           /* T by all photos */
    struct image *scatter;              /* [photos]: T without photo j, less T */
    struct image raw, difference;       /* of two images: one channel, and all, smoothed */
    int replicates;
};

/* The length of a pixel's colour gradient. */
static float gradient_length(const struct image *image, int x, int y)
{
    size_t pixels = image_pixels(image), n = (size_t)y * (size_t)image->width + (size_t)x;
    float sum = 0;
    for (int c = 0; c < image->channels; c++) {
        const float *p = image->data + (size_t)c * pixels + n;
        float right = p[1] - p[0], down = p[image->width] - p[0];
        sum += right * right + down * down;
    }
    return sqrtf(sum);
}

/* difference = a - factor b where it is known, smoothed. */
static void subtract(struct trial *trial, const struct image *a, const struct image *b, double factor,
                     const struct image *mask)
{
    size_t pixels = image_pixels(a);
    for (int c = 0; c < a->channels; c++) {
        for (size_t n = 0; n < pixels; n++) {
            size_t k = (size_t)c * pixels + n;
            trial->raw.data[n] = mask->data[n] == 0 ? 0 : a->data[k] - (float)factor * b->data[k];
        }
        esra_blur(trial->context, image_plane(&trial->raw, 0), image_plane(&trial->difference, c),
                  evidence_thresholds.difference_blur_px);
    }
}

/* How far the gradients of a are from those of factor b: the sum of lengths over pixels that are known, and their
 * number. */
static double image_distance(struct trial *trial, const struct image *a, const struct image *b, double factor,
                             const struct image *mask, double *count)
{
    double sum = 0, known = 0;
    subtract(trial, a, b, factor, mask);
    for (int y = 0; y + 1 < a->height; y++)
        for (int x = 0; x + 1 < a->width; x++) {
            const float *m = plane_row(image_plane(mask, 0), y) + x;
            if (m[0] == 0 || m[1] == 0 || m[a->width] == 0)
                continue;
            sum += gradient_length(&trial->difference, x, y);
            known++;
        }
    *count = known;
    return sum;
}

/* The baseline: the least error of another photo put in the place of photo j. */
static double nearest_photo(struct trial *trial, int j, const struct image *mask)
{
    double least = INFINITY, count;
    for (int i = 0; i < trial->photos; i++)
        if (i != j && trial->shown[i].data)
            least = fmin(least, image_distance(trial, &trial->shown[j], &trial->shown[i],
                                               trial->mixing[j] / trial->mixing[i], mask, &count));
    return least;
}

static esra_status solve(struct trial *trial)
{
    struct joint_info info;
    return esra_joint_solve(trial->joint, &trial->model, &trial->settings, trial->level, &info);
}

/* One more replicate: the T just solved, less the T of all photos. */
static esra_status keep_scatter(struct trial *trial)
{
    struct image *scatter = &trial->scatter[trial->replicates];
    esra_status status = esra_joint_transmitted(trial->joint, scatter);
    if (status != ESRA_OK)
        return status;
    for (size_t n = 0; n < image_samples(scatter); n++)
        scatter->data[n] -= trial->transmitted.data[n];
    trial->replicates++;
    return ESRA_OK;
}

/* The error of photo j, which has no confidence now, as T of the others predicts it without any R. */
static esra_status predict_alone(struct trial *trial, int j, const struct image *mask, double *error)
{
    struct joint_settings settings = trial->settings;
    struct image predicted = {0}, shown = {0}, seen = {0};
    double count;
    esra_status status;
    trial->settings.ridge = RIDGE_ALONE;
    TRY(solve(trial));
    TRY(esra_joint_predict(trial->joint, j, &predicted, &shown, &seen));
    *error = image_distance(trial, &shown, &predicted, 1, mask, &count);
done:
    trial->settings = settings;
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&seen);
    return status;
}

static esra_status leave_out(struct trial *trial, int j, struct leave_out *result)
{
    struct image predicted = {0}, shown = {0}, mask = {0};
    double kept = trial->confidence[j], count = 0;
    esra_status status;
    trial->confidence[j] = 0;
    TRY(solve(trial));
    TRY(esra_joint_predict(trial->joint, j, &predicted, &shown, &mask));
    TRY(keep_scatter(trial));
    double error = image_distance(trial, &shown, &predicted, 1, &mask, &count);
    if (count > 0) {
        double alone = NAN;
        if (trial->alone)
            TRY(predict_alone(trial, j, &mask, &alone));
        result->error += error / count;
        result->alone += alone / count;
        result->baseline += nearest_photo(trial, j, &mask) / count;
    }
done:
    trial->confidence[j] = kept;
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&mask);
    return status;
}

static esra_status change_gain(struct trial *trial, double *gain, double error)
{
    double kept = *gain;
    esra_status status;
    *gain *= 1 + error;
    TRY(solve(trial));
    TRY(keep_scatter(trial));
done:
    *gain = kept;
    return status;
}

/* T by all photos, and the photos at the size of the trial. */
static esra_status use_all(struct trial *trial, struct leave_out *result)
{
    struct image predicted = {0}, mask = {0}, seen = {0};
    esra_status status;
    TRY(solve(trial));
    TRY(esra_joint_transmitted(trial->joint, &trial->transmitted));
    TRY(esra_image_create(&trial->raw, trial->transmitted.width, trial->transmitted.height, 1,
                          trial->context->message));
    TRY(esra_image_create(&trial->difference, trial->transmitted.width, trial->transmitted.height,
                          trial->transmitted.channels, trial->context->message));
    TRY(esra_joint_seen(trial->joint, trial->reference, &seen));
    result->opposed = esra_opposed(&trial->transmitted, &seen);
    for (int i = 0; i < trial->photos; i++) {
        if (trial->confidence[i] == 0)
            continue;
        TRY(esra_joint_predict(trial->joint, i, &predicted, &trial->shown[i], &mask));
        esra_image_free(&predicted);
        esra_image_free(&mask);
    }
done:
    esra_image_free(&predicted);
    esra_image_free(&mask);
    esra_image_free(&seen);
    return status;
}

/* What the replicates leave in doubt of the reflection, which is the reference photo less T. */
static esra_status weigh(struct trial *trial, double factor, struct leave_out *result)
{
    const struct image *shown = &trial->shown[trial->reference];
    struct image reflection;
    esra_status status;
    TRY(esra_image_create(&reflection, shown->width, shown->height, shown->channels, trial->context->message));
    for (size_t n = 0; n < image_samples(shown); n++)
        reflection.data[n] = shown->data[n] - (float)trial->mixing[trial->reference] * trial->transmitted.data[n];
    struct replicates replicates = {&reflection, trial->scatter, trial->replicates, factor};
    TRY(esra_doubt(trial->context, &replicates, &result->doubt));
done:
    esra_image_free(&reflection);
    return status;
}

/* The jackknife's variance of m replicates is (m-1)/m of the sum of their squares. That is the variance of layers from
 * m - 1 photos; m photos leave (m-2)/m of it, measured on scenes with m = 3 and 5 and known truth (doc/notes/judge.md).
 */
static esra_status leave_out_each(struct trial *trial, int m, struct leave_out *result)
{
    esra_status status = ESRA_OK;
    result->error = result->baseline = result->alone = 0;
    for (int j = 0; j < trial->photos && !esra_context_stopping(trial->context); j++)
        if (trial->confidence[j] > 0)
            TRY(leave_out(trial, j, result));
    result->error /= m;
    result->baseline /= m;
    result->alone /= m;
    TRY(weigh(trial, (double)(m - 1) * (m - 2) / ((double)m * m), result));
done:
    return status;
}

/* Two photos leave none to predict. The replicates are then solves with gains as wrong as gains may be. */
static esra_status change_gains(struct trial *trial, struct leave_out *result)
{
    esra_status status = ESRA_OK;
    for (int j = 0; j < trial->photos && !esra_context_stopping(trial->context); j++) {
        if (trial->confidence[j] == 0 || j == trial->reference)
            continue;
        TRY(change_gain(trial, &trial->mixing[j], evidence_thresholds.gain_error));
        TRY(change_gain(trial, &trial->gain[j], 2 * evidence_thresholds.gain_error));
    }
    TRY(weigh(trial, 1, result));
done:
    return status;
}

static int prepare(struct trial *trial, const struct joint_model *model)
{
    int taking_part = 0;
    for (int i = 0; i < trial->photos; i++) {
        trial->mixing[i] = model->mixing[i];
        trial->gain[i] = model->reflection_gain[i];
        trial->confidence[i] = model->confidence && model->confidence[i] == 0 ? 0 : 1;
        taking_part += trial->confidence[i] > 0;
    }
    trial->model = (struct joint_model){.mixing = trial->mixing,
                                        .reflection_gain = trial->gain,
                                        .motion = model->motion,
                                        .maps = model->maps,
                                        .confidence = trial->confidence};
    return taking_part;
}

static esra_status make_room(struct trial *trial, const struct joint_photos *photos)
{
    const struct image *first = &photos->photos[0];
    size_t m = (size_t)photos->count;
    while ((first->width > first->height ? first->width : first->height) >> trial->level > LEAVE_OUT_SIDE)
        trial->level++;
    esra_joint_settings_default(&trial->settings);
    trial->confidence = esra_allocate(m, sizeof *trial->confidence);
    trial->mixing = esra_allocate(m, sizeof *trial->mixing);
    trial->gain = esra_allocate(m, sizeof *trial->gain);
    trial->shown = esra_allocate(m, sizeof *trial->shown);
    trial->scatter = esra_allocate(m, sizeof *trial->scatter);
    if (!trial->confidence || !trial->mixing || !trial->gain || !trial->shown || !trial->scatter)
        return esra_fail_memory(trial->context->message);
    return esra_joint_create(&trial->joint, photos, JOINT_MAX_LEVELS, trial->context);
}

static void clean_up(struct trial *trial)
{
    esra_joint_free(&trial->joint);
    esra_release(&trial->confidence);
    esra_release(&trial->mixing);
    esra_release(&trial->gain);
    esra_image_free(&trial->transmitted);
    esra_image_free(&trial->raw);
    esra_image_free(&trial->difference);
    esra_images_free(&trial->shown, trial->photos);
    esra_images_free(&trial->scatter, trial->photos);
}

esra_status esra_leave_out(struct context *context, const struct joint_photos *photos, const struct joint_model *model,
                           int reference, bool alone, struct leave_out *result)
{
    struct trial trial = {.context = context, .photos = photos->count, .reference = reference, .alone = alone};
    esra_status status = ESRA_OK;
    *result = (struct leave_out){.error = NAN, .baseline = NAN, .alone = NAN};
    TRY(make_room(&trial, photos));
    int taking_part = prepare(&trial, model);
    TRY(use_all(&trial, result));
    if (taking_part > 2)
        TRY(leave_out_each(&trial, taking_part, result));
    else if (taking_part == 2)
        TRY(change_gains(&trial, result));
done:
    clean_up(&trial);
    return status;
}

void esra_leave_out_free(struct leave_out *result)
{
    esra_image_free(&result->doubt);
}
