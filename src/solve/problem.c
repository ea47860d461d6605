/* solve/problem.c - checks a caller's problem, down to every sample. */
#include "solve/problem.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>

#include "base/memory.h"
#include "base/plane.h"

/* Data this large is mis-scaled (8 or 16 bit code values at most reach 65535); squares of it still sum in double and
 * differences still fit in float. */

/* A caller built before starts existed has a struct that ends here. */
#define OLDEST_PROBLEM offsetof(esra_problem, start_layers)

/* One of the caller's images, and what messages call it. */
struct named {
    const esra_image *image;
    const char *what;
    int number;
};

static esra_status check_shape(struct named named, const struct problem *like, int channels, struct message *message)
{
    const esra_image *image = named.image;
    if (!image->data)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "%s %d has no data: its pointer is NULL", named.what,
                         named.number);
    if (image->width != like->width || image->height != like->height || image->channels != channels)
        return esra_fail(message, ESRA_BAD_DATA,
                         "%s %d is %d x %d with %d channel(s), but %d x %d with %d is needed: bring all to one size",
                         named.what, named.number, image->width, image->height, image->channels, like->width,
                         like->height, channels);
    return ESRA_OK;
}

/* Whether a row's samples are all in [lowest, highest], and so finite: without a way out of the loop it is vectors
 * where they stand side by side. */
static bool row_is_good(const float *row, ptrdiff_t stride, int width, float lowest, float highest)
{
    int good = 1;
    if (stride == 1)
        for (int x = 0; x < width; x++)
            good &= (row[x] >= lowest) & (row[x] <= highest);
    else
        for (int x = 0; x < width; x++)
            good &= (row[x * stride] >= lowest) & (row[x * stride] <= highest);
    return good;
}

/* The first width x height samples of every channel must be finite and in [lowest, highest]. */
static esra_status check_samples(struct named named, int width, int height, float lowest, float highest,
                                 struct message *message)
{
    const esra_image *image = named.image;
    for (int c = 0; c < image->channels; c++)
        for (int y = 0; y < height; y++) {
            if (row_is_good(image_sample(image, 0, y, c), image->column_stride, width, lowest, highest))
                continue;
            for (int x = 0; x < width; x++) {
                float value = *image_sample(image, x, y, c);
                if (value >= lowest && value <= highest)
                    continue;
                if (isnan(value) || isinf(value))
                    return esra_fail(message, ESRA_BAD_DATA,
                                     "%s %d holds %f at row %d, column %d: replace what is not a finite number",
                                     named.what, named.number, (double)value, y, x);
                return esra_fail(message, ESRA_BAD_DATA,
                                 "%s %d holds %g at row %d, column %d: values must lie in [%g, %g]; rescale them",
                                 named.what, named.number, (double)value, y, x, (double)lowest, (double)highest);
            }
        }
    return ESRA_OK;
}

static esra_status check_sizes(struct problem *out, struct message *message)
{
    const esra_image *first = &out->mixtures[0];
    out->width = first->width;
    out->height = first->height;
    out->channels = first->channels;
    if (out->width < 1 || out->height < 1 || out->channels < 1)
        return esra_fail(message, ESRA_BAD_DATA, "mixtures are %d x %d with %d channel(s): each must be at least 1",
                         out->width, out->height, out->channels);
    size_t samples;
    if (!esra_size_multiply((size_t)out->width, (size_t)out->height, &out->pixels) ||
        !esra_size_multiply(out->pixels, (size_t)out->channels, &samples) ||
        !esra_size_multiply(samples, (size_t)out->layers, &samples) ||
        !esra_size_multiply(samples, sizeof(float), &samples) ||
        (size_t)out->channels * (size_t)out->layers > INT_MAX / 4 ||
        (size_t)out->channels * (size_t)out->height > INT_MAX / 4)
        return esra_fail(message, ESRA_OVER_LIMIT, "the layers of this problem need more memory than can be addressed");
    return ESRA_OK;
}

static esra_status check_mixing(struct problem *out, struct message *message)
{
    out->data_norm_squared = 1;
    for (int i = 0; i < out->photos; i++) {
        double a = out->mixing[i];
        if (!(a >= 0 && a <= PROBLEM_LARGEST_MIXING))
            return esra_fail(message, ESRA_BAD_DATA, "mixing coefficient %d is %g: it must lie in [0, %g]", i + 1, a,
                             PROBLEM_LARGEST_MIXING);
        out->data_norm_squared += a * a;
    }
    return ESRA_OK;
}

static esra_status check_photos(const struct problem *problem, struct message *message)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < problem->photos; i++) {
        struct named mixture = {&problem->mixtures[i], "mixture", i + 1};
        TRY(check_shape(mixture, problem, problem->channels, message));
        TRY(check_samples(mixture, problem->width, problem->height, -PROBLEM_LARGEST, PROBLEM_LARGEST, message));
        if (!problem->weights)
            continue;
        struct named weight = {&problem->weights[i], "weight map", i + 1};
        TRY(check_shape(weight, problem, 1, message));
        TRY(check_samples(weight, problem->width, problem->height, 0, 1, message));
    }
done:
    return status;
}

