/* io/orient.c - turning a picture upright. An EXIF orientation names the side of the scene that the file's first row
 * and first column show: (top, left), (top, right), (bottom, right), (bottom, left), (left, top), (right, top), (right,
 * bottom), (left, bottom) for 1 to 8. So sample (x, y) of the upright picture stands in the file, of w x h, at (x, y),
 * (w-1-x, y), (w-1-x, h-1-y), (x, h-1-y), (y, x), (y, h-1-x), (w-1-y, h-1-x), (w-1-y, x). */
#include "io/orient.h"

#include <string.h>

#include "base/memory.h"

/* Where the upright picture begins in the file's plane, and the steps to its next sample and row. */
struct walk {
    ptrdiff_t start, column, row;
};

static struct walk walk_of(int orientation, ptrdiff_t w, ptrdiff_t h)
{
    ptrdiff_t last_row = (h - 1) * w;
    switch (orientation) {
    case 2: return (struct walk){w - 1, -1, w};
    case 3: return (struct walk){last_row + w - 1, -1, -w};
    case 4: return (struct walk){last_row, 1, -w};
    case 5: return (struct walk){0, w, 1};
    case 6: return (struct walk){last_row, -w, 1};
    case 7: return (struct walk){last_row + w - 1, -w, -1};
    case 8: return (struct walk){w - 1, w, -1};
    default: return (struct walk){0, 1, w};
    }
}

/* Square blocks, so that both sides of a transposition stay in the cache: 32 x 32 floats are 4 KiB. */
#define BLOCK 32

/* Its first sample, and the one past its last. */
struct block {
    int x0, y0, x1, y1;
};

static void turn_block(float *to, const float *from, struct walk walk, int width, struct block block)
{
    for (int y = block.y0; y < block.y1; y++)
        for (int x = block.x0; x < block.x1; x++)
            to[(ptrdiff_t)y * width + x] = from[walk.start + y * walk.row + x * walk.column];
}

static void turn_plane(float *to, const float *from, struct walk walk, int width, int height)
{
    for (int y = 0; y < height; y += BLOCK)
        for (int x = 0; x < width; x += BLOCK)
            turn_block(
                to, from, walk, width,
                (struct block){x, y, x + BLOCK < width ? x + BLOCK : width, y + BLOCK < height ? y + BLOCK : height});
}

esra_status esra_orient(struct image *image, int orientation, struct message *message)
{
    if (orientation <= 1 || orientation > 8)
        return ESRA_OK;
    size_t size = (size_t)image->width * (size_t)image->height;
    struct walk walk = walk_of(orientation, image->width, image->height);
    float *turned = esra_allocate_untouched(size, sizeof *turned);
    if (!turned)
        return esra_fail_memory(message);
    if (orientation >= 5) {
        int width = image->width;
        image->width = image->height;
        image->height = width;
    }
    for (int c = 0; c < image->channels; c++) {
        float *plane = image->data + (size_t)c * size;
        turn_plane(turned, plane, walk, image->width, image->height);
        memcpy(plane, turned, size * sizeof *plane);
    }
    esra_release(&turned);
    return ESRA_OK;
}
