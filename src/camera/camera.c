/* camera/camera.c - the camera of a series of photos, and the projection of an inverse depth image into them. */
#include "camera/camera.h"

#include <string.h>

#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "camera/bundle.h"
#include "camera/groups.h"
#include "camera/model.h"
#include "camera/tracks.h"

/* Far outside every photo. */
#define NOWHERE -1e6f

esra_status esra_camera_find(struct camera *camera, struct context *context, const struct image *photos, int count,
                             int reference)
{
    struct tracks tracks;
    esra_status status;
    *camera = (struct camera){0};
    TRY(esra_tracks_find(&tracks, context, photos, count, reference, NULL));
    TRY(esra_camera_of_tracks(camera, context, photos, &tracks));
done:
    esra_tracks_free(&tracks);
    return status;
}

esra_status esra_camera_of_tracks(struct camera *camera, struct context *context, const struct image *photos,
                                  const struct tracks *tracks)
{
    double *inverse = esra_allocate((size_t)tracks->count + 1, sizeof *inverse);
    esra_status status;
    *camera = (struct camera){0};
    TRY(inverse ? ESRA_OK : esra_fail_memory(context->message));
    TRY(esra_bundle(camera, context, tracks, inverse));
    TRY(esra_groups_find(camera, context, photos, tracks, inverse));
done:
    esra_release(&inverse);
    if (status != ESRA_OK)
        esra_camera_free(camera);
    return status;
}

esra_status esra_camera_copy(struct camera *to, const struct camera *from, struct message *message)
{
    size_t photos = (size_t)from->photos;
    *to = *from;
    to->pose = esra_allocate_untouched(photos, sizeof *to->pose);
    if (!to->pose)
        return esra_fail_memory(message);
    memcpy(to->pose, from->pose, photos * sizeof *to->pose);
    return ESRA_OK;
}

/* Pixels have their centres at whole numbers: the corner of the first is at (-.5, -.5) in every size. */
void esra_camera_resize(struct camera *camera, int width, int height)
{
    double scale = (double)width / camera->width;
    camera->width = width;
    camera->height = height;
    camera->focal_px *= scale;
    camera->cx = (camera->cx + .5) * scale - .5;
    camera->cy = (camera->cy + .5) * scale - .5;
    camera->error_px *= scale;
    camera->parallax_px *= scale;
}

void esra_camera_free(struct camera *camera)
{
    esra_release(&camera->pose);
    *camera = (struct camera){0};
}

struct mapping {
    const struct camera *camera;
    int photo;
    const struct image *inverse;
    struct canvas_offset offset;
    const struct image *to;
};

static void map_block(void *work, int task, int worker)
{
    const struct mapping *m = work;
    int width = m->to->width;
    (void)worker;
    for (int y = rows_begin(task); y < rows_end(task, m->to->height); y++) {
        const float *w = plane_row(image_plane(m->inverse, 0), y);
        float *across = plane_row(image_plane(m->to, 0), y), *down = plane_row(image_plane(m->to, 1), y);
        for (int x = 0; x < width; x++) {
            double u, v;
            bool before = model_project(m->camera, m->photo, x - m->offset.left, y - m->offset.top, w[x], &u, &v);
            across[x] = before ? (float)u : NOWHERE;
            down[x] = before ? (float)v : NOWHERE;
        }
    }
}
WIDE_TASK(map_block)

void esra_camera_map(struct context *context, const struct camera *camera, int n, const struct image *inverse,
                     struct canvas_offset offset, const struct image *to)
{
    struct mapping m = {camera, n, inverse, offset, to};
    esra_context_run(context, WIDE(context, map_block), &m, rows_blocks(to->height), NULL);
}
