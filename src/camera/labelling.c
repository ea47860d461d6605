/* camera/labelling.c - median and speckle filters for maps of labels. */
#include "camera/labelling.h"

#include <math.h>

#include "base/memory.h"
#include "base/rows.h"
#include "base/select.h"
#include "base/wide.h"

#define MEDIAN_REACH 2
#define MEDIAN_COUNT ((2 * MEDIAN_REACH + 1) * (2 * MEDIAN_REACH + 1))

static int inside(int index, int size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : index;
}

struct filtering {
    struct plane from, to;
};

static void median_block(void *work, int task, int worker)
{
    const struct filtering *f = work;
    float values[MEDIAN_COUNT];
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, f->to.height); y++)
        for (int x = 0; x < f->to.width; x++) {
            float *next = values;
            for (int j = -MEDIAN_REACH; j <= MEDIAN_REACH; j++)
                for (int i = -MEDIAN_REACH; i <= MEDIAN_REACH; i++)
                    *next++ = plane_row(f->from, inside(y + j, f->from.height))[inside(x + i, f->from.width)];
            plane_row(f->to, y)[x] = esra_select_rank(values, MEDIAN_COUNT, MEDIAN_COUNT / 2);
        }
}
WIDE_TASK(median_block)

void esra_label_median(struct context *context, struct plane from, struct plane to)
{
    struct filtering f = {from, to};
    esra_context_run(context, WIDE(context, median_block), &f, rows_blocks(to.height), NULL);
}

/* marks before a pixel has been visited. */
#define UNSEEN -1.f

/* Lists the connected component of pixel `first` by flood fill, giving each the mark 0; returns their number. */
static int flood(struct plane labels, float apart, struct plane marks, int first, int *list)
{
    int width = labels.width, height = labels.height, count = 0, next = 0;
    marks.data[first] = 0;
    list[count++] = first;
    while (next < count) {
        int n = list[next++], x = n % width, y = n / width;
        const int beside[4] = {x > 0 ? n - 1 : n, x + 1 < width ? n + 1 : n, y > 0 ? n - width : n,
                               y + 1 < height ? n + width : n};
        for (int k = 0; k < 4; k++)
            if (marks.data[beside[k]] == UNSEEN && fabsf(labels.data[beside[k]] - labels.data[n]) <= apart) {
                marks.data[beside[k]] = 0;
                list[count++] = beside[k];
            }
    }
    return count;
}

esra_status esra_label_speckles(struct plane labels, int most, float apart, struct plane marks, struct message *message)
{
    int pixels = labels.width * labels.height;
    int *list = esra_allocate_untouched((size_t)pixels, sizeof *list);
    if (!list)
        return esra_fail_memory(message);
    for (int n = 0; n < pixels; n++)
        marks.data[n] = UNSEEN;
    for (int n = 0; n < pixels; n++) {
        if (marks.data[n] != UNSEEN)
            continue;
        int count = flood(labels, apart, marks, n, list);
        for (int k = 0; k < count && count <= most; k++)
            marks.data[list[k]] = 1;
    }
    esra_release(&list);
    return ESRA_OK;
}
