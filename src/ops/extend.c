/* ops/extend.c - pulls known pixels into coarser images, and pushes these into the gaps of the finer ones. */
#include "ops/extend.h"

#include <stdbool.h>

#include "base/cells.h"

/* The four fine pixels of coarse pixel (x, y): their mean by weight, and whether there was any. */
static void pull_pixel(const struct image *fine, const struct image *known, int x, int y, struct image *coarse,
                       struct image *coarse_known)
{
    int columns[2] = {2 * x, cell_second(x, fine->width)}, rows[2] = {2 * y, cell_second(y, fine->height)};
    size_t at = (size_t)y * (size_t)coarse->width + (size_t)x, pixels = image_pixels(fine);
    float sums[4] = {0}, weight = 0;
    for (int k = 0; k < 4; k++) {
        size_t n = (size_t)rows[k / 2] * (size_t)fine->width + (size_t)columns[k % 2];
        float w = known->data[n] > 0;
        weight += w;
        for (int c = 0; c < fine->channels && w > 0; c++)
            sums[c] += fine->data[(size_t)c * pixels + n];
    }
    coarse_known->data[at] = weight > 0;
    for (int c = 0; c < fine->channels; c++)
        coarse->data[(size_t)c * image_pixels(coarse) + at] = weight > 0 ? sums[c] / weight : 0;
}

/* Bilinearly, where the fine image is not known. */
static void push_row(struct image *fine, const struct image *known, const struct image *coarse, int c, int y)
{
    struct plane from = image_plane(coarse, c);
    const float *near_row = plane_row(from, y / 2), *far_row = plane_row(from, cell_beside(y, from.height));
    const float *here = plane_row(image_plane(known, 0), y);
    float *to = plane_row(image_plane(fine, c), y);
    for (int x = 0; x < fine->width; x++) {
        int u = x / 2, v = cell_beside(x, from.width);
        if (!(here[x] > 0))
            to[x] = .75f * (.75f * near_row[u] + .25f * near_row[v]) + .25f * (.75f * far_row[u] + .25f * far_row[v]);
    }
}

static bool is_whole(const struct image *known)
{
    size_t pixels = image_pixels(known), n = 0;
    while (n < pixels && known->data[n] > 0)
        n++;
    return n == pixels;
}

esra_status esra_extend(struct image *image, const struct image *known, struct message *message)
{
    int width = (image->width + 1) / 2, height = (image->height + 1) / 2;
    struct image coarse = {0}, coarse_known = {0};
    esra_status status = ESRA_OK;
    if (is_whole(known))
        return ESRA_OK;
    TRY(esra_image_create(&coarse, width, height, image->channels, message));
    TRY(esra_image_create(&coarse_known, width, height, 1, message));
    for (int n = 0; n < width * height; n++)
        pull_pixel(image, known, n % width, n / width, &coarse, &coarse_known);
    if (width > 1 || height > 1)
        TRY(esra_extend(&coarse, &coarse_known, message));
    for (int n = 0; n < image->channels * image->height; n++)
        push_row(image, known, &coarse, n / image->height, n % image->height);
done:
    esra_image_free(&coarse);
    esra_image_free(&coarse_known);
    return status;
}
