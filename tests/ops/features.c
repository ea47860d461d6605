/* tests/ops/features.c - corners lie in their photo, and each is found once. */
#include "ops/features.h"

#include "context.h"

enum { WIDTH = 1024, HEIGHT = 768 };

/* Weak noise above, strong noise below, and none between, where cells stay empty: what one level leaves behind of its
 * last cells is stronger than anything in the first cells of the next. */
static void draw_noise(struct image *photo)
{
    struct message message;
    CHECK(esra_image_create(photo, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++) {
        int third = 3 * n / (WIDTH * HEIGHT);
        double reach = third == 0 ? 0.05 : third == 1 ? 0 : 0.5;
        photo->data[n] = (float)(0.5 + check_random(-reach, reach));
    }
}

static void features_lie_in_the_photo(void)
{
    struct context *context = make_context(2);
    struct image photo;
    struct pyramid pyramid;
    struct features features;
    draw_noise(&photo);
    struct pyramid_options options = {.most_pixels = 1e9};
    CHECK(esra_pyramid_create(&pyramid, context, &photo, &options) == ESRA_OK);
    CHECK(esra_features_find(&features, context, &pyramid) == ESRA_OK);
    CHECK(features.count > 1000);
    for (int n = 0; n < features.count; n++) {
        const struct feature *f = &features.data[n];
        if (!CHECK(f->x >= 0 && f->y >= 0 && f->x < WIDTH && f->y < HEIGHT))
            printf("    feature %d of level %d at %g, %g\n", n, f->level, (double)f->x, (double)f->y);
        for (int k = 0; k < n; k++)
            CHECK(f->x != features.data[k].x || f->y != features.data[k].y || f->level != features.data[k].level);
    }
    esra_features_free(&features);
    esra_pyramid_free(&pyramid);
    esra_image_free(&photo);
    esra_context_free(&context);
}

int main(void)
{
    RUN(features_lie_in_the_photo);
    return check_report();
}
