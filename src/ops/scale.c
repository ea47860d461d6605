/* ops/scale.c - images of other sizes: means over areas down, bilinear up. */
#include "ops/scale.h"

#include <math.h>

#include "base/rows.h"

void esra_scale_sides(int width, int height, int side_px, int *to_width, int *to_height)
{
    double scale = fmin(1, (double)side_px / fmax(width, height));
    *to_width = (int)fmax(1, floor(width * scale + .5));
    *to_height = (int)fmax(1, floor(height * scale + .5));
}

struct scaling {
    struct plane from, to;
    struct range range;
};

static float clip(float value, struct range range)
{
    return value > range.lowest ? value < range.highest ? value : range.highest : range.lowest;
}

/* to's rows are the means of from's over their areas; columns stay. */
static void average_rows(void *work, int task, int worker)
{
    const struct scaling *s = work;
    double ratio = (double)s->from.height / s->to.height;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, s->to.height); y++) {
        double begin = y * ratio, end = begin + ratio;
        float *to = plane_row(s->to, y);
        for (int j = (int)begin; j < end && j < s->from.height; j++) {
            float weight = (float)((fmin(end, j + 1) - fmax(begin, j)) / ratio);
            const float *from = plane_row(s->from, j);
            for (int x = 0; x < s->to.width; x++)
                to[x] += weight * clip(from[x], s->range);
        }
    }
}

static void average_columns(void *work, int task, int worker)
{
    const struct scaling *s = work;
    double ratio = (double)s->from.width / s->to.width;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, s->to.height); y++)
        for (int x = 0; x < s->to.width; x++) {
            double begin = x * ratio, end = begin + ratio, sum = 0;
            for (int i = (int)begin; i < end && i < s->from.width; i++)
                sum += (fmin(end, i + 1) - fmax(begin, i)) * (double)plane_row(s->from, y)[i];
            plane_row(s->to, y)[x] = (float)(sum / ratio);
        }
}

esra_status esra_scale_down(struct image *to, struct context *context, const struct image *from, int width, int height,
                            struct range range)
{
    int channels = from->channels < 3 ? from->channels : 3;
    struct image low = {0};
    esra_status status;
    *to = (struct image){0};
    TRY(esra_image_create(&low, from->width, height, channels, context->message));
    TRY(esra_image_create(to, width, height, channels, context->message));
    for (int c = 0; c < channels; c++) {
        struct scaling s = {image_plane(from, c), image_plane(&low, c), range};
        esra_context_run(context, average_rows, &s, rows_blocks(height), NULL);
        s = (struct scaling){image_plane(&low, c), image_plane(to, c), {0, 0}};
        esra_context_run(context, average_columns, &s, rows_blocks(height), NULL);
    }
done:
    esra_image_free(&low);
    return status;
}

/* The two samples around the place of pixel x, and how far towards the second. */
static float between(int x, double ratio, int size, int *first, int *second)
{
    double at = fmax(0, fmin(size - 1, (x + .5) * ratio - .5));
    *first = (int)at;
    *second = *first + 1 < size ? *first + 1 : *first;
    return (float)(at - *first);
}

static void enlarge_block(void *work, int task, int worker)
{
    const struct scaling *s = work;
    double across = (double)s->from.width / s->to.width, down = (double)s->from.height / s->to.height;
    int left, right, upper, lower;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, s->to.height); y++) {
        float fy = between(y, down, s->from.height, &upper, &lower);
        const float *a = plane_row(s->from, upper), *b = plane_row(s->from, lower);
        for (int x = 0; x < s->to.width; x++) {
            float fx = between(x, across, s->from.width, &left, &right);
            float above = a[left] + fx * (a[right] - a[left]), below = b[left] + fx * (b[right] - b[left]);
            plane_row(s->to, y)[x] = above + fy * (below - above);
        }
    }
}

void esra_scale_up(struct context *context, struct plane from, struct plane to)
{
    struct scaling s = {from, to, {0, 0}};
    esra_context_run(context, enlarge_block, &s, rows_blocks(to.height), NULL);
}
