/* pipeline/series.c - the caller's photos, smaller copies of them, and their roots. */
#include "pipeline/series.h"

#include <math.h>

#include "base/memory.h"
#include "base/rows.h"
#include "ops/blur.h"

static esra_status create_array(struct series *series, struct message *message)
{
    series->images = esra_allocate((size_t)series->photos, sizeof *series->images);
    return series->images ? ESRA_OK : esra_fail_memory(message);
}

static bool is_planar(const esra_image *image)
{
    return image->column_stride == 1 && image->row_stride == image->width &&
           (image->channels == 1 || image->channel_stride == (ptrdiff_t)image->width * image->height);
}

static esra_status take_photo(const struct series *series, const esra_image *image, struct image *to,
                              struct message *message)
{
    if (is_planar(image)) {
        *to = (struct image){image->data, series->width, series->height, series->channels, .lent = true};
        return ESRA_OK;
    }
    esra_status status = esra_image_create(to, series->width, series->height, series->channels, message);
    for (int c = 0; status == ESRA_OK && c < series->channels; c++)
        esra_plane_load(image_plane(to, c), image, c);
    return status;
}

esra_status esra_series_load(struct series *series, struct run *run)
{
    esra_status status;
    *series =
        (struct series){.light = run->input->light == ESRA_LIGHT_STORED ? LIGHT_STORED : LIGHT_LINEAR, .scale = 1};
    TRY(esra_series_check(series, run));
    TRY(create_array(series, run->context->message));
    for (int i = 0; i < series->photos; i++)
        TRY(take_photo(series, &run->input->images[i], &series->images[i], run->context->message));
done:
    return status;
}

static esra_status halve(struct context *context, const struct image *from, int times, struct image *to)
{
    struct image last = *from, next = {0};
    esra_status status = ESRA_OK;
    *to = (struct image){0};
    for (int n = 0; n < times; n++) {
        TRY(esra_image_reserve(&next, (last.width + 1) / 2, (last.height + 1) / 2, last.channels, context->message));
        for (int c = 0; c < last.channels; c++)
            esra_halve(context, image_plane(&last, c), image_plane(&next, c), 1);
        esra_image_free(to);
        *to = last = next;
    }
    return ESRA_OK;
done:
    esra_image_free(to);
    return status;
}

esra_status esra_series_halve(struct series *halved, const struct series *series, int times, struct run *run)
{
    esra_status status;
    *halved = *series;
    halved->scale = ldexp(series->scale, -times);
    TRY(create_array(halved, run->context->message));
    for (int n = 0; n < times; n++) {
        halved->width = (halved->width + 1) / 2;
        halved->height = (halved->height + 1) / 2;
    }
    for (int i = 0; i < series->photos && !esra_context_stopping(run->context); i++)
        TRY(halve(run->context, &series->images[i], times, &halved->images[i]));
done:
    return status;
}

esra_status esra_series_shrink(struct series *small, const struct series *series, struct run *run)
{
    int times = 0;
    for (double pixels = (double)series->width * series->height; pixels > SERIES_SMALL_PIXELS; pixels /= 4)
        times++;
    return esra_series_halve(small, series, times, run);
}

struct rooting {
    const struct image *from;
    struct image *to;
};

static void root_rows(void *work, int task, int worker)
{
    const struct rooting *r = work;
    (void)worker;
    for (int channel = 0; channel < r->from->channels; channel++)
        for (int y = rows_begin(task); y < rows_end(task, r->from->height); y++)
            for (int x = 0; x < r->from->width; x++) {
                float light = plane_row(image_plane(r->from, channel), y)[x];
                plane_row(image_plane(r->to, channel), y)[x] = light > 0 ? sqrtf(light) : 0;
            }
}

esra_status esra_series_root(struct series *roots, const struct series *series, struct run *run)
{
    esra_status status;
    *roots = *series;
    roots->light = LIGHT_ROOT;
    TRY(create_array(roots, run->context->message));
    for (int i = 0; i < series->photos; i++) {
        TRY(esra_image_create(&roots->images[i], series->width, series->height, series->channels,
                              run->context->message));
        esra_context_run(run->context, root_rows, &(struct rooting){&series->images[i], &roots->images[i]},
                         rows_blocks(series->height), NULL);
    }
done:
    return status;
}

void esra_series_free(struct series *series)
{
    esra_images_free(&series->images, series->photos);
    *series = (struct series){0};
}
