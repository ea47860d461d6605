/* measure/compare.c - how alike are two images: PSNR, SSIM (Wang et al. 2004) and normalised cross-correlation, plain
 * and after fitting gain and offset of each channel, or one gain for all, since a photo and its truth are seldom
 * exposed alike. All in double. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/plane.h"

/* SSIM's window: a Gaussian of 1.5 px cut at 3.5 deviations, so 5 px to each side. */
#define SIGMA  1.5
#define RADIUS 5

/* SSIM's constants (K1 L)^2 and (K2 L)^2 with K1 = .01, K2 = .03 for intensities in [0,1]. */
#define C1 1e-4
#define C2 9e-4

/* One channel of both images, less their means, so that no variance is the difference of large numbers; and SSIM's five
 * filtered planes of it. */
struct pair {
    int width, height;
    size_t pixels;
    double *image, *truth;
    double image_mean, truth_mean;
    double *mean_x, *mean_y, *square_x, *square_y, *product, *scratch;
};

/* What is compared with the truth: gain image + offset. */
struct fit {
    double gain, offset;
};

/* Sums over all channels. */
struct totals {
    double squared_error, ssim;
};

enum { PLAIN, FITTED, EXPOSED, WAYS };

static bool pair_create(struct pair *pair, int width, int height)
{
    double **planes[] = {&pair->image,    &pair->truth,    &pair->mean_x,  &pair->mean_y,
                         &pair->square_x, &pair->square_y, &pair->product, &pair->scratch};
    *pair = (struct pair){.width = width, .height = height};
    if (!esra_size_multiply((size_t)width, (size_t)height, &pair->pixels))
        return false;
    for (size_t n = 0; n < sizeof planes / sizeof planes[0]; n++) {
        *planes[n] = esra_allocate(pair->pixels, sizeof(double));
        if (!*planes[n])
            return false;
    }
    return true;
}

static void pair_free(struct pair *pair)
{
    double **planes[] = {&pair->image,    &pair->truth,    &pair->mean_x,  &pair->mean_y,
                         &pair->square_x, &pair->square_y, &pair->product, &pair->scratch};
    for (size_t n = 0; n < sizeof planes / sizeof planes[0]; n++)
        esra_release(planes[n]);
}

/* A channel less its mean. False where a sample is no number. */
static bool load(double *to, double *mean, const esra_image *image, int channel)
{
    /* A grey image stands for three equal channels. */
    int source = image->channels == 1 ? 0 : channel;
    size_t pixels = (size_t)image->width * (size_t)image->height;
    double sum = 0, *sample = to;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            sum += *sample++ = *image_sample(image, x, y, source);
    *mean = sum / (double)pixels;
    for (size_t n = 0; n < pixels; n++)
        to[n] -= *mean;
    return isfinite(sum);
}

/* Index n mirrored into 0..size-1, the edge sample repeated: ... 1 0 | 0 1 2 ... */
static int mirror(int n, int size)
{
    int period = 2 * size;
    n = ((n % period) + period) % period;
    return n < size ? n : period - 1 - n;
}

static void gaussian_weights(double weights[2 * RADIUS + 1])
{
    double sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] = esra_exp(-0.5 * k * k / (SIGMA * SIGMA));
    for (int k = 0; k <= 2 * RADIUS; k++)
        weights[k] /= sum;
}

/* out = Gaussian * (a b), separably. */
static void blur_product(const struct pair *pair, const double *a, const double *b, double *out)
{
    int w = pair->width, h = pair->height;
    double weights[2 * RADIUS + 1];
    gaussian_weights(weights);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++) {
                size_t n = (size_t)mirror(y + k, h) * (size_t)w + (size_t)x;
                sum += weights[k + RADIUS] * a[n] * (b ? b[n] : 1);
            }
            pair->scratch[(size_t)y * (size_t)w + (size_t)x] = sum;
        }
    for (int y = 0; y < h; y++) {
        const double *row = pair->scratch + (size_t)y * (size_t)w;
        for (int x = 0; x < w; x++) {
            double sum = 0;
            for (int k = -RADIUS; k <= RADIUS; k++)
                sum += weights[k + RADIUS] * row[mirror(x + k, w)];
            out[(size_t)y * (size_t)w + (size_t)x] = sum;
        }
    }
}

static void filter(struct pair *pair)
{
    blur_product(pair, pair->image, NULL, pair->mean_x);
    blur_product(pair, pair->truth, NULL, pair->mean_y);
    blur_product(pair, pair->image, pair->image, pair->square_x);
    blur_product(pair, pair->truth, pair->truth, pair->square_y);
    blur_product(pair, pair->image, pair->truth, pair->product);
}

/* The moments of gain image + offset follow from the image's own, so that one filtering serves every fit. */
static double ssim_at(const struct pair *pair, size_t n, struct fit fit)
{
    double x = pair->mean_x[n], y = pair->mean_y[n];
    double vx = fit.gain * fit.gain * (pair->square_x[n] - x * x), vy = pair->square_y[n] - y * y;
    double vxy = fit.gain * (pair->product[n] - x * y);
    double mx = fit.gain * (x + pair->image_mean) + fit.offset, my = y + pair->truth_mean;
    return ((2 * mx * my + C1) * (2 * vxy + C2)) / ((mx * mx + my * my + C1) * (vx + vy + C2));
}

/* Mean over the pixels whose window lies inside; over all of them where there are none such. */
static double ssim(const struct pair *pair, struct fit fit)
{
    int edge = pair->width > 2 * RADIUS && pair->height > 2 * RADIUS ? RADIUS : 0;
    double sum = 0;
    for (int y = edge; y < pair->height - edge; y++)
        for (int x = edge; x < pair->width - edge; x++)
            sum += ssim_at(pair, (size_t)y * (size_t)pair->width + (size_t)x, fit);
    return sum / ((double)(pair->width - 2 * edge) * (pair->height - 2 * edge));
}

