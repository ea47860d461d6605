/* measure/compare.c - how alike are two images: PSNR, SSIM (Wang et al. 2004) and normalised cross-correlation, plain
 * and after fitting gain and offset of each channel, since a photo and its truth are seldom exposed alike. All in
 * double. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/plane.h"
#include "base/status.h"

/* SSIM's window: a Gaussian of 1.5 px cut at 3.5 deviations, so 5 px to each side. */
#define SIGMA  1.5
#define RADIUS 5

/* SSIM's constants (K1 L)^2 and (K2 L)^2 with K1 = .01, K2 = .03 for intensities in [0,1]. */
#define C1 1e-4
#define C2 9e-4

/* One channel of both images, and room for SSIM's five filtered planes. */
struct pair {
    int width, height;
    size_t pixels;
    double *image, *truth;
    double *mean_x, *mean_y, *square_x, *square_y, *product, *scratch;
};

/* Sums over all channels. */
struct totals {
    double squared_error, squared_error_fit;
    double ssim, ssim_fit;
};

static bool pair_create(struct pair *pair, int width, int height)
{
    double **planes[] = {&pair->image,    &pair->truth,    &pair->mean_x,  &pair->mean_y,
                         &pair->square_x, &pair->square_y, &pair->product, &pair->scratch};
    *pair = (struct pair){.width = width, .height = height, .pixels = (size_t)width * (size_t)height};
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

/* False where a sample is no number. */
static bool load(double *to, const esra_image *image, int channel)
{
    /* A grey image stands for three equal channels. */
    int source = image->channels == 1 ? 0 : channel;
    bool finite = true;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++, to++) {
            *to = *image_sample(image, x, y, source);
            finite = finite && isfinite(*to);
        }
    return finite;
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
        sum += weights[k + RADIUS] = exp(-0.5 * k * k / (SIGMA * SIGMA));
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

static double ssim_at(const struct pair *pair, size_t n)
{
    double mx = pair->mean_x[n], my = pair->mean_y[n];
    double vx = pair->square_x[n] - mx * mx, vy = pair->square_y[n] - my * my, vxy = pair->product[n] - mx * my;
    return ((2 * mx * my + C1) * (2 * vxy + C2)) / ((mx * mx + my * my + C1) * (vx + vy + C2));
}

/* Mean over the pixels whose window lies inside; over all of them where there are none such. */
static double ssim(struct pair *pair)
{
    blur_product(pair, pair->image, NULL, pair->mean_x);
    blur_product(pair, pair->truth, NULL, pair->mean_y);
    blur_product(pair, pair->image, pair->image, pair->square_x);
    blur_product(pair, pair->truth, pair->truth, pair->square_y);
    blur_product(pair, pair->image, pair->truth, pair->product);
    int edge = pair->width > 2 * RADIUS && pair->height > 2 * RADIUS ? RADIUS : 0;
    double sum = 0;
    for (int y = edge; y < pair->height - edge; y++)
        for (int x = edge; x < pair->width - edge; x++)
            sum += ssim_at(pair, (size_t)y * (size_t)pair->width + (size_t)x);
    return sum / ((double)(pair->width - 2 * edge) * (pair->height - 2 * edge));
}

static double squared_error(const struct pair *pair)
{
    double sum = 0;
    for (size_t n = 0; n < pair->pixels; n++)
        sum += (pair->image[n] - pair->truth[n]) * (pair->image[n] - pair->truth[n]);
    return sum;
}

/* image <- gain image + offset, nearest to the truth by least squares. A flat image takes the truth's mean. */
static void fit(struct pair *pair)
{
    double n = (double)pair->pixels, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (size_t k = 0; k < pair->pixels; k++) {
        sx += pair->image[k];
        sy += pair->truth[k];
    }
    for (size_t k = 0; k < pair->pixels; k++) {
        double x = pair->image[k] - sx / n;
        sxx += x * x;
        sxy += x * (pair->truth[k] - sy / n);
    }
    double gain = sxx > 0 ? sxy / sxx : 0, offset = sy / n - gain * sx / n;
    for (size_t k = 0; k < pair->pixels; k++)
        pair->image[k] = gain * pair->image[k] + offset;
}

static void compare_channel(struct pair *pair, struct totals *totals)
{
    totals->squared_error += squared_error(pair);
    totals->ssim += ssim(pair);
    fit(pair);
    totals->squared_error_fit += squared_error(pair);
    totals->ssim_fit += ssim(pair);
}

/* Over all channels together; 0 where one of the images is flat. */
static double cross_correlation(const esra_image *image, const esra_image *truth, int channels)
{
    double n = (double)image->width * image->height * channels, sx = 0, sy = 0, sxx = 0, syy = 0, sxy = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int c = 0; c < channels; c++)
            for (int y = 0; y < image->height; y++)
                for (int x = 0; x < image->width; x++) {
                    double a = *image_sample(image, x, y, image->channels == 1 ? 0 : c);
                    double b = *image_sample(truth, x, y, truth->channels == 1 ? 0 : c);
                    if (pass == 0) {
                        sx += a;
                        sy += b;
                        continue;
                    }
                    a -= sx / n;
                    b -= sy / n;
                    sxx += a * a;
                    syy += b * b;
                    sxy += a * b;
                }
    return sxx > 0 && syy > 0 ? sxy / sqrt(sxx * syy) : 0;
}

static double psnr(double squared_error_sum, double samples)
{
    return 10 * log10(samples / squared_error_sum);
}

esra_status esra_compare(const esra_image *image, const esra_image *truth, esra_comparison *comparison)
{
    if (!image || !truth || !image->data || !truth->data || !comparison ||
        comparison->struct_size < sizeof comparison->struct_size)
        return ESRA_BAD_ARGUMENT;
    int channels = image->channels > truth->channels ? image->channels : truth->channels;
    bool same_channels = image->channels == truth->channels || image->channels == 1 || truth->channels == 1;
    if (image->width != truth->width || image->height != truth->height || !same_channels || image->width < 1 ||
        image->height < 1 || image->channels < 1 || truth->channels < 1)
        return ESRA_BAD_DATA;
    struct pair pair;
    struct totals totals = {0};
    bool room = pair_create(&pair, image->width, image->height), finite = true;
    for (int c = 0; room && finite && c < channels; c++) {
        finite = load(pair.image, image, c) && load(pair.truth, truth, c);
        if (finite)
            compare_channel(&pair, &totals);
    }
    pair_free(&pair);
    if (!room || !finite)
        return room ? ESRA_BAD_DATA : ESRA_OUT_OF_MEMORY;
    double samples = (double)image->width * image->height * channels;
    esra_comparison result = {
        .struct_size = comparison->struct_size,
        .psnr = psnr(totals.squared_error, samples),
        .ssim = totals.ssim / channels,
        .ncc = cross_correlation(image, truth, channels),
        .psnr_fit = psnr(totals.squared_error_fit, samples),
        .ssim_fit = totals.ssim_fit / channels,
    };
    size_t size = comparison->struct_size < sizeof result ? comparison->struct_size : sizeof result;
    memcpy(comparison, &result, size);
    return ESRA_OK;
}