/* Votes on gradients; codes of layers cannot be too large. */
static esra_status check_expected(const struct problem *problem, struct message *message)
{
    const struct expectation *expected = &problem->expected;
    for (int n = 0; !expected->layers && n < 2 * problem->channels; n++)
        for (size_t at = 0; at < problem->pixels; at++)
            if (fabsf(expected->voted[n].data[at]) > PROBLEM_LARGEST)
                return esra_fail(message, ESRA_BAD_DATA, "an expected gradient is %g: photos must be rescaled",
                                 (double)expected->voted[n].data[at]);
    return ESRA_OK;
}

static esra_status check_gradients(const struct problem *problem, struct message *message)
{
    static const char *const names[2] = {"vertical gradient of layer", "horizontal gradient of layer"};
    esra_status status = ESRA_OK;
    if (!problem->gradients)
        return check_expected(problem, message);
    for (int n = 0; n < 2 * problem->layers; n++) {
        int horizontal = n % 2;
        struct named gradient = {&problem->gradients[n], names[horizontal], n / 2};
        TRY(check_shape(gradient, problem, problem->channels, message));
        TRY(check_samples(gradient, problem->width - horizontal, problem->height - !horizontal, -PROBLEM_LARGEST,
                          PROBLEM_LARGEST, message));
    }
done:
    return status;
}

static esra_status check_start(const struct problem *problem, struct message *message)
{
    esra_status status = ESRA_OK;
    for (int n = 0; problem->start_layers && n < 3 * problem->layers; n++) {
        int field = n - problem->layers, horizontal = field >= 0 && field % 2, vertical = field >= 0 && !horizontal;
        struct named start = field < 0 ? (struct named){&problem->start_layers[n], "start layer", n}
                                       : (struct named){&problem->start_duals[field], "start dual of layer", field / 2};
        TRY(check_shape(start, problem, problem->channels, message));
        TRY(check_samples(start, problem->width - horizontal, problem->height - vertical, -PROBLEM_LARGEST,
                          PROBLEM_LARGEST, message));
    }
done:
    return status;
}

static esra_status check_result(const struct problem *problem, const esra_result *result, struct message *message)
{
    esra_status status = ESRA_OK;
    for (int l = 0; l < problem->layers; l++)
        TRY(check_shape((struct named){&result->layers[l], "result layer", l}, problem, problem->channels, message));
    for (int n = 0; result->duals && n < 2 * problem->layers; n++)
        TRY(check_shape((struct named){&result->duals[n], "result dual of layer", n / 2}, problem, problem->channels,
                        message));
done:
    return status;
}

/* Columns that a sum over differences looks at at once. */
#define CHUNK 64

static void given_gradients(const struct problem *problem, int n, int channel, int x, int y, int columns, float *out)
{
    const esra_image *image = &problem->gradients[n];
    const float *from = image_sample(image, x, y, channel);
    for (int c = 0; c < columns; c++)
        out[c] = from[c * image->column_stride];
}

/* A difference with NaN on either side is NaN. */
static void layer_gradients(const struct problem *problem, int n, int channel, int x, int y, int columns, float *out)
{
    const struct codes *layer = &problem->expected.layers[channel * problem->layers + n / 2];
    size_t at = (size_t)y * (size_t)layer->width + (size_t)x, apart = n % 2 ? 1 : (size_t)layer->width;
    for (int c = 0, count; c < columns; c += count) {
        float here[CHUNK], there[CHUNK];
        count = columns - c < CHUNK ? columns - c : CHUNK;
        esra_codes_load(layer, at + (size_t)c, here, (size_t)count);
        esra_codes_load(layer, at + (size_t)c + apart, there, (size_t)count);
        for (int k = 0; k < count; k++) {
            float difference = there[k] - here[k];
            out[c + k] = difference == difference ? difference : 0;
        }
    }
}

static void voted_gradients(const struct problem *problem, int n, int channel, int x, int y, int columns, float *out)
{
    const struct image *voted = &problem->expected.voted[2 * channel + n % 2];
    const float *scene = voted->data + (size_t)y * (size_t)voted->width + x;
    int i = n / 2 - 1, right = n % 2, down = !right;
    float a = n < 2 ? 0 : (float)problem->mixing[i];
    for (int c = 0; c < columns; c++) {
        if (n < 2) {
            out[c] = scene[c];
            continue;
        }
        bool seen = *image_sample(&problem->weights[i], x + c, y, 0) > 0 &&
                    *image_sample(&problem->weights[i], x + c + right, y + down, 0) > 0;
        float difference = *image_sample(&problem->mixtures[i], x + c + right, y + down, channel) -
                           *image_sample(&problem->mixtures[i], x + c, y, channel);
        out[c] = seen ? difference - a * scene[c] : 0;
    }
}

void esra_problem_gradients(const struct problem *problem, int n, int channel, int x, int y, int columns, float *out)
{
    int right = n % 2, there = problem->width - right - x;
    for (; columns > 0 && (columns > there || (!right && y == problem->height - 1)); columns--)
        out[columns - 1] = 0;
    if (problem->gradients)
        given_gradients(problem, n, channel, x, y, columns, out);
    else if (problem->expected.layers)
        layer_gradients(problem, n, channel, x, y, columns, out);
    else
        voted_gradients(problem, n, channel, x, y, columns, out);
}

