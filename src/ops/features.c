/* ops/features.c - corners with descriptors: Harris' corner measure in the form of Noble (1988), det/trace of the
 * structure tensor, at three scales; the strongest few of every cell of a grid, so that a busy corner of the picture
 * does not take them all; Lowe's (2004) histograms of gradient directions around them. Photos of a series are held the
 * same way up and at about the same distance, so descriptors are upright and compared within a scale only. */
#include "ops/features.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "ops/blur.h"
#include "ops/extreme.h"
#include "ops/thresholds.h"

#define FEATURE_LEVELS 3
/* Corners are sought at a million pixels at most: finer ones add noise and time, not matches. */
#define FEATURE_PIXELS 1.1e6
#define GRID           16
#define CELL_FEATURES  6
#define PER_LEVEL      (GRID * GRID * CELL_FEATURES)
#define CELLS          4 /* a descriptor is CELLS x CELLS histograms ... */
#define CELL_PX        5 /* ... of this many pixels a side ... */
#define DIRECTIONS     8 /* ... of this many directions */
#define REACH_PX       (CELLS * CELL_PX / 2 + CELL_PX / 2 + 1)

/* Largest entry of a descriptor, so that a few strong edges do not decide alone: Lowe (2004). */
#define CLIP .2f

/* Once corners are measured, the products make room for what descriptors are made of. */
enum { GREY, RIGHT, DOWN, XX, XY, YY, CORNER, SCRATCH, PLANES, DIRECTION = XX, LENGTH = XY };

static struct plane plane_of(const struct image *work, int which)
{
    return image_plane(work, which);
}

static void fill_grey(const struct image *image, struct plane grey)
{
    size_t pixels = image_pixels(image);
    for (int c = 0; c < image->channels; c++)
        for (size_t n = 0; n < pixels; n++)
            grey.data[n] = (c ? grey.data[n] : 0) + image->data[(size_t)c * pixels + n] / (float)image->channels;
}

/* Gradients of the smoothed image, and their products. */
static void differentiate_block(void *data, int task, int worker)
{
    const struct image *work = data;
    struct plane grey = plane_of(work, SCRATCH);
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, grey.height); y++)
        for (int x = 0; x < grey.width; x++) {
            ptrdiff_t n = y * grey.stride + x;
            bool inner = x > 0 && y > 0 && x < grey.width - 1 && y < grey.height - 1;
            float right = inner ? .5f * (grey.data[n + 1] - grey.data[n - 1]) : 0;
            float down = inner ? .5f * (grey.data[n + grey.stride] - grey.data[n - grey.stride]) : 0;
            plane_of(work, RIGHT).data[n] = right;
            plane_of(work, DOWN).data[n] = down;
            plane_of(work, XX).data[n] = right * right;
            plane_of(work, XY).data[n] = right * down;
            plane_of(work, YY).data[n] = down * down;
        }
}

static void smooth_in_place(struct context *context, const struct image *work, int which, double sigma)
{
    struct plane plane = plane_of(work, which), scratch = plane_of(work, SCRATCH);
    size_t bytes = plane_pixels(plane) * sizeof(float);
    esra_blur(context, plane, scratch, sigma);
    memcpy(plane.data, scratch.data, bytes);
}

static void measure_corners(struct context *context, const struct image *work)
{
    size_t pixels = image_pixels(work);
    esra_blur(context, plane_of(work, GREY), plane_of(work, SCRATCH), ops_thresholds.feature_blur_px);
    esra_context_run(context, differentiate_block, (void *)(uintptr_t)work, rows_blocks(work->height), NULL);
    for (int which = XX; which <= YY; which++)
        smooth_in_place(context, work, which, ops_thresholds.feature_window_px);
    const float *xx = plane_of(work, XX).data, *xy = plane_of(work, XY).data, *yy = plane_of(work, YY).data;
    float *corner = plane_of(work, CORNER).data;
    for (size_t n = 0; n < pixels; n++)
        corner[n] = (xx[n] * yy[n] - xy[n] * xy[n]) / (xx[n] + yy[n] + 1e-12f);
}

