/* camera/labelling.c - median and speckle filters for maps of labels. */
#include "camera/labelling.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"

#define MEDIAN_REACH 2
#define MEDIAN_COUNT ((2 * MEDIAN_REACH + 1) * (2 * MEDIAN_REACH + 1))
/* Medians of so many pixels are found at once, by vectors. */
#define BESIDE 8
typedef float many __attribute__((vector_size(BESIDE * sizeof(float))));
typedef int32_t many_bits __attribute__((vector_size(BESIDE * sizeof(int32_t))));

static int inside(int index, int size)
{
    return index < 0 ? 0 : index >= size ? size - 1 : index;
}

struct filtering {
    struct plane from, to;
};

/* The lesser of every pair into the first. */
static void exchange(many *first, many *second)
{
    many a = *first, b = *second;
    many_bits less = a < b, kept = (many_bits)a & less, given = (many_bits)b & ~less;
    *first = (many)(kept | given);
    *second = (many)(((many_bits)a & ~less) | ((many_bits)b & less));
}

/* The median of so many values, of BESIDE pixels at once, into values[1]. Of any (n + 3)/2 of n values the least and
 * the largest are not the median: both are forgotten, another value comes in for them, and so on until three are left.
 */
static void select_medians(many values[MEDIAN_COUNT])
{
    int next = (MEDIAN_COUNT + 3) / 2;
    for (int count = next; count >= 3; count--) {
        for (int k = 1; k < count; k++)
            exchange(&values[0], &values[k]);
        for (int k = 1; k < count - 1; k++)
            exchange(&values[k], &values[count - 1]);
        if (count > 3)
            values[0] = values[next++];
    }
}

/* Values around pixels (x .. x + BESIDE - 1, y), borders repeated. */
static void take_windows(struct plane from, int x, int y, many *next)
{
    for (int j = -MEDIAN_REACH; j <= MEDIAN_REACH; j++) {
        const float *row = plane_row(from, inside(y + j, from.height));
        for (int i = x - MEDIAN_REACH; i <= x + MEDIAN_REACH; i++, next++)
            if (i >= 0 && i + BESIDE <= from.width)
                memcpy(next, row + i, sizeof *next);
            else
                for (int k = 0; k < BESIDE; k++)
                    (*next)[k] = row[inside(i + k, from.width)];
    }
}

static void median_block(void *work, int task, int worker)
{
    const struct filtering *f = work;
    many values[MEDIAN_COUNT];
    int width = f->to.width;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, f->to.height); y++)
        for (int x = 0; x < width; x += BESIDE) {
            take_windows(f->from, x, y, values);
            select_medians(values);
            memcpy(plane_row(f->to, y) + x, &values[1],
                   (size_t)(width - x < BESIDE ? width - x : BESIDE) * sizeof(float));
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
