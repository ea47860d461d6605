/* ops/extreme.c - extremes of a window, one axis after the other. Windows are small: each sample is compared with its
 * neighbours rather than kept in the running order of van Herk's algorithm, and the loops vectorise. */
#include "ops/extreme.h"

#include <string.h>

#include "base/rows.h"

struct extreme {
    struct plane from, to;
    int reach;
    float sign; /* 1: the largest; -1: the largest of what is negated */
};

/* best[x] = the larger, in the sense of sign, of best[x] and from[x]. */
static void keep_row(const float *from, float *best, int width, float sign)
{
    if (sign > 0)
        for (int x = 0; x < width; x++)
            best[x] = from[x] > best[x] ? from[x] : best[x];
    else
        for (int x = 0; x < width; x++)
            best[x] = from[x] < best[x] ? from[x] : best[x];
}

static void across(void *work, int task, int worker)
{
    const struct extreme *e = work;
    int width = e->from.width;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, e->from.height); y++) {
        const float *from = plane_row(e->from, y);
        float *to = plane_row(e->to, y);
        memcpy(to, from, (size_t)width * sizeof *to);
        for (int k = 1; k <= e->reach && k < width; k++) {
            keep_row(from + k, to, width - k, e->sign);
            keep_row(from, to + k, width - k, e->sign);
        }
    }
}

static void along(void *work, int task, int worker)
{
    const struct extreme *e = work;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, e->from.height); y++) {
        float *to = plane_row(e->to, y);
        memcpy(to, plane_row(e->from, y), (size_t)e->from.width * sizeof *to);
        for (int k = 1; k <= e->reach; k++) {
            if (y - k >= 0)
                keep_row(plane_row(e->from, y - k), to, e->from.width, e->sign);
            if (y + k < e->from.height)
                keep_row(plane_row(e->from, y + k), to, e->from.width, e->sign);
        }
    }
}

static void extreme(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch,
                    float sign)
{
    struct extreme first = {from, scratch, reach, sign}, second = {scratch, to, reach, sign};
    esra_context_run(context, across, &first, rows_blocks(from.height), NULL);
    esra_context_run(context, along, &second, rows_blocks(from.height), NULL);
}

void esra_largest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch)
{
    extreme(context, from, to, reach, scratch, 1);
}

void esra_smallest(struct context *context, struct plane from, struct plane to, int reach, struct plane scratch)
{
    extreme(context, from, to, reach, scratch, -1);
}
