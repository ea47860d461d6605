/* evidence/leave_out.c - leaves out one photo after the other, predicts it, and takes the jackknife's variance of T. */
#include "evidence/leave_out.h"

#include <math.h>

#include "base/memory.h"
#include "evidence/doubt.h"
#include "evidence/opposed.h"
#include "evidence/thresholds.h"
#include "ops/blur.h"

/* T alone is found pixel by pixel, in a few iterations a reweighing. */
#define ITERATIONS_ALONE 15

/* At the finest level, where the effort is brief: with what is enough for layers errors rise by up to .06, and photos
 * that tell R seem not to (doc/notes/judge.md). */
static const struct joint_effort brief_effort = {.reweighings = 5, .iterations = 10};

/* The joint solution of all photos, at the size at which photos are left out, and what its replicates share. */
struct trial {
    struct joint *joint;
    struct joint_model model;
    struct joint_settings settings;
    struct context *context;
    int photos, reference, level;
    int halvings;             /* of LEAVE_OUT_SIDE, in whose px thresholds are */
    bool alone, doubt;        /* as in the options */
    double *confidence;       /* [photos]: 1, or 0 where a photo takes no part */
    struct image *shown;      /* [photos]: the photos at that size */
    struct image transmitted; /* T by all photos */
};

/* One more solve with something changed: without photo j, or with a gain a little wrong. */
struct replicate {
    const struct trial *trial;
    struct context *context;
    struct joint *joint;
    struct joint_model model;
    double *confidence, *mixing, *gain; /* [photos]: of the model */
    int left_out;                       /* photo j, or -1 */
    struct image *scatter;              /* T less the T of all photos */
    struct image raw, difference;       /* of two images: one channel, and all, smoothed */
    double error, baseline, alone;      /* of photo j, a pixel; 0 where nothing of it is predicted */
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
static void subtract(struct replicate *replicate, const struct image *a, const struct image *b, double factor,
                     const struct image *mask)
{
    size_t pixels = image_pixels(a);
    for (int c = 0; c < a->channels; c++) {
        for (size_t n = 0; n < pixels; n++) {
            size_t k = (size_t)c * pixels + n;
            replicate->raw.data[n] = mask->data[n] == 0 ? 0 : a->data[k] - (float)factor * b->data[k];
        }
        esra_blur(replicate->context, image_plane(&replicate->raw, 0), image_plane(&replicate->difference, c),
                  ldexp(evidence_thresholds.difference_blur_px, -replicate->trial->halvings));
    }
}

/* How far the gradients of a are from those of factor b: the sum of lengths over pixels that are known, and their
 * number. */
static double image_distance(struct replicate *replicate, const struct image *a, const struct image *b, double factor,
                             const struct image *mask, double *count)
{
    double sum = 0, known = 0;
    subtract(replicate, a, b, factor, mask);
    for (int y = 0; y + 1 < a->height; y++)
        for (int x = 0; x + 1 < a->width; x++) {
            const float *m = plane_row(image_plane(mask, 0), y) + x;
            if (m[0] == 0 || m[1] == 0 || m[a->width] == 0)
                continue;
            sum += gradient_length(&replicate->difference, x, y);
            known++;
        }
    *count = known;
    return sum;
}

/* The baseline: the least error of another photo put in the place of photo j. */
static double nearest_photo(struct replicate *replicate, int j, const struct image *mask)
{
    const struct trial *trial = replicate->trial;
    const double *mixing = trial->model.mixing;
    double least = INFINITY, count;
    for (int i = 0; i < trial->photos; i++)
        if (i != j && trial->shown[i].data)
            least = fmin(least, image_distance(replicate, &trial->shown[j], &trial->shown[i], mixing[j] / mixing[i],
                                               mask, &count));
    return least;
}

static esra_status solve(struct replicate *replicate, const struct joint_settings *settings)
{
    struct joint_info info;
    return esra_joint_solve(replicate->joint, &replicate->model, settings, replicate->trial->level, &info);
}

static esra_status keep_scatter(struct replicate *replicate)
{
    const struct image *transmitted = &replicate->trial->transmitted;
    esra_status status = esra_joint_transmitted(replicate->joint, replicate->scatter);
    for (size_t n = 0; status == ESRA_OK && n < image_samples(transmitted); n++)
        replicate->scatter->data[n] -= transmitted->data[n];
    return status;
}

/* T of the others without any R. */
static esra_status forget_reflection(struct replicate *replicate)
{
    struct joint_settings settings;
    struct joint_info info;
    esra_joint_settings_default(&settings);
    settings.alone = true;
    settings.iterations = ITERATIONS_ALONE;
    return replicate->trial->halvings > 0 ? esra_joint_resume(replicate->joint, &replicate->model, &settings, &info)
                                          : solve(replicate, &settings);
}

/* The error of photo j as T of the others predicts it without any R. */
static esra_status predict_alone(struct replicate *replicate, const struct image *mask)
{
    struct image predicted = {0}, shown = {0}, seen = {0};
    double count;
    esra_status status;
    TRY(forget_reflection(replicate));
    TRY(esra_joint_predict(replicate->joint, replicate->left_out, &predicted, &shown, &seen));
    replicate->alone = image_distance(replicate, &shown, &predicted, 1, mask, &count) / count;
done:
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&seen);
    return status;
}

