/* tools/esra/solve.h - what the files of esra solve share: one run of it. */
#ifndef ESRA_TOOL_SOLVE_H
#define ESRA_TOOL_SOLVE_H

#include "io/npy.h"
#include "options.h"

struct solve_options {
    char *mixtures, *gradients, *weights, *mixing, *output, *duals, *progress, *max_memory;
    bool json, quiet, keep_partial;
};

/* Everything a run holds, zeroed to begin with, freed as a whole. */
struct solve_job {
    struct solve_options options;
    esra_settings settings;
    struct message message;
    double most_bytes;
    struct npy_array mixtures, gradients, weights;
    int photos, width, height, channels;
    double *mixing;
    esra_image *mixture_views, *gradient_views, *weight_views, *layer_views, *dual_views;
    float *layers, *duals;
    size_t layer_shape[5], dual_shape[5]; /* of the output arrays */
    int dimensions;                       /* of the mixtures: 3, or 4 with channels */
    struct output outputs[2];             /* for layers and duals */
    int placed;                           /* of them */
    esra_info info;
};

/* solve_inputs.c: the arrays, read and found to fit together; then views of them and room for the answer. */
esra_status solve_read_arrays(struct solve_job *job);
esra_status solve_make_views(struct solve_job *job);

#endif
