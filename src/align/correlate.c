/* align/correlate.c - shifts at which two gradient fields agree, by correlation over the Fourier transform.
 *
 * A channel's x and y differences make one complex image f = gx + i gy. For a shift d, conj(F0) F1 is the spectrum of
 * sum_x conj(f0(x)) f1(x + d), whose real part is the inner product of the gradient vectors: the two components come
 * for the price of one transform. */
#include "align/correlate.h"

#include <math.h>
#include <string.h>

#include "align/thresholds.h"
#include "base/maths.h"
#include "base/memory.h"
#include "ops/fft.h"

struct spectra {
    float *reference, *photo, *sum; /* complex, width x height */
    float *scratch;
    double *across; /* the window's weights along a row */
    int width, height;
};

static int power_of_two(int least)
{
    int power = 1;
    while (power < least)
        power *= 2;
    return power;
}

/* A Hann window keeps the borders, where the other photo shows something else, out of it. */
static double hann(int place, int size)
{
    return .5 - .5 * esra_cos(2 * 3.14159265358979323846 * (place + .5) / size);
}

static void fill_window(double *window, int size)
{
    for (int x = 0; x < size; x++)
        window[x] = hann(x, size);
}

static void load(const struct spectra *s, const struct field *field, int channel, float *to)
{
    memset(to, 0, 2 * (size_t)s->width * (size_t)s->height * sizeof *to);
    for (int y = 0; y < field->height; y++) {
        double down = hann(y, field->height);
        for (int x = 0; x < field->width; x++) {
            const float *sample = field_sample(field, x, y) + channel;
            float *out = to + 2 * ((size_t)y * (size_t)s->width + (size_t)x);
            float window = (float)(down * s->across[x]);
            out[0] = window * sample[0];
            out[1] = window * sample[4];
        }
    }
}

/* Whitened, as in phase correlation, all frequencies count alike, and a shift makes a narrow peak. */
static void add_cross_spectrum(struct spectra *s, bool whiten)
{
    size_t samples = 2 * (size_t)s->width * (size_t)s->height;
    for (size_t n = 0; n < samples; n += 2) {
        const float *a = s->reference + n, *b = s->photo + n;
        float real = a[0] * b[0] + a[1] * b[1], imaginary = a[0] * b[1] - a[1] * b[0];
        float size = whiten ? esra_hypotf(real, imaginary) + 1e-30f : 1;
        s->sum[n] += real / size;
        s->sum[n + 1] += imaginary / size;
    }
}

static float value_at(const struct spectra *s, int right, int down)
{
    int x = (right + s->width) % s->width, y = (down + s->height) % s->height;
    return s->sum[2 * ((size_t)y * (size_t)s->width + (size_t)x)];
}

/* Summed over 3x3: a peak between pixels, or one that rotation has smeared, counts whole. */
static double smooth_at(const struct spectra *s, int right, int down)
{
    double sum = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += value_at(s, right + i, down + j) * (i ? 1 : 2) * (j ? 1 : 2);
    return sum / 16;
}

static bool apart(const struct peak *peaks, int count, int right, int down)
{
    for (int n = 0; n < count; n++)
        if (fabs(peaks[n].right - right) <= align_thresholds.near_px &&
            fabs(peaks[n].down - down) <= align_thresholds.near_px)
            return false;
    return true;
}

static bool find_peak(const struct spectra *s, int across, int along, struct peak *peaks, int count)
{
    struct peak best = {0, 0, 0};
    for (int down = -along; down <= along; down++)
        for (int right = -across; right <= across; right++) {
            double height = smooth_at(s, right, down);
            if (height > best.height && apart(peaks, count, right, down))
                best = (struct peak){right, down, height};
        }
    peaks[count] = best;
    return best.height > 0;
}

esra_status esra_correlate(struct context *context, const struct field *reference, const struct field *photo,
                           const struct correlate_options *options, struct peak *peaks, int *count)
{
    struct spectra s = {.width = power_of_two(reference->width), .height = power_of_two(reference->height)};
    size_t samples = 2 * (size_t)s.width * (size_t)s.height;
    size_t scratch = esra_fft_scratch(context, s.width, s.height), window = 2 * (size_t)s.width;
    float *block = esra_allocate_untouched(3 * samples + scratch + window, sizeof *block);
    *count = 0;
    if (!block)
        return esra_fail_memory(context->message);
    s.reference = block;
    s.photo = block + samples;
    s.sum = block + 2 * samples;
    s.scratch = block + 3 * samples;
    s.across = (double *)(void *)(s.scratch + scratch);
    fill_window(s.across, reference->width);
    memset(s.sum, 0, samples * sizeof *s.sum);
    for (int channel = 0; channel < 3; channel++) {
        load(&s, reference, channel, s.reference);
        load(&s, photo, channel, s.photo);
        esra_fft_image(context, s.reference, s.width, s.height, -1, s.scratch);
        esra_fft_image(context, s.photo, s.width, s.height, -1, s.scratch);
        add_cross_spectrum(&s, options->whiten);
    }
    esra_fft_image(context, s.sum, s.width, s.height, 1, s.scratch);
    int across = (int)fmin(options->limit_px, s.width / 2 - 2);
    int along = (int)fmin(options->limit_px, s.height / 2 - 2);
    while (*count < options->most && find_peak(&s, across, along, peaks, *count))
        ++*count;
    esra_release(&block);
    return ESRA_OK;
}