/* The errors of photo j, which has no confidence. */
static esra_status predict(struct replicate *replicate)
{
    int j = replicate->left_out;
    struct image predicted = {0}, shown = {0}, mask = {0};
    double count = 0;
    esra_status status;
    TRY(esra_joint_predict(replicate->joint, j, &predicted, &shown, &mask));
    double error = image_distance(replicate, &shown, &predicted, 1, &mask, &count);
    if (count > 0) {
        replicate->error = error / count;
        replicate->baseline = nearest_photo(replicate, j, &mask) / count;
        if (replicate->trial->alone)
            TRY(predict_alone(replicate, &mask));
    }
done:
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&mask);
    return status;
}

/* Copies of the trial's model, to be changed. */
static esra_status copy_model(struct replicate *replicate, const struct trial *trial, struct message *message)
{
    size_t m = (size_t)trial->photos;
    replicate->trial = trial;
    replicate->left_out = -1;
    replicate->confidence = esra_allocate(3 * m, sizeof *replicate->confidence);
    if (!replicate->confidence)
        return esra_fail_memory(message);
    replicate->mixing = replicate->confidence + m;
    replicate->gain = replicate->mixing + m;
    for (int i = 0; i < trial->photos; i++) {
        replicate->confidence[i] = trial->confidence[i];
        replicate->mixing[i] = trial->model.mixing[i];
        replicate->gain[i] = trial->model.reflection_gain[i];
    }
    replicate->model = trial->model;
    replicate->model.confidence = replicate->confidence;
    replicate->model.mixing = replicate->mixing;
    replicate->model.reflection_gain = replicate->gain;
    return ESRA_OK;
}

/* A job of esra_context_side_by_side(). */
static esra_status solve_replicate(void *work, int number, struct context *own)
{
    struct replicate *replicate = (struct replicate *)work + number;
    const struct trial *trial = replicate->trial;
    const struct image *like = &trial->transmitted;
    esra_status status = ESRA_OK;
    if (esra_context_stopping(own))
        return ESRA_OK;
    replicate->context = own;
    TRY(esra_joint_share(&replicate->joint, trial->joint, own));
    TRY(esra_image_create(&replicate->raw, like->width, like->height, 1, own->message));
    TRY(esra_image_create(&replicate->difference, like->width, like->height, like->channels, own->message));
    TRY(solve(replicate, &trial->settings));
    if (trial->doubt)
        TRY(keep_scatter(replicate));
    if (replicate->left_out >= 0)
        TRY(predict(replicate));
done:
    esra_joint_free(&replicate->joint);
    esra_image_free(&replicate->raw);
    esra_image_free(&replicate->difference);
    return status;
}

