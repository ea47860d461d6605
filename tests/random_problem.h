/* tests/random_problem.h - small problems as callers hand them in, filled at random. */
#ifndef ESRA_TESTS_RANDOM_PROBLEM_H
#define ESRA_TESTS_RANDOM_PROBLEM_H

#include <esra/esra.h>

#include "check.h"

#define MAX_PHOTOS 5

struct random_problem {
    int photos, width, height, channels;
    double mixing[MAX_PHOTOS];
    float *samples; /* owned; all the images below */
    esra_image mixtures[MAX_PHOTOS], weights[MAX_PHOTOS];
    esra_image gradients[2 * (MAX_PHOTOS + 1)], duals[2 * (MAX_PHOTOS + 1)];
    esra_image layers[MAX_PHOTOS + 1];
    esra_problem problem;
    esra_result result;
};

/* The next image of the block, interleaved or planar by turns, so that both layouts are always tried. */
static inline esra_image random_problem_image(const struct random_problem *r, float **at, int channels, int turn)
{
    esra_image image = turn % 2 ? esra_image_planar(*at, r->width, r->height, channels)
                                : esra_image_interleaved(*at, r->width, r->height, channels);
    *at += (size_t)r->width * (size_t)r->height * (size_t)channels;
    return image;
}

/* Mixtures uniform in [0,1], gradients in [-.2,.2]. Weights are there but not used until problem.weights is set to
 * them. */
static inline void random_problem_make(struct random_problem *r, int photos, int width, int height, int channels)
{
    size_t pixels = (size_t)width * (size_t)height, layers = (size_t)photos + 1;
    size_t count = pixels * ((size_t)channels * ((size_t)photos + 5 * layers) + (size_t)photos);
    memset(r, 0, sizeof *r);
    r->photos = photos;
    r->width = width;
    r->height = height;
    r->channels = channels;
    r->samples = calloc(count, sizeof *r->samples);
    check_fill(r->samples, count, 0, 1);
    float *at = r->samples;
    for (int i = 0; i < photos; i++) {
        r->mixing[i] = check_random(0.5, 1);
        r->mixtures[i] = random_problem_image(r, &at, channels, i);
        r->weights[i] = random_problem_image(r, &at, 1, i);
    }
    for (int l = 0; l <= photos; l++) {
        r->layers[l] = random_problem_image(r, &at, channels, l);
        for (int k = 2 * l; k < 2 * l + 2; k++) {
            float *start = at;
            r->gradients[k] = random_problem_image(r, &at, channels, k + 1);
            check_fill(start, pixels * (size_t)channels, -0.2, 0.2);
            r->duals[k] = random_problem_image(r, &at, channels, k);
        }
    }
    r->problem = (esra_problem)ESRA_PROBLEM_INIT;
    r->problem.photos = photos;
    r->problem.mixing = r->mixing;
    r->problem.mixtures = r->mixtures;
    r->problem.gradients = r->gradients;
    r->result = (esra_result)ESRA_RESULT_INIT;
    r->result.layers = r->layers;
    r->result.duals = r->duals;
}

static inline void random_problem_free(struct random_problem *r)
{
    free(r->samples);
    memset(r, 0, sizeof *r);
}

#endif
