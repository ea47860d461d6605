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
#include "base/rows.h"
#include "gradients/thresholds.h"
#include "ops/blur.h"
#include "ops/thresholds.h"

/* Of larger images only every n-th row is used: the mode of a million ratios is as good as that of ten million. */
#define PIXELS_MOST 1e6
#define MEAN_SHIFTS 40

/* Sums over ratios go by so many, some 20 us of work. */
#define BLOCK_RATIOS 2048

/* The bin of a pixel that one of the two photos does not see. */
#define UNSEEN UINT16_MAX

struct sums {
    double weight, weighted;
};

struct pair {
    struct context *context;
    struct image smooth[2]; /* reference, photo */
    const struct image *mask[2];
    float *ratios;     /* [width of each row used]: logarithms, block after block and then side by side */
    uint16_t *weaker;  /* the same: bin of the weaker gradient's square */
    uint32_t *bins;    /* BINS of them */
    int *found;        /* [blocks of rows] */
    struct sums *sums; /* [blocks of ratios] */
    int count, step, rows, least_bin;
    double centre, bandwidth;
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

/* Row number n of those that are used. */
static int row_of(const struct pair *p, int n)
{
    return 1 + n * p->step;
}

static void bin_block(void *work, int task, int worker)
{
    const struct pair *p = work;
    int width = p->smooth[0].width;
    (void)worker;
    for (int n = rows_begin(task); n < rows_end(task, p->rows); n++)
        for (int x = 1; x < width - 1; x++) {
            uint16_t *bin = &p->weaker[(size_t)n * width + x];
            *bin = UNSEEN;
            if (seen(p, x, row_of(p, n))) {
                struct products products = products_at(p, x, row_of(p, n));
                *bin = (uint16_t)weaker_bin(&products);
            }
        }
}

/* The bin from which on the strongest gradients lie, mixing_strongest of all. */
static int strong_bin(struct pair *p)
{
    uint32_t total = 0, above = 0;
    int width = p->smooth[0].width, bin = BINS;
    memset(p->bins, 0, BINS * sizeof *p->bins);
    esra_context_run(p->context, bin_block, p, rows_blocks(p->rows), NULL);
    for (int n = 0; n < p->rows; n++)
        for (int x = 1; x < width - 1; x++) {
            uint16_t weaker = p->weaker[(size_t)n * width + x];
            if (weaker != UNSEEN) {
                p->bins[weaker]++;
                total++;
            }
        }
    while (bin > 1 && above < gradients_thresholds.mixing_strongest * total)
        above += p->bins[--bin];
    return bin;
}

static void collect_block(void *work, int task, int worker)
{
    const struct pair *p = work;
    const double cosine_least = gradients_thresholds.mixing_cosine, most = esra_log(ops_thresholds.gain_most);
    int width = p->smooth[0].width, found = 0;
    float *ratios = p->ratios + (size_t)rows_begin(task) * width;
    (void)worker;
    for (int n = rows_begin(task); n < rows_end(task, p->rows); n++)
        for (int x = 1; x < width - 1; x++) {
            uint16_t weaker = p->weaker[(size_t)n * width + x];
            if (weaker == UNSEEN || weaker < p->least_bin)
                continue;
            struct products products = products_at(p, x, row_of(p, n));
            double lengths = sqrt(products.reference * products.photo);
            if (!(products.cross > cosine_least * lengths))
                continue;
            double ratio = .5 * esra_log(products.photo / products.reference);
            if (fabs(ratio) < most)
                ratios[found++] = (float)ratio;
        }
    p->found[task] = found;
}

/* Log ratios of the strong gradients that are parallel in both photos. */
static void collect(struct pair *p)
{
    p->least_bin = strong_bin(p);
    p->count = 0;
    esra_context_run(p->context, collect_block, p, rows_blocks(p->rows), NULL);
    for (int block = 0; block < rows_blocks(p->rows); block++) {
        memmove(p->ratios + p->count, p->ratios + (size_t)rows_begin(block) * p->smooth[0].width,
                (size_t)p->found[block] * sizeof *p->ratios);
        p->count += p->found[block];
    }
}

static int ratio_blocks(int count)
{
    return (count + BLOCK_RATIOS - 1) / BLOCK_RATIOS;
}

static void density_block(void *work, int task, int worker)
{
    const struct pair *p = work;
    struct sums sums = {0, 0};
    (void)worker;
    for (int n = task * BLOCK_RATIOS; n < p->count && n < (task + 1) * BLOCK_RATIOS; n++) {
        double away = (p->ratios[n] - p->centre) / p->bandwidth;
        if (fabs(away) > 5)
            continue;
        double weight = esra_exp(-.5 * away * away);
        sums.weight += weight;
        sums.weighted += weight * p->ratios[n];
    }
    p->sums[task] = sums;
}

/* Gaussian kernel density at `centre`, and the mean of the ratios under that kernel. */
static double density(struct pair *p, double centre, double bandwidth, double *mean)
{
    struct sums all = {0, 0};
    p->centre = centre;
    p->bandwidth = bandwidth;
    esra_context_run(p->context, density_block, p, ratio_blocks(p->count), NULL);
    for (int block = 0; block < ratio_blocks(p->count); block++) {
        all.weight += p->sums[block].weight;
        all.weighted += p->sums[block].weighted;
    }
    *mean = all.weight > 0 ? all.weighted / all.weight : centre;
    return all.weight;
}

/* The densest place on a grid, then mean shift (Fukunaga & Hostetler 1975) under a kernel that narrows from three times
 * its last width by its root: the wide one does not stop at a chance cluster, the last is not pulled by the skew of the
 * tails. */
static double mode_of(struct pair *p)
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
    collect(p);
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

static esra_status make_room(struct pair *p, int width, int height)
{
    p->step = 1 + (int)((double)width * height / PIXELS_MOST);
    p->rows = height > 2 ? (height - 3) / p->step + 1 : 0;
    size_t pixels = (size_t)width * (size_t)p->rows;
    p->ratios = esra_allocate_untouched(pixels, sizeof *p->ratios);
    p->weaker = esra_allocate_untouched(pixels, sizeof *p->weaker);
    p->bins = esra_allocate_untouched(BINS, sizeof *p->bins);
    p->found = esra_allocate((size_t)rows_blocks(p->rows), sizeof *p->found);
    p->sums = esra_allocate((size_t)ratio_blocks((int)pixels), sizeof *p->sums);
    bool good = p->ratios && p->weaker && p->bins && p->found && p->sums;
    return good ? ESRA_OK : esra_fail_memory(p->context->message);
}

static void pair_free(struct pair *p)
{
    esra_image_free(&p->smooth[0]);
    esra_image_free(&p->smooth[1]);
    esra_release(&p->ratios);
    esra_release(&p->weaker);
    esra_release(&p->bins);
    esra_release(&p->found);
    esra_release(&p->sums);
}

esra_status esra_mixing_estimate(struct context *context, const struct image *photos, const struct image *masks,
                                 int count, int reference, struct mixing *mixing)
{
    struct pair p = {.context = context, .mask = {&masks[reference], NULL}};
    esra_status status = ESRA_OK;
    TRY(make_room(&p, photos[0].width, photos[0].height));
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
    pair_free(&p);
    return status;
}