/* Keeps the CELL_FEATURES strongest, strongest first. */
static void keep(struct feature *cell, int *count, float x, float y, float response)
{
    if (*count == CELL_FEATURES && cell[CELL_FEATURES - 1].response >= response)
        return;
    int place = *count < CELL_FEATURES ? (*count)++ : CELL_FEATURES - 1;
    for (; place > 0 && cell[place - 1].response < response; place--)
        cell[place] = cell[place - 1];
    cell[place].x = x;
    cell[place].y = y;
    cell[place].response = response;
}

/* Where a parabola through three values has its peak, from the middle one. */
static float peak_offset(float before, float here, float after)
{
    float bend = before - 2 * here + after;
    float offset = bend < 0 ? .5f * (before - after) / bend : 0;
    return fminf(fmaxf(offset, -.4999f), .4999f); /* so that the pixel nearest to the peak is the middle one */
}

static int find_corners(const struct image *work, struct feature *found)
{
    struct plane corner = plane_of(work, CORNER);
    int counts[GRID * GRID] = {0}, total = 0;
    for (int y = REACH_PX; y < corner.height - REACH_PX; y++)
        for (int x = REACH_PX; x < corner.width - REACH_PX; x++) {
            const float *c = plane_row(corner, y) + x;
            if (!(c[0] > 0) || !plane_has_peak(corner, x, y, 2))
                continue;
            int cell = y * GRID / corner.height * GRID + x * GRID / corner.width;
            keep(found + cell * CELL_FEATURES, &counts[cell], (float)x + peak_offset(c[-1], c[0], c[1]),
                 (float)y + peak_offset(c[-corner.stride], c[0], c[corner.stride]), c[0]);
        }
    for (int cell = 0; cell < GRID * GRID; cell++)
        for (int n = 0; n < counts[cell]; n++)
            found[total++] = found[cell * CELL_FEATURES + n];
    return total;
}

/* Every gradient's direction, in histogram entries and not negative, and its length: a pixel is part of many
 * descriptors. */
static void direct_block(void *data, int task, int worker)
{
    const struct image *work = data;
    const float turn = (float)(DIRECTIONS / (2 * 3.14159265358979323846));
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, work->height); y++) {
        const float *right = plane_row(plane_of(work, RIGHT), y), *down = plane_row(plane_of(work, DOWN), y);
        float *direction = plane_row(plane_of(work, DIRECTION), y), *length = plane_row(plane_of(work, LENGTH), y);
        for (int x = 0; x < work->width; x++) {
            direction[x] = esra_atan2f(down[x], right[x]) * turn + DIRECTIONS;
            length[x] = esra_hypotf(right[x], down[x]);
        }
    }
}

/* Shares a gradient between the two nearest cells along each axis and the two nearest directions. */
static void vote(float *descriptor, float column, float row, float direction, float weight)
{
    int c = (int)floorf(column), r = (int)floorf(row), d = (int)floorf(direction);
    float along[2] = {1 - direction + (float)d, direction - (float)d};
    int entry[2] = {d % DIRECTIONS, (d + 1) % DIRECTIONS};
    for (int corner = 0; corner < 4; corner++) {
        int i = c + (corner & 1), j = r + (corner >> 1);
        if (i < 0 || j < 0 || i >= CELLS || j >= CELLS)
            continue;
        float share = (1 - fabsf(column - (float)i)) * (1 - fabsf(row - (float)j));
        float *histogram = descriptor + (j * CELLS + i) * DIRECTIONS;
        histogram[entry[0]] += weight * (share * along[0]);
        histogram[entry[1]] += weight * (share * along[1]);
    }
}

static void scale_to_unit(float *descriptor, float most)
{
    double sum = 1e-20;
    for (int k = 0; k < DESCRIPTOR_SIZE; k++)
        sum += (double)descriptor[k] * descriptor[k];
    for (int k = 0; k < DESCRIPTOR_SIZE; k++)
        descriptor[k] = fminf((float)(descriptor[k] / sqrt(sum)), most);
}

