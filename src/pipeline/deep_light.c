/* pipeline/deep_light.c - what lens and changing light do to the photos. A photo that layers explain is
 *
 *     I_i(x) = c_i(x) (a_i T(x) + b_i R(g_i x)) + o_i,
 *
 * c_i a quadratic polynomial near 1: vignetting moves over the scene with the camera, and light falls off. For layers
 * that are known c_i, o_i and b_i are a linear least-squares fit with the robust weights of the solve, held towards
 * what they are without it. */
#include "pipeline/deep_light.h"

#include <math.h>
#include <string.h>

#include "base/linear.h"
#include "base/memory.h"
#include "base/rows.h"
#include "pipeline/deep_layers.h"
#include "pipeline/thresholds.h"

/* Fitted where no side is longer: a polynomial does not need more. */
#define LIGHT_SIDE 200
/* Turns of solving and fitting. */
#define LIGHT_ROUNDS 3

enum { TERMS = 6, OFFSETS = 3, GAIN = TERMS + OFFSETS, UNKNOWNS = GAIN + 1 };

struct photo_light {
    double term[TERMS];     /* of c_i */
    double offset[OFFSETS]; /* o_i, of up to so many channels */
};

static void basis(double u, double v, double phi[TERMS])
{
    const double values[TERMS] = {1, u, v, u * u, u * v, v * v};
    memcpy(phi, values, sizeof values);
}

/* c_i at (x, y) of a frame, which lies in -1..1. */
static double gain_at(const struct photo_light *light, int x, int y, int width, int height)
{
    double phi[TERMS], sum = 0;
    basis((2 * x + 1.) / width - 1, (2 * y + 1.) / height - 1, phi);
    for (int k = 0; k < TERMS; k++)
        sum += light->term[k] * phi[k];
    return fmin(fmax(sum, .5), 2);
}

struct relighting {
    const struct image *photo;
    const struct photo_light *from, *to;
};

static void relight_block(void *work, int task, int worker)
{
    const struct relighting *r = work;
    const struct image *photo = r->photo;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, photo->height); y++)
        for (int x = 0; x < photo->width; x++) {
            double before = gain_at(r->from, x, y, photo->width, photo->height);
            double after = gain_at(r->to, x, y, photo->width, photo->height);
            for (int c = 0; c < photo->channels; c++) {
                float *value = plane_row(image_plane(photo, c), y) + x;
                int k = c < OFFSETS ? c : OFFSETS - 1;
                *value = (float)((*value * before + r->from->offset[k] - r->to->offset[k]) / after);
            }
        }
}

/* The aligned photo, out of which `from` was taken, with `to` taken out instead. */
static void relight(struct context *context, const struct image *photo, const struct photo_light *from,
                    const struct photo_light *to)
{
    esra_context_run(context, relight_block, &(struct relighting){photo, from, to}, rows_blocks(photo->height), NULL);
}

/* ---- One photo ---- */

/* A photo as the layers explain it, at a small size. */
struct explained {
    struct image predicted, shown, mask, seen, trust;
};

static void free_explained(struct explained *e)
{
    esra_image_free(&e->predicted);
    esra_image_free(&e->shown);
    esra_image_free(&e->mask);
    esra_image_free(&e->seen);
    esra_image_free(&e->trust);
}

struct fit {
    double matrix[UNKNOWNS * UNKNOWNS], right[UNKNOWNS];
};

static void add_sample(struct fit *fit, const double row[UNKNOWNS], double value, double weight)
{
    for (int p = 0; p < UNKNOWNS; p++) {
        for (int q = 0; q < UNKNOWNS; q++)
            fit->matrix[p * UNKNOWNS + q] += weight * row[p] * row[q];
        fit->right[p] += weight * row[p] * value;
    }
}

/* Adds pixel (x, y): c (a T + b R) + o + d R = I, the last an error of b. I is the photo as it was. */
static void add_pixel(struct fit *fit, const struct explained *e, const struct photo_light *light, int x, int y)
{
    int width = e->shown.width, height = e->shown.height;
    double phi[TERMS], gain = gain_at(light, x, y, width, height);
    double weight = (double)plane_row(image_plane(&e->trust, 0), y)[x] * plane_row(image_plane(&e->mask, 0), y)[x];
    basis((2 * x + 1.) / width - 1, (2 * y + 1.) / height - 1, phi);
    for (int c = 0; c < e->shown.channels && weight > 0; c++) {
        double row[UNKNOWNS] = {0}, model = plane_row(image_plane(&e->predicted, c), y)[x];
        int k = c < OFFSETS ? c : OFFSETS - 1;
        for (int p = 0; p < TERMS; p++)
            row[p] = phi[p] * model;
        row[TERMS + k] = 1;
        row[GAIN] = plane_row(image_plane(&e->seen, c), y)[x];
        add_sample(fit, row, plane_row(image_plane(&e->shown, c), y)[x] * gain + light->offset[k], weight);
    }
}