/* T by all photos, and the photos at the size of the trial. */
static esra_status use_all(struct trial *trial, struct leave_out *result)
{
    struct image predicted = {0}, mask = {0}, seen = {0};
    struct joint_settings settings = trial->settings;
    struct joint_info info;
    esra_status status;
    if (!trial->doubt) { /* T is not asked for */
        settings.reweighings = settings.coarse_effort = settings.iterations = settings.iterations_flat = 1;
        settings.fine = settings.next = (struct joint_effort){0};
    }
    TRY(esra_joint_solve(trial->joint, &trial->model, &settings, trial->level, &info));
    TRY(esra_joint_transmitted(trial->joint, &trial->transmitted));
    TRY(esra_joint_seen(trial->joint, trial->reference, &seen));
    if (trial->doubt)
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

/* All replicates. */
struct replication {
    struct replicate *each; /* [most] */
    struct image *scatter;  /* [most] */
    int count, most;
    double factor; /* of the variance: see evidence/doubt.h */
};

/* The next replicate: like the model until it is changed. */
static esra_status add_replicate(struct replication *replication, const struct trial *trial, struct replicate **added)
{
    int n = replication->count;
    *added = &replication->each[n];
    (*added)->scatter = &replication->scatter[n];
    replication->count++;
    return copy_model(*added, trial, trial->context->message);
}

/* Wiener shrinkage of the reflection, the reference photo less a T, by the replicates' variance: the part taken off. */
static esra_status shrink_reflection(struct trial *trial, const struct replication *replication,
                                     struct leave_out *result)
{
    const struct image *shown = &trial->shown[trial->reference];
    struct image reflection;
    esra_status status;
    TRY(esra_image_create(&reflection, shown->width, shown->height, shown->channels, trial->context->message));
    for (size_t n = 0; n < image_samples(shown); n++)
        reflection.data[n] = shown->data[n] - (float)trial->model.mixing[trial->reference] * trial->transmitted.data[n];
    struct replicates replicates = {&reflection, replication->scatter, replication->count, replication->factor,
                                    trial->halvings};
    TRY(esra_doubt(trial->context, &replicates, &result->doubt));
done:
    esra_image_free(&reflection);
    return status;
}

/* The jackknife's variance of m replicates is (m-1)/m of the sum of their squares. That is the variance of layers from
 * m - 1 photos; m photos leave (m-2)/m of it, measured on scenes with m = 3 and 5 and known truth (doc/notes/judge.md).
 */
static esra_status leave_out_each(struct replication *replication, const struct trial *trial, int m)
{
    esra_status status = ESRA_OK;
    for (int j = 0; j < trial->photos; j++) {
        struct replicate *replicate;
        if (trial->confidence[j] == 0)
            continue;
        TRY(add_replicate(replication, trial, &replicate));
        replicate->left_out = j;
        replicate->confidence[j] = 0;
    }
    replication->factor = (double)(m - 1) * (m - 2) / ((double)m * m);
done:
    return status;
}

/* Two photos leave none to predict. The replicates are then solves with gains as wrong as gains may be. */
static esra_status change_gains(struct replication *replication, const struct trial *trial)
{
    esra_status status = ESRA_OK;
    for (int j = 0; j < trial->photos; j++) {
        struct replicate *replicate;
        if (trial->confidence[j] == 0 || j == trial->reference)
            continue;
        TRY(add_replicate(replication, trial, &replicate));
        replicate->mixing[j] *= 1 + evidence_thresholds.gain_error;
        TRY(add_replicate(replication, trial, &replicate));
        replicate->gain[j] *= 1 + 2 * evidence_thresholds.gain_error;
    }
    replication->factor = 1;
done:
    return status;
}

/* Means over the photos left out. */
static void sum_up(const struct replication *replication, int m, struct leave_out *result)
{
    result->error = result->baseline = result->alone = 0;
    for (int n = 0; n < replication->count; n++) {
        result->error += replication->each[n].error / m;
        result->baseline += replication->each[n].baseline / m;
        result->alone += replication->each[n].alone / m;
    }
}

static void free_replicates(struct replication *replication)
{
    for (int n = 0; n < replication->count; n++)
        esra_release(&replication->each[n].confidence);
    esra_release(&replication->each);
    esra_images_free(&replication->scatter, replication->most);
}

static esra_status replicate(struct trial *trial, int taking_part, struct leave_out *result)
{
    struct replication replication = {.most = taking_part};
    esra_status status = ESRA_OK;
    replication.each = esra_allocate((size_t)taking_part, sizeof *replication.each);
    replication.scatter = esra_allocate((size_t)taking_part, sizeof *replication.scatter);
    if (!replication.each || !replication.scatter)
        TRY(esra_fail_memory(trial->context->message));
    TRY(taking_part > 2 ? leave_out_each(&replication, trial, taking_part) : change_gains(&replication, trial));
    TRY(esra_context_side_by_side(trial->context, solve_replicate, replication.each, replication.count));
    if (esra_context_stopping(trial->context))
        goto done; /* not all replicates have been solved */
    if (taking_part > 2)
        sum_up(&replication, taking_part, result);
    if (!trial->alone)
        result->alone = NAN;
    if (trial->doubt)
        TRY(shrink_reflection(trial, &replication, result));
done:
    free_replicates(&replication);
    return status;
}

/* Whole confidence in every photo that takes part; returns their number. */
static int prepare(struct trial *trial, const struct joint_model *model)
{
    int taking_part = 0;
    for (int i = 0; i < trial->photos; i++) {
        trial->confidence[i] = model->confidence && model->confidence[i] == 0 ? 0 : 1;
        taking_part += trial->confidence[i] > 0;
    }
    trial->model = *model;
    trial->model.confidence = trial->confidence;
    trial->model.expected = NULL;
    return taking_part;
}

static esra_status make_room(struct trial *trial, const struct joint_photos *photos,
                             const struct leave_out_options *options)
{
    const struct image *first = &photos->photos[0];
    size_t m = (size_t)photos->count;
    int level = image_halvings(first->width, first->height, LEAVE_OUT_SIDE);
    trial->level = image_halvings(first->width, first->height, LEAVE_OUT_SIDE >> options->halvings);
    trial->halvings = trial->level - level;
    esra_joint_settings_default(&trial->settings);
    if (options->brief) {
        esra_joint_settings_brief(&trial->settings);
        trial->settings.fine = brief_effort;
    }
    trial->confidence = esra_allocate(m, sizeof *trial->confidence);
    trial->shown = esra_allocate(m, sizeof *trial->shown);
    if (!trial->confidence || !trial->shown)
        return esra_fail_memory(trial->context->message);
    return esra_joint_create(&trial->joint, photos, JOINT_MAX_LEVELS, trial->context);
}

static void clean_up(struct trial *trial)
{
    esra_joint_free(&trial->joint);
    esra_release(&trial->confidence);
    esra_image_free(&trial->transmitted);
    esra_images_free(&trial->shown, trial->photos);
}

esra_status esra_leave_out(struct context *context, const struct joint_photos *photos, const struct joint_model *model,
                           const struct leave_out_options *options, struct leave_out *result)
{
    struct trial trial = {.context = context,
                          .photos = photos->count,
                          .reference = options->reference,
                          .alone = options->alone,
                          .doubt = options->doubt};
    esra_status status = ESRA_OK;
    *result = (struct leave_out){.error = NAN, .baseline = NAN, .alone = NAN, .opposed = NAN};
    TRY(make_room(&trial, photos, options));
    int taking_part = prepare(&trial, model);
    TRY(use_all(&trial, result));
    if (taking_part >= 2)
        TRY(replicate(&trial, taking_part, result));
done:
    clean_up(&trial);
    return status;
}

void esra_leave_out_free(struct leave_out *result)
{
    esra_image_free(&result->doubt);
}