struct describing {
    const struct image *work;
    struct feature *features;
    int count;
    float window[2 * REACH_PX + 1][2 * REACH_PX + 1]; /* weights of the pixels around a feature */
};

/* Lowe (2004): a Gaussian of half the descriptor's width. */
static void fill_window(struct describing *d)
{
    for (int j = -REACH_PX; j <= REACH_PX; j++)
        for (int i = -REACH_PX; i <= REACH_PX; i++) {
            float away = (float)(i * i + j * j) / (2 * .25f * (CELLS * CELL_PX) * (CELLS * CELL_PX));
            d->window[j + REACH_PX][i + REACH_PX] = esra_expf(-away);
        }
}

static void describe(const struct describing *d, struct feature *feature)
{
    int x = (int)lrintf(feature->x), y = (int)lrintf(feature->y);
    memset(feature->descriptor, 0, sizeof feature->descriptor);
    for (int j = -REACH_PX; j <= REACH_PX; j++) {
        const float *direction = plane_row(plane_of(d->work, DIRECTION), y + j) + x;
        const float *length = plane_row(plane_of(d->work, LENGTH), y + j) + x;
        const float *window = d->window[j + REACH_PX] + REACH_PX;
        float row = ((float)(y + j) - feature->y) / CELL_PX + .5f * (CELLS - 1);
        for (int i = -REACH_PX; i <= REACH_PX; i++) {
            float column = ((float)(x + i) - feature->x) / CELL_PX + .5f * (CELLS - 1);
            vote(feature->descriptor, column, row, direction[i], length[i] * window[i]);
        }
    }
    scale_to_unit(feature->descriptor, CLIP);
    scale_to_unit(feature->descriptor, 1);
}

static void describe_block(void *data, int task, int worker)
{
    const struct describing *d = data;
    (void)worker;
    for (int n = rows_begin(task); n < rows_end(task, d->count); n++)
        describe(d, &d->features[n]);
}

static esra_status find_at_level(struct features *features, struct context *context, const struct pyramid *pyramid,
                                 int level)
{
    struct feature *found = features->data + features->count;
    const struct image *image = &pyramid->level[level];
    struct image work;
    esra_status status = esra_image_reserve(&work, image->width, image->height, PLANES, context->message);
    if (status != ESRA_OK)
        return status;
    fill_grey(image, plane_of(&work, GREY));
    measure_corners(context, &work);
    struct describing d = {.work = &work, .features = found, .count = find_corners(&work, found)};
    fill_window(&d);
    esra_context_run(context, direct_block, &work, rows_blocks(work.height), NULL);
    esra_context_run(context, describe_block, &d, rows_blocks(d.count), NULL);
    for (int n = 0; n < d.count; n++) {
        found[n].level = level;
        found[n].x = ldexpf(found[n].x, level);
        found[n].y = ldexpf(found[n].y, level);
    }
    features->count += d.count;
    esra_image_free(&work);
    return ESRA_OK;
}

esra_status esra_features_find(struct features *features, struct context *context, const struct pyramid *pyramid)
{
    int first = 0;
    esra_status status = ESRA_OK;
    *features = (struct features){esra_allocate(FEATURE_LEVELS * PER_LEVEL, sizeof *features->data), 0};
    if (!features->data)
        return esra_fail_memory(context->message);
    while (first < pyramid->levels - 1 &&
           (double)pyramid->level[first].width * pyramid->level[first].height > FEATURE_PIXELS)
        first++;
    for (int level = first; level < pyramid->levels && level < first + FEATURE_LEVELS; level++)
        TRY(find_at_level(features, context, pyramid, level));
    return ESRA_OK;
done:
    esra_features_free(features);
    return status;
}

void esra_features_free(struct features *features)
{
    esra_release(&features->data);
    features->count = 0;
}