/* Held towards c = 1, o = 0 and the b that is there: so many times the energy of the photo. */
static bool solve_fit(struct fit *fit)
{
    double energy = fit->matrix[0];
    for (int p = 0; p < UNKNOWNS; p++) {
        double hold = pipeline_thresholds.light_hold * (p == 0 ? 0 : p == GAIN ? 3 : 1);
        fit->matrix[p * UNKNOWNS + p] += (hold + 1e-9) * energy;
    }
    return energy > 0 && esra_linear_solve(fit->matrix, fit->right, UNKNOWNS) && fit->right[0] > .5 &&
           fit->right[0] < 2;
}

/* The next light of photo i, and b_i. */
static esra_status fit_photo(struct model *model, const struct joint *joint, int i, struct photo_light *light)
{
    struct explained e = {0};
    struct fit fit = {0};
    esra_status status;
    TRY(esra_joint_predict(joint, i, &e.predicted, &e.shown, &e.mask));
    TRY(esra_joint_seen(joint, i, &e.seen));
    TRY(esra_joint_trust(joint, i, &e.trust));
    for (int y = 0; y < e.shown.height; y++)
        for (int x = 0; x < e.shown.width; x++)
            add_pixel(&fit, &e, light, x, y);
    if (solve_fit(&fit)) {
        double most = pipeline_thresholds.gain_ratio_most, a = model->mixing[i];
        double b = model->reflection_gain[i] * (1 + fit.right[GAIN] / fit.right[0]);
        memcpy(light->term, fit.right, sizeof light->term);
        memcpy(light->offset, fit.right + TERMS, sizeof light->offset);
        model->reflection_gain[i] = fmin(fmax(b, a / most), a * most);
    }
done:
    free_explained(&e);
    return status;
}

/* ---- All photos ---- */

struct lighting {
    struct photo_light *now; /* [photos]: what is taken out of each */
    double *gains;           /* [photos]: b_i before */
    double first, last;      /* the joint objective before and after */
};

static esra_status turn(struct lighting *lighting, struct model *model, const struct deep_prior *prior, int round,
                        struct context *context)
{
    struct joint *joint = NULL;
    struct joint_info info;
    esra_status status;
    TRY(esra_deep_solve_joint(model, &joint, model_halvings(model, LIGHT_SIDE), prior, &info, context));
    lighting->last = info.score;
    if (round == 0)
        lighting->first = info.score;
    for (int i = 0; i < model->photos && round < LIGHT_ROUNDS && !esra_context_stopping(context); i++) {
        struct photo_light before = lighting->now[i];
        if (!model_takes_part(model, i))
            continue;
        TRY(fit_photo(model, joint, i, &lighting->now[i]));
        relight(context, &model->aligned[i], &before, &lighting->now[i]);
    }
done:
    esra_joint_free(&joint);
    return status;
}

static void undo(const struct lighting *lighting, struct model *model, struct context *context)
{
    const struct photo_light none = {.term = {1}};
    for (int i = 0; i < model->photos; i++) {
        relight(context, &model->aligned[i], &lighting->now[i], &none);
        model->reflection_gain[i] = lighting->gains[i];
    }
}

esra_status esra_deep_fit_light(struct model *model, const struct deep_prior *prior, struct context *context)
{
    struct lighting lighting = {0};
    esra_status status = ESRA_OK;
    lighting.now = esra_allocate((size_t)model->photos, sizeof *lighting.now);
    lighting.gains = esra_allocate((size_t)model->photos, sizeof *lighting.gains);
    if (!lighting.now || !lighting.gains)
        TRY(esra_fail_memory(context->message));
    for (int i = 0; i < model->photos; i++) {
        lighting.now[i] = (struct photo_light){.term = {1}};
        lighting.gains[i] = model->reflection_gain[i];
    }
    for (int round = 0; round <= LIGHT_ROUNDS && !esra_context_stopping(context); round++)
        TRY(turn(&lighting, model, prior, round, context));
    if (!(lighting.last < lighting.first))
        undo(&lighting, model, context);
done:
    esra_release(&lighting.now);
    esra_release(&lighting.gains);
    return status;
}
