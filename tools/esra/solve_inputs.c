/* tools/esra/solve_inputs.c - what esra solve is given: arrays, and views of them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "memory.h"
#include "solve.h"

static esra_status parse_mixing(struct solve_job *job, const char *text)
{
    int count = 0;
    job->mixing = calloc((size_t)job->photos, sizeof *job->mixing);
    if (!job->mixing)
        return esra_fail_memory(&job->message);
    for (const char *at = text;; at++) {
        char *end;
        double value = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            return esra_fail(&job->message, ESRA_BAD_DATA, "--mixing '%s' is not a list of numbers such as 0.8,0.85",
                             text);
        if (count < job->photos)
            job->mixing[count] = value;
        count++;
        at = end;
        if (*at == '\0')
            break;
    }
    if (count != job->photos)
        return esra_fail(&job->message, ESRA_BAD_DATA,
                         "--mixing has %d coefficient(s), but %s holds %d photo(s): give one each", count,
                         job->options.mixtures, job->photos);
    return ESRA_OK;
}

static esra_status take_shape(struct solve_job *job, const struct npy_array *array)
{
    char text[256];
    esra_npy_describe(array, text, sizeof text);
    if (array->dimensions != 3 && array->dimensions != 4)
        return esra_fail(&job->message, ESRA_BAD_DATA, "mixtures %s have shape %s: (m,h,w) or (m,h,w,c) is needed",
                         job->options.mixtures, text);
    for (int n = 0; n < array->dimensions; n++)
        if (array->shape[n] > INT_MAX / 2)
            return esra_fail(&job->message, ESRA_OVER_LIMIT, "mixtures %s have shape %s: no side may exceed %d",
                             job->options.mixtures, text, INT_MAX / 2);
    job->dimensions = array->dimensions;
    job->photos = (int)array->shape[0];
    job->height = (int)array->shape[1];
    job->width = (int)array->shape[2];
    job->channels = array->dimensions == 4 ? (int)array->shape[3] : 1;
    return ESRA_OK;
}

/* All arrays of the command, in and out. */
static esra_status check_memory(struct solve_job *job)
{
    struct memory_shape shape = {job->photos, job->width, job->height, job->channels, false};
    double m = job->photos, c = job->channels, layers = (m + 1) * c;
    double given = m * c + 3 * layers + (job->options.weights ? m : 0) + (job->options.duals ? 2 * layers : 0);
    return memory_check_solve(&shape, given, &job->settings, job->most_bytes, &job->message);
}

/* The head of the mixtures tells the size of everything. */
static esra_status accept_mixtures(void *user, const struct npy_array *head)
{
    struct solve_job *job = user;
    esra_status status = take_shape(job, head);
    return status == ESRA_OK ? check_memory(job) : status;
}

/* An array that must fit the mixtures. */
struct wanted {
    struct solve_job *job;
    const char *what, *path;
    int dimensions;
    const size_t *shape;
};

static esra_status accept_shape(void *user, const struct npy_array *head)
{
    const struct wanted *w = user;
    struct npy_array wanted = {.dimensions = w->dimensions};
    char is[256], should[256], mixtures[256];
    size_t size = (size_t)w->dimensions * sizeof *w->shape;
    memcpy(wanted.shape, w->shape, size);
    if (head->dimensions == w->dimensions && memcmp(head->shape, w->shape, size) == 0)
        return ESRA_OK;
    esra_npy_describe(head, is, sizeof is);
    esra_npy_describe(&wanted, should, sizeof should);
    esra_npy_describe(&w->job->mixtures, mixtures, sizeof mixtures);
    return esra_fail(&w->job->message, ESRA_BAD_DATA, "%s %s have shape %s, but mixtures of shape %s need %s", w->what,
                     w->path, is, mixtures, should);
}

esra_status solve_read_arrays(struct solve_job *job)
{
    const struct solve_options *o = &job->options;
    esra_status status;
    TRY(esra_npy_read(&job->mixtures, o->mixtures, accept_mixtures, job, &job->message));
    TRY(parse_mixing(job, o->mixing));

    size_t m = (size_t)job->photos, h = (size_t)job->height, w = (size_t)job->width, c = (size_t)job->channels;
    memcpy(job->layer_shape, (size_t[5]){m + 1, h, w, c}, sizeof job->layer_shape);
    memcpy(job->dual_shape, (size_t[5]){m + 1, 2, h, w, c}, sizeof job->dual_shape);
    struct wanted gradients = {job, "gradients", o->gradients, job->dimensions + 1, job->dual_shape};
    struct wanted weights = {job, "weights", o->weights, 3, (size_t[]){m, h, w}};
    TRY(esra_npy_read(&job->gradients, o->gradients, accept_shape, &gradients, &job->message));
    if (o->weights)
        TRY(esra_npy_read(&job->weights, o->weights, accept_shape, &weights, &job->message));
done:
    return status;
}

/* ---- Views of the arrays ---- */

/* The image whose first sample stands `offset` floats in; first is the array's dimension that holds rows. */
static esra_image view(const struct solve_job *job, const struct npy_array *array, ptrdiff_t offset, int first,
                       int channels)
{
    bool has_channels = array->dimensions > first + 2;
    return (esra_image){array->data + offset,
                        job->width,
                        job->height,
                        channels,
                        array->stride[first + 1],
                        array->stride[first],
                        has_channels ? array->stride[first + 2] : 0};
}

esra_status solve_make_views(struct solve_job *job)
{
    size_t m = (size_t)job->photos, samples = (m + 1) * (size_t)job->channels;
    if (!esra_size_multiply(samples, (size_t)job->height, &samples) ||
        !esra_size_multiply(samples, (size_t)job->width, &samples))
        return esra_fail_memory(&job->message);
    job->mixture_views = calloc(m, sizeof(esra_image));
    job->weight_views = calloc(m, sizeof(esra_image));
    job->gradient_views = calloc(2 * (m + 1), sizeof(esra_image));
    job->layer_views = calloc(m + 1, sizeof(esra_image));
    job->dual_views = calloc(2 * (m + 1), sizeof(esra_image));
    job->layers = calloc(samples, sizeof(float));
    job->duals = job->options.duals ? calloc(samples, 2 * sizeof(float)) : NULL;
    if (!job->mixture_views || !job->weight_views || !job->gradient_views || !job->layer_views || !job->dual_views ||
        !job->layers || (job->options.duals && !job->duals))
        return esra_fail_memory(&job->message);

    size_t size = (size_t)job->width * (size_t)job->height * (size_t)job->channels;
    for (size_t i = 0; i < m; i++) {
        ptrdiff_t n = (ptrdiff_t)i;
        job->mixture_views[i] = view(job, &job->mixtures, n * job->mixtures.stride[0], 1, job->channels);
        if (job->options.weights)
            job->weight_views[i] = view(job, &job->weights, n * job->weights.stride[0], 1, 1);
    }
    for (size_t l = 0; l < 2 * (m + 1); l++) {
        ptrdiff_t layer = (ptrdiff_t)(l / 2), direction = (ptrdiff_t)(l % 2);
        job->gradient_views[l] =
            view(job, &job->gradients, layer * job->gradients.stride[0] + direction * job->gradients.stride[1], 2,
                 job->channels);
        if (job->duals)
            job->dual_views[l] = esra_image_interleaved(job->duals + l * size, job->width, job->height, job->channels);
    }
    for (size_t l = 0; l <= m; l++)
        job->layer_views[l] = esra_image_interleaved(job->layers + l * size, job->width, job->height, job->channels);
    return ESRA_OK;
}
