/* camera/corners.c - corners: maxima of the lesser eigenvalue of the structure tensor (Shi & Tomasi 1994). */
#include "camera/corners.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rows.h"
#include "camera/thresholds.h"
#include "ops/blur.h"
#include "ops/extreme.h"
#include "ops/thresholds.h"

/* Sought where photos have no more pixels than this: finer corners are noise. */
#define CORNER_PIXELS 1.6e6
#define BORDER        3

enum { SMOOTH, XX, XY, YY, STRENGTH, PLANES };

/* The entries of the structure tensor before its window: products of central differences. */
static void multiply_block(void *data, int task, int worker)
{
    const struct image *work = data;
    struct plane grey = image_plane(work, SMOOTH);
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, grey.height); y++)
        for (int x = 1; x < grey.width - 1 && y > 0 && y < grey.height - 1; x++) {
            ptrdiff_t n = y * grey.stride + x;
            float right = .5f * (grey.data[n + 1] - grey.data[n - 1]);
            float down = .5f * (grey.data[n + grey.stride] - grey.data[n - grey.stride]);
            image_plane(work, XX).data[n] = right * right;
            image_plane(work, XY).data[n] = right * down;
            image_plane(work, YY).data[n] = down * down;
        }
}

/* STRENGTH <- the lesser eigenvalue, (xx + yy - sqrt((xx - yy)^2 + 4 xy^2))/2. */
static void measure(struct context *context, const struct image *grey, const struct image *work)
{
    struct plane scratch = image_plane(work, SMOOTH), strength = image_plane(work, STRENGTH);
    size_t pixels = image_pixels(work);
    esra_blur(context, image_plane(grey, 0), scratch, ops_thresholds.feature_blur_px);
    esra_context_run(context, multiply_block, (void *)(uintptr_t)work, rows_blocks(work->height), NULL);
    /* The window; each product is smoothed into a plane that has become free. */
    esra_blur(context, image_plane(work, XX), strength, ops_thresholds.feature_window_px);
    esra_blur(context, image_plane(work, YY), scratch, ops_thresholds.feature_window_px);
    esra_blur(context, image_plane(work, XY), image_plane(work, XX), ops_thresholds.feature_window_px);
    const float *yy = scratch.data, *xy = image_plane(work, XX).data;
    for (size_t n = 0; n < pixels; n++) {
        float xx = strength.data[n], apart = xx - yy[n];
        strength.data[n] = .5f * (xx + yy[n] - sqrtf(apart * apart + 4 * xy[n] * xy[n]));
    }
}

static int stronger_first(const void *a, const void *b)
{
    const struct corner *p = a, *q = b;
    if (p->strength != q->strength)
        return p->strength > q->strength ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

/* Peaks above the least strength, strongest first. No two of them are neighbours: `found` needs a quarter of the
 * pixels.
 */
static int list_peaks(struct plane strength, struct corner *found)
{
    float most = 0;
    int count = 0;
    for (size_t n = 0; n < plane_pixels(strength); n++)
        most = strength.data[n] > most ? strength.data[n] : most;
    for (int y = BORDER; y < strength.height - BORDER; y++)
        for (int x = BORDER; x < strength.width - BORDER; x++) {
            float here = plane_row(strength, y)[x];
            if (here > (float)camera_thresholds.corner_strength * most && plane_has_peak(strength, x, y, 1))
                found[count++] = (struct corner){(float)x, (float)y, here};
        }
    qsort(found, (size_t)count, sizeof *found, stronger_first);
    return count;
}

/* Marks the square around a corner; false where its middle is marked. */
static bool claim(unsigned char *taken, int width, int height, const struct corner *corner, int apart)
{
    int x = (int)corner->x, y = (int)corner->y;
    if (taken[(size_t)y * width + x])
        return false;
    for (int j = y - apart < 0 ? 0 : y - apart; j <= y + apart && j < height; j++)
        for (int i = x - apart < 0 ? 0 : x - apart; i <= x + apart && i < width; i++)
            taken[(size_t)j * width + i] = 1;
    return true;
}

/* Non-maximum suppression: keeps of `peaks` found at a level the strongest `most` that are not near one another, in px
 * of level 0. */
static int thin_out(struct corner *found, int peaks, int most, const struct image *grey, int level,
                    unsigned char *taken)
{
    double even = sqrt((double)image_pixels(grey) / most);
    int apart = (int)fmax(camera_thresholds.corner_apart_px, even / 3), kept = 0;
    for (int n = 0; n < peaks && kept < most; n++)
        if (claim(taken, grey->width, grey->height, &found[n], apart))
            found[kept++] = (struct corner){ldexpf(found[n].x, level), ldexpf(found[n].y, level), found[n].strength};
    return kept;
}

esra_status esra_corners_find(struct corner **corners, int *count, int most, struct context *context,
                              const struct pyramid *pyramid)
{
    int level = 0;
    while (level < pyramid->levels - 1 &&
           (double)pyramid->level[level].width * pyramid->level[level].height > CORNER_PIXELS)
        level++;
    const struct image *grey = &pyramid->level[level];
    size_t pixels = image_pixels(grey);
    struct image work = {0};
    unsigned char *taken = esra_allocate(pixels, 1);
    esra_status status;
    *corners = esra_allocate_untouched(pixels / 4 + (size_t)grey->width + (size_t)grey->height, sizeof **corners);
    *count = 0;
    TRY(taken && *corners ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_image_create(&work, grey->width, grey->height, PLANES, context->message));
    measure(context, grey, &work);
    *count = thin_out(*corners, list_peaks(image_plane(&work, STRENGTH), *corners), most, grey, level, taken);
done:
    esra_release(&taken);
    esra_image_free(&work);
    if (status != ESRA_OK)
        esra_release(corners);
    return status;
}
