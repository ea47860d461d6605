/* gradients/mixing.c - mixing coefficients as the mode of the ratio of gradients.
 *
 * Where an edge of the transmitted layer stands alone, the gradients of photo i and of the reference are parallel, as
 * vectors over directions and colours, and their lengths have the ratio a_i. Where the other layer adds its own, their
 * direction differs, and the few that stay parallel have scattered ratios. So a_i is where the log ratios of the strong
 * parallel gradients are densest. The ratio of mean intensities and regressions do worse: the other layer enters both.
 */
#include "gradients/mixing.h"

#include <math.h>

#include "base/bins.h"
#include "base/maths.h"
#include "base/memory.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "ops/thresholds.h"

/* Of larger images only every n-th row is used: the mode of a million ratios is as good as that of ten million. */
#define PIXELS_MOST 1e6
#define MEAN_SHIFTS 40

struct pair {
    struct image smooth[2]; /* reference, photo */
    const struct image *mask[2];
    float *ratios;  /* logarithms */
    uint32_t *bins; /* BINS of them */
    int count, step;
};

/* Squared lengths of both gradients and their inner product, over channels and directions. */
struct products {
    double reference, photo, cross;
};

static struct products products_at(const struct pair *p, int x, int y)
{
    struct products sum = {0, 0, 0};
    for (int c = 0; c < p->smooth[0].channels; c++) {
        struct plane r = image_plane(&p->smooth[0], c), q = image_plane(&p->smooth[1], c);
        const float *a = plane_row(r, y) + x, *b = plane_row(q, y) + x;
        double ax = a[1] - a[-1], ay = a[r.stride] - a[-r.stride], bx = b[1] - b[-1], by = b[q.stride] - b[-q.stride];
        sum.reference += ax * ax + ay * ay;
        sum.photo += bx * bx + by * by;
        sum.cross += ax * bx + ay * by;
    }
    return sum;
}

/* Whether both masks are set all around (x, y), as far as the blur reaches: looked up at four corners. */
static bool seen(const struct pair *p, int x, int y)
{
    enum { REACH = 4 };
    for (int n = 0; n < 2; n++)
        for (int corner = 0; corner < 4; corner++) {
            int i = x + (corner & 1 ? REACH : -REACH), j = y + (corner & 2 ? REACH : -REACH);
            struct plane mask = image_plane(p->mask[n], 0);
            if (i < 0 || j < 0 || i >= mask.width || j >= mask.height || !(plane_row(mask, j)[i] > 0))
                return false;
        }
    return true;
}

static int weaker_bin(const struct products *p)
{
    return bins_number((float)(p->reference < p->photo ? p->reference : p->photo));
}

/* The bin from which on the strongest gradients lie, mixing_strongest of all. */
static int strong_bin(struct pair *p)
{
    uint32_t total = 0, above = 0;
    memset(p->bins, 0, BINS * sizeof *p->bins);
    for (int y = 1; y < p->smooth[0].height - 1; y += p->step)
        for (int x = 1; x < p->smooth[0].width - 1; x++)
            if (seen(p, x, y)) {
                struct products products = products_at(p, x, y);
                p->bins[weaker_bin(&products)]++;
                total++;
            }
    int bin = BINS;
    while (bin > 1 && above < gradients_thresholds.mixing_strongest * total)
        above += p->bins[--bin];
    return bin;
}

/* Log ratios of the strong gradients that are parallel in both photos. */
static void collect(struct pair *p, int least_bin)
{
    const double cosine_least = gradients_thresholds.mixing_cosine, most = esra_log(ops_thresholds.gain_most);
    p->count = 0;
    for (int y = 1; y < p->smooth[0].height - 1; y += p->step)
        for (int x = 1; x < p->smooth[0].width - 1; x++) {
            struct products products = products_at(p, x, y);
            double lengths = sqrt(products.reference * products.photo);
            if (weaker_bin(&products) < least_bin || !(products.cross > cosine_least * lengths) || !seen(p, x, y))
                continue;
            double ratio = .5 * esra_log(products.photo / products.reference);
            if (fabs(ratio) < most)
                p->ratios[p->count++] = (float)ratio;
        }
}

