/* camera/sweep.c - the inputs of a plane sweep: the list of depths, and the gradients of the reduced photos. */
#include "camera/sweep.h"

#include <math.h>

#include "base/maths.h"
#include "camera/thresholds.h"
#include "ops/scale.h"
#include "ops/thresholds.h"

static void set_labels(struct sweep *s, int labels)
{
    s->labels = labels;
    s->padded = (labels + SWEEP_ALIGN - 1) / SWEEP_ALIGN * SWEEP_ALIGN;
}

/* The list of depths: from the nearest to the farthest and some more. */
static void list_labels(struct sweep *s, double scale)
{
    const struct camera *camera = s->camera;
    double farthest = 0, low = s->options.far, high = s->options.near;
    for (int n = 1; n < s->count; n++) {
        const double *t = camera->pose[s->photo[n]].t;
        farthest = fmax(farthest, esra_hypot(t[0], t[1]) * camera->focal_px * scale);
    }
    double more = s->options.margin * (high - low) + 1e-3 + s->options.reach * s->width / fmax(farthest, 1e-3);
    low -= more;
    high += more;
    double wanted = ceil((high - low) * farthest * s->options.labels_a_px) + 1;
    set_labels(s, (int)fmax(3, fmin(s->options.labels_most, wanted)));
    s->lowest = low;
    s->step = (high - low) / (s->labels - 1);
}

/* Whether photo a comes before photo b: more tracks, then the earlier. */
static bool precedes(const struct camera *camera, int a, int b)
{
    int tracks_a = camera->pose[a].tracks, tracks_b = camera->pose[b].tracks;
    return tracks_a > tracks_b || (tracks_a == tracks_b && a < b);
}

/* The reference and the photos with most tracks, in their own order; those whose pose is not to be trusted only where
 * it is so with all. */
static void list_photos(struct sweep *s)
{
    const struct camera *camera = s->camera;
    int most = 0;
    for (int n = 0; n < camera->photos; n++)
        most = n != camera->reference && camera->pose[n].tracks > most ? camera->pose[n].tracks : most;
    s->count = 1;
    s->photo[0] = camera->reference;
    for (int n = 0; n < camera->photos && s->count <= SWEEP_PHOTOS; n++) {
        int before = 0;
        for (int k = 0; k < camera->photos; k++)
            before += k != camera->reference && precedes(camera, k, n);
        bool trusted =
            camera->pose[n].tracks >= camera_thresholds.tracks_least || most < camera_thresholds.tracks_least;
        if (n != camera->reference && before < SWEEP_PHOTOS && trusted)
            s->photo[s->count++] = n;
    }
}

static esra_status load_photo(struct sweep *sweep, int n, struct context *context)
{
    struct image small = {0};
    esra_status status = esra_scale_down(&small, context, &sweep->photos[sweep->photo[n]], sweep->width, sweep->height,
                                         (struct range){0, 1});
    if (status == ESRA_OK)
        status = esra_field_of_image(&sweep->fields[n], context, &small, ops_thresholds.field_blur_px);
    if (status == ESRA_OK && n == 0 && !sweep->reference.data)
        sweep->reference = small;
    else
        esra_image_free(&small);
    return status;
}

esra_status esra_sweep_load(struct sweep *sweep, struct context *context)
{
    esra_status status = ESRA_OK;
    for (int n = 0; status == ESRA_OK && n < sweep->count; n++)
        if (!sweep->fields[n].data)
            status = load_photo(sweep, n, context);
    return status;
}

void esra_sweep_unload(struct sweep *sweep)
{
    for (int n = 0; n <= SWEEP_PHOTOS; n++)
        esra_field_free(&sweep->fields[n]);
}

esra_status esra_sweep_create(struct sweep *sweep, struct context *context, const struct camera *camera,
                              const struct image *photos, const struct sweep_options *options)
{
    *sweep = (struct sweep){.camera = camera, .photos = photos, .options = *options};
    esra_scale_sides(camera->width, camera->height, options->side_px, &sweep->width, &sweep->height);
    list_photos(sweep);
    list_labels(sweep, (double)sweep->width / camera->width);
    esra_status status = esra_sweep_load(sweep, context);
    if (status != ESRA_OK)
        esra_sweep_free(sweep);
    return status;
}

void esra_sweep_refine(struct sweep *sweep, struct plane own, struct plane fine, int parts)
{
    for (size_t n = 0; n < (size_t)sweep->width * (size_t)sweep->height; n++)
        fine.data[n] = (float)parts * own.data[n];
    set_labels(sweep, 2 * parts + 1);
    sweep->base = fine;
    sweep->lowest -= sweep->step;
    sweep->step /= parts;
}

void esra_sweep_free(struct sweep *sweep)
{
    esra_image_free(&sweep->reference);
    esra_sweep_unload(sweep);
    *sweep = (struct sweep){0};
}