static double squared_error(const struct pair *pair, struct fit fit)
{
    double sum = 0, shift = fit.gain * pair->image_mean + fit.offset - pair->truth_mean;
    for (size_t n = 0; n < pair->pixels; n++) {
        double error = fit.gain * pair->image[n] - pair->truth[n] + shift;
        sum += error * error;
    }
    return sum;
}

static void add(struct totals *totals, const struct pair *pair, struct fit fit)
{
    totals->squared_error += squared_error(pair, fit);
    totals->ssim += ssim(pair, fit);
}

/* Gain and offset nearest to the truth by least squares. A flat image takes the truth's mean. */
static struct fit best_fit(const struct pair *pair)
{
    double sxx = 0, sxy = 0;
    for (size_t n = 0; n < pair->pixels; n++) {
        sxx += pair->image[n] * pair->image[n];
        sxy += pair->image[n] * pair->truth[n];
    }
    double gain = sxx > 0 ? sxy / sxx : 0;
    return (struct fit){gain, pair->truth_mean - gain * pair->image_mean};
}

static void compare_channel(struct pair *pair, double exposure, struct totals totals[WAYS])
{
    filter(pair);
    add(&totals[PLAIN], pair, (struct fit){1, 0});
    add(&totals[FITTED], pair, best_fit(pair));
    add(&totals[EXPOSED], pair, (struct fit){exposure, 0});
}

/* Sums over all channels of a = image - about_a and b = truth - about_b. */
struct moments {
    double n, a, b, aa, bb, ab;
};

static struct moments moments_about(const esra_image *image, const esra_image *truth, double about_a, double about_b)
{
    int channels = image->channels > truth->channels ? image->channels : truth->channels;
    struct moments sum = {.n = (double)image->width * image->height * channels};
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < image->height; y++)
            for (int x = 0; x < image->width; x++) {
                double a = *image_sample(image, x, y, image->channels == 1 ? 0 : c) - about_a;
                double b = *image_sample(truth, x, y, truth->channels == 1 ? 0 : c) - about_b;
                sum.a += a;
                sum.b += b;
                sum.aa += a * a;
                sum.bb += b * b;
                sum.ab += a * b;
            }
    return sum;
}

/* 0 where one of the images is flat. */
static double cross_correlation(const struct moments *about_means)
{
    const struct moments *m = about_means;
    return m->aa > 0 && m->bb > 0 ? m->ab / sqrt(m->aa * m->bb) : 0;
}

static double psnr(const struct totals *totals, double samples)
{
    return 10 * esra_log10(samples / totals->squared_error);
}

/* False where a sample is no number. */
static bool compare_channels(struct pair *pair, const esra_image *image, const esra_image *truth, double exposure,
                             struct totals totals[WAYS])
{
    int channels = image->channels > truth->channels ? image->channels : truth->channels;
    bool finite = true;
    for (int c = 0; finite && c < channels; c++) {
        finite = load(pair->image, &pair->image_mean, image, c) && load(pair->truth, &pair->truth_mean, truth, c);
        if (finite)
            compare_channel(pair, exposure, totals);
    }
    for (int way = 0; way < WAYS; way++)
        totals[way].ssim /= channels;
    return finite;
}

static esra_status compare_in(struct pair *pair, const esra_image *image, const esra_image *truth,
                              esra_comparison *comparison)
{
    struct totals totals[WAYS] = {{0}};
    struct moments about_0 = moments_about(image, truth, 0, 0);
    struct moments about_means = moments_about(image, truth, about_0.a / about_0.n, about_0.b / about_0.n);
    double exposure = about_0.aa > 0 ? about_0.ab / about_0.aa : 0;
    if (!compare_channels(pair, image, truth, exposure, totals))
        return ESRA_BAD_DATA;
    esra_comparison result = {
        .struct_size = comparison->struct_size,
        .psnr = psnr(&totals[PLAIN], about_0.n),
        .ssim = totals[PLAIN].ssim,
        .ncc = cross_correlation(&about_means),
        .psnr_fit = psnr(&totals[FITTED], about_0.n),
        .ssim_fit = totals[FITTED].ssim,
        .psnr_exposure = psnr(&totals[EXPOSED], about_0.n),
        .ssim_exposure = totals[EXPOSED].ssim,
        .exposure = exposure,
    };
    memcpy(comparison, &result, comparison->struct_size < sizeof result ? comparison->struct_size : sizeof result);
    return ESRA_OK;
}

static bool can_be_compared(const esra_image *image, const esra_image *truth)
{
    bool same_channels = image->channels == truth->channels || image->channels == 1 || truth->channels == 1;
    return image->width == truth->width && image->height == truth->height && same_channels && image->width >= 1 &&
           image->height >= 1 && image->channels >= 1 && truth->channels >= 1;
}

esra_status esra_compare(const esra_image *image, const esra_image *truth, esra_comparison *comparison)
{
    struct pair pair;
    if (!image || !truth || !image->data || !truth->data || !comparison ||
        comparison->struct_size < sizeof comparison->struct_size)
        return ESRA_BAD_ARGUMENT;
    if (!can_be_compared(image, truth))
        return ESRA_BAD_DATA;
    /* Memory before any sum: one sample with strides of zero can stand for an image of any size. */
    bool room = pair_create(&pair, image->width, image->height);
    esra_status status = room ? compare_in(&pair, image, truth, comparison) : ESRA_OUT_OF_MEMORY;
    pair_free(&pair);
    return status;
}
