/* evidence/remains.c - pixels, and connected components of grid cells, that neither layer explains. */
#include "evidence/remains.h"

#include "base/memory.h"
#include "evidence/thresholds.h"

/* Cells across the frame, and the least side of one, px. */
#define CELLS_ACROSS 40
#define CELL_LEAST   4

#define UNEXPLAINED ((float)evidence_thresholds.unexplained_weight)

/* a - b, summed over the channels. */
static float difference_at(const struct image *a, const struct image *b, size_t n)
{
    size_t pixels = image_pixels(a);
    float sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += a->data[(size_t)c * pixels + n] - b->data[(size_t)c * pixels + n];
    return sum;
}

/* The mean weight of a cell; 1 where a part of it is not known. */
static double cell_weight(const struct explained_photo *photo, int left, int top, int side)
{
    double sum = 0;
    for (int y = top; y < top + side; y++)
        for (int x = left; x < left + side; x++) {
            size_t n = (size_t)y * (size_t)photo->mask->width + (size_t)x;
            if (!(photo->mask->data[n] > 0))
                return 1;
            sum += photo->weight->data[n];
        }
    return sum / ((double)side * side);
}

/* A grid of square cells. */
struct cells {
    unsigned char *lost; /* 1: unexplained, and not yet counted */
    int *queue;          /* cells of the patch being counted */
    int across, down;
};

/* Counts the connected component of cell n, by flood fill, and clears it. */
static int count_patch(struct cells *cells, int n)
{
    int begin = 0, end = 0;
    cells->queue[end++] = n;
    cells->lost[n] = 0;
    while (begin < end) {
        int here = cells->queue[begin++], x = here % cells->across, y = here / cells->across;
        const int beside[4] = {x > 0 ? here - 1 : here, x + 1 < cells->across ? here + 1 : here,
                               y > 0 ? here - cells->across : here, y + 1 < cells->down ? here + cells->across : here};
        for (int k = 0; k < 4; k++)
            if (cells->lost[beside[k]]) {
                cells->lost[beside[k]] = 0;
                cells->queue[end++] = beside[k];
            }
    }
    return end;
}

static esra_status find_patches(const struct explained_photo *photo, struct remains *remains, struct message *message)
{
    int side = photo->mask->width / CELLS_ACROSS > CELL_LEAST ? photo->mask->width / CELLS_ACROSS : CELL_LEAST;
    struct cells cells = {.across = photo->mask->width / side, .down = photo->mask->height / side};
    int count = cells.across * cells.down, all = 0, largest = 0;
    esra_status status = ESRA_OK;
    if (photo->mask->width < CELLS_ACROSS * CELL_LEAST || count == 0)
        return ESRA_OK;
    cells.lost = esra_allocate((size_t)count, sizeof *cells.lost);
    cells.queue = esra_allocate((size_t)count, sizeof *cells.queue);
    if (!cells.lost || !cells.queue)
        TRY(esra_fail_memory(message));
    for (int n = 0; n < count; n++)
        cells.lost[n] = cell_weight(photo, n % cells.across * side, n / cells.across * side, side) < UNEXPLAINED;
    for (int n = 0; n < count; n++)
        if (cells.lost[n]) {
            int patch = count_patch(&cells, n);
            all += patch;
            largest = patch > largest ? patch : largest;
        }
    remains->patches = (double)all / count;
    remains->largest = (double)largest / count;
done:
    esra_release(&cells.lost);
    esra_release(&cells.queue);
    return status;
}

esra_status esra_remains_find(const struct explained_photo *photo, struct remains *remains, struct message *message)
{
    size_t pixels = image_pixels(photo->mask), known = 0, darker = 0, brighter = 0;
    *remains = (struct remains){0};
    for (size_t n = 0; n < pixels; n++) {
        known += photo->mask->data[n] > 0;
        if (!(photo->mask->data[n] > 0) || photo->weight->data[n] >= UNEXPLAINED)
            continue;
        float difference = difference_at(photo->shown, photo->predicted, n);
        darker += difference < 0;
        brighter += difference > 0;
    }
    remains->darker = known ? (double)darker / (double)known : 0;
    remains->brighter = known ? (double)brighter / (double)known : 0;
    return find_patches(photo, remains, message);
}
