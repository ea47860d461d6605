/* ops/extend.c - pulls known pixels into coarser images, and pushes these into the gaps of the finer ones. */
#include "ops/extend.h"

#include <stdbool.h>

#include "base/cells.h"
#include "base/rows.h"

/* An image, and one of half its sides, which gets the means of what is known, and gives them to what is not. */
struct extending {
    struct image *fine;
    const struct image *known;
    struct image coarse, coarse_known;
};

/* The four fine pixels of coarse pixel (x, y): their mean by weight, and whether there was any. */
static void pull_pixel(const struct extending *e, int x, int y)
{
    const struct image *fine = e->fine;
    int columns[2] = {2 * x, cell_second(x, fine->width)}, rows[2] = {2 * y, cell_second(y, fine->height)};
    size_t at = (size_t)y * (size_t)e->coarse.width + (size_t)x, pixels = image_pixels(fine);
    float sums[4] = {0}, weight = 0;
    for (int k = 0; k < 4; k++) {
        size_t n = (size_t)rows[k / 2] * (size_t)fine->width + (size_t)columns[k % 2];
        float w = e->known->data[n] > 0;
        weight += w;
        for (int c = 0; c < fine->channels && w > 0; c++)
            sums[c] += fine->data[(size_t)c * pixels + n];
    }
    e->coarse_known.data[at] = weight > 0;
    for (int c = 0; c < fine->channels; c++)
        e->coarse.data[(size_t)c * image_pixels(&e->coarse) + at] = weight > 0 ? sums[c] / weight : 0;
}

static void pull_rows(void *work, int task, int worker)
{
    const struct extending *e = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, e->coarse.height); y++)
        for (int x = 0; x < e->coarse.width; x++)
            pull_pixel(e, x, y);
}

/* Bilinearly, where the fine image is not known. */
static void push_row(const struct extending *e, int c, int y)
{
    struct plane from = image_plane(&e->coarse, c);
    const float *near_row = plane_row(from, y / 2), *far_row = plane_row(from, cell_beside(y, from.height));
    const float *here = plane_row(image_plane(e->known, 0), y);
    float *to = plane_row(image_plane(e->fine, c), y);
    for (int x = 0; x < e->fine->width; x++) {
        int u = x / 2, v = cell_beside(x, from.width);
        if (!(here[x] > 0))
            to[x] = .75f * (.75f * near_row[u] + .25f * near_row[v]) + .25f * (.75f * far_row[u] + .25f * far_row[v]);
    }
}

static void push_rows(void *work, int task, int worker)
{
    const struct extending *e = work;
    (void)worker;
    for (int c = 0; c < e->fine->channels; c++)
        for (int y = rows_begin(task); y < rows_end(task, e->fine->height); y++)
            push_row(e, c, y);
}

static bool is_whole(const struct image *known)
{
    size_t pixels = image_pixels(known), n = 0;
    while (n < pixels && known->data[n] > 0)
        n++;
    return n == pixels;
}

esra_status esra_extend(struct context *context, struct image *image, const struct image *known)
{
    int width = (image->width + 1) / 2, height = (image->height + 1) / 2;
    struct extending e = {.fine = image, .known = known};
    esra_status status = ESRA_OK;
    if (is_whole(known))
        return ESRA_OK;
    TRY(esra_image_reserve(&e.coarse, width, height, image->channels, context->message));
    TRY(esra_image_reserve(&e.coarse_known, width, height, 1, context->message));
    esra_context_run(context, pull_rows, &e, rows_blocks(height), NULL);
    if (width > 1 || height > 1)
        TRY(esra_extend(context, &e.coarse, &e.coarse_known));
    esra_context_run(context, push_rows, &e, rows_blocks(image->height), NULL);
done:
    esra_image_free(&e.coarse);
    esra_image_free(&e.coarse_known);
    return status;
}
