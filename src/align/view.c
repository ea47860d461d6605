/* align/view.c - a photo made ready for alignment. */
#include "align/view.h"

#include "ops/thresholds.h"

esra_status esra_view_create(struct view *view, struct context *context, const struct image *photo, bool compress)
{
    struct pyramid_options options = {.most_pixels = PYRAMID_BASE_PIXELS, .compress = compress};
    esra_status status;
    *view = (struct view){.work_level = 0};
    TRY(esra_pyramid_create(&view->pyramid, context, photo, &options));
    TRY(esra_fields_of_pyramid(&view->fields, context, &view->pyramid, ops_thresholds.field_blur_px));
    TRY(esra_features_find(&view->features, context, &view->pyramid));
    const struct image *level = view->pyramid.level;
    while (view->work_level < view->pyramid.levels - 1 &&
           (double)level[view->work_level].width * level[view->work_level].height > VIEW_WORK_PIXELS)
        view->work_level++;
    return ESRA_OK;
done:
    esra_view_free(view);
    return status;
}

void esra_view_free(struct view *view)
{
    esra_pyramid_free(&view->pyramid);
    esra_fields_free(&view->fields);
    esra_features_free(&view->features);
}