void esra_problem_weights(const struct problem *problem, int i, int x, int y, int columns, float *out)
{
    if (!problem->weights) {
        esra_codes_load(&problem->expected.weights[i], (size_t)y * (size_t)problem->width + (size_t)x, out,
                        (size_t)columns);
        return;
    }
    const float *from = image_sample(&problem->weights[i], x, y, 0);
    for (int c = 0; c < columns; c++)
        out[c] = from[c * problem->weights[i].column_stride];
}

void esra_problem_release(const struct problem *problem, int channel)
{
    const struct expectation *expected = &problem->expected;
    for (int l = 0; expected->layers && l < problem->layers; l++)
        esra_codes_free(&expected->layers[channel * problem->layers + l]);
    for (int n = 0; expected->voted && n < 2; n++)
        esra_image_free(&expected->voted[2 * channel + n]);
}

void esra_problem_release_weight(const struct problem *problem, int i)
{
    if (problem->expected.weights)
        esra_codes_free(&problem->expected.weights[i]);
}

static double row_energy(const struct problem *problem, int i, int channel, int y)
{
    const esra_image *mixture = &problem->mixtures[i];
    double energy = 0;
    for (int x = 0; x < problem->width; x += CHUNK) {
        int columns = problem->width - x < CHUNK ? problem->width - x : CHUNK;
        const float *from = image_sample(mixture, x, y, channel);
        float weights[CHUNK];
        if (problem_is_weighted(problem))
            esra_problem_weights(problem, i, x, y, columns, weights);
        for (int c = 0; c < columns; c++) {
            double value = from[c * mixture->column_stride], weight = problem_is_weighted(problem) ? weights[c] : 1;
            energy += 0.5 * weight * value * value;
        }
    }
    return energy;
}

/* 1/2 sum w I^2, the data term of black layers. */
static double data_energy(const struct problem *problem)
{
    double energy = 0;
    for (int i = 0; i < problem->photos; i++)
        for (int c = 0; c < problem->channels; c++)
            for (int y = 0; y < problem->height; y++)
                energy += row_energy(problem, i, c, y);
    return energy;
}

static int row_slopes(const struct problem *problem, int n, int channel, int y)
{
    float row[CHUNK];
    int count = 0;
    for (int x = 0; x < problem->width; x += CHUNK) {
        int columns = problem->width - x < CHUNK ? problem->width - x : CHUNK;
        esra_problem_gradients(problem, n, channel, x, y, columns, row);
        for (int c = 0; c < columns; c++)
            count += row[c] != 0;
    }
    return count;
}

/* Differences whose extracted gradient is not zero. Those that are zero can be met exactly. */
static double slopes(const struct problem *problem)
{
    double count = 0;
    for (int n = 0; n < 2 * problem->layers; n++)
        for (int c = 0; c < problem->channels; c++)
            for (int y = 0; y < problem->height; y++)
                count += row_slopes(problem, n, c, y);
    return count;
}

esra_status esra_problem_check(struct problem *out, const esra_problem *problem, const struct expectation *expected,
                               const esra_result *result, double lambda, struct message *message)
{
    esra_status status = ESRA_OK;
    if (!problem || problem->struct_size < OLDEST_PROBLEM || !result || result->struct_size < sizeof *result)
        return esra_fail(message, ESRA_BAD_ARGUMENT,
                         "problem or result was not initialised: begin with ESRA_PROBLEM_INIT and ESRA_RESULT_INIT");
    if (!problem->mixing || !problem->mixtures ||
        (!problem->gradients && !expected->layers && !(expected->voted && problem->weights)))
        return esra_fail(message, ESRA_BAD_ARGUMENT, "a problem needs mixing coefficients, mixtures and gradients");
    if (!result->layers)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "a result needs room for the layers");
    if (problem->photos < 1)
        return esra_fail(message, ESRA_BAD_DATA, "a problem needs at least one photo, not %d", problem->photos);
    *out = (struct problem){
        .photos = problem->photos,
        .layers = problem->photos < INT_MAX ? problem->photos + 1 : INT_MAX,
        .lambda = lambda,
        .mixing = problem->mixing,
        .mixtures = problem->mixtures,
        .gradients = problem->gradients,
        .weights = problem->weights,
        .expected = *expected,
    };
    if (problem->struct_size >= sizeof *problem) {
        out->start_layers = problem->start_layers;
        out->start_duals = problem->start_duals;
    }
    if (!out->start_layers != !out->start_duals)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "a start needs both layers and duals: give both or neither");
    TRY(check_sizes(out, message));
    TRY(check_mixing(out, message));
    TRY(check_photos(out, message));
    TRY(check_gradients(out, message));
    TRY(check_start(out, message));
    TRY(check_result(out, result, message));
    /* Photos and gradients met to 2^-16, a 256th of an 8-bit step. */
    out->tiny = ldexp(data_energy(out), -32) + ldexp(lambda * slopes(out), -16);
done:
    return status;
}