/* Gaussian kernel density at `centre`, and the mean of the ratios under that kernel. */
static double density(const struct pair *p, double centre, double bandwidth, double *mean)
{
    double sum = 0, weighted = 0;
    for (int n = 0; n < p->count; n++) {
        double away = (p->ratios[n] - centre) / bandwidth;
        if (fabs(away) > 5)
            continue;
        double weight = esra_exp(-.5 * away * away);
        sum += weight;
        weighted += weight * p->ratios[n];
    }
    *mean = sum > 0 ? weighted / sum : centre;
    return sum;
}

/* The densest place on a grid, then mean shift (Fukunaga & Hostetler 1975) under a kernel that narrows from three times
 * its last width by its root: the wide one does not stop at a chance cluster, the last is not pulled by the skew of the
 * tails. */
static double mode_of(const struct pair *p)
{
    const double fine = gradients_thresholds.mixing_bandwidth, middle = sqrt(3) * fine, wide = 3 * fine;
    int most = (int)ceil(esra_log(ops_thresholds.gain_most) / wide);
    double best = -1, mode = 0, mean;
    for (int k = -most; k <= most; k++) {
        double here = density(p, wide * k, wide, &mean);
        if (here > best) {
            best = here;
            mode = wide * k;
        }
    }
    for (int k = 0; k < MEAN_SHIFTS; k++) {
        density(p, mode, k < MEAN_SHIFTS / 4 ? wide : k < MEAN_SHIFTS / 2 ? middle : fine, &mean);
        mode = mean;
    }
    return mode;
}

/* The mode, and the share of the gradients within two deviations of its kernel. */
static struct mixing measure(struct pair *p)
{
    int within = 0;
    collect(p, strong_bin(p));
    if (p->count == 0)
        return (struct mixing){1, 0};
    double mode = mode_of(p);
    for (int n = 0; n < p->count; n++)
        within += fabs(p->ratios[n] - mode) < 2 * gradients_thresholds.mixing_bandwidth;
    return (struct mixing){esra_exp(mode), (double)within / p->count};
}

static esra_status smooth(struct context *context, const struct image *from, struct image *to)
{
    esra_status status = esra_image_reserve(to, from->width, from->height, from->channels, context->message);
    for (int c = 0; status == ESRA_OK && c < from->channels; c++)
        esra_blur(context, image_plane(from, c), image_plane(to, c), gradients_thresholds.mixing_blur_px);
    return status;
}

esra_status esra_mixing_estimate(struct context *context, const struct image *photos, const struct image *masks,
                                 int count, int reference, struct mixing *mixing)
{
    size_t pixels = (size_t)photos[0].width * (size_t)photos[0].height;
    struct pair p = {.mask = {&masks[reference], NULL}, .step = 1 + (int)((double)pixels / PIXELS_MOST)};
    esra_status status = ESRA_OK;
    p.ratios = esra_allocate(pixels, sizeof *p.ratios);
    p.bins = esra_allocate(BINS, sizeof *p.bins);
    if (!p.ratios || !p.bins)
        TRY(esra_fail_memory(context->message));
    TRY(smooth(context, &photos[reference], &p.smooth[0]));
    for (int n = 0; n < count; n++) {
        mixing[n] = (struct mixing){1, 1};
        if (n == reference || esra_context_stopping(context))
            continue;
        p.mask[1] = &masks[n];
        TRY(smooth(context, &photos[n], &p.smooth[1]));
        mixing[n] = measure(&p);
        esra_image_free(&p.smooth[1]);
    }
done:
    esra_image_free(&p.smooth[0]);
    esra_image_free(&p.smooth[1]);
    esra_release(&p.ratios);
    esra_release(&p.bins);
    return status;
}
