/* tests/camera/blocks.c - blocks of made photos whose displacements are known, and tracks that follow them. */
#include "camera/blocks.h"

#include "camera/scene.h"

enum { WIDTH = 240, HEIGHT = 180, PHOTOS = 3 };

static const double shift[PHOTOS][2] = {{0, 0}, {13.4, -7.3}, {-21.8, 5.6}};

/* Photos of a layer that is shifted, another one standing still over it. */
struct layers {
    struct image photo[PHOTOS], seen[PHOTOS], still[PHOTOS];
};

static void create(struct layers *l, double moving, double standing, double noise)
{
    struct message message;
    *l = (struct layers){0};
    for (int i = 0; i < PHOTOS; i++) {
        CHECK(esra_image_create(&l->photo[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        CHECK(esra_image_create(&l->seen[i], WIDTH, HEIGHT, 1, &message) == ESRA_OK);
        CHECK(esra_image_create(&l->still[i], WIDTH, HEIGHT, 2, &message) == ESRA_OK);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                float *maps = l->still[i].data + y * WIDTH + x;
                double value = .1 + moving * texture(x - shift[i][0] + 99, y - shift[i][1] + 99, 1) +
                               standing * texture(x + 99, y + 99, 2) + check_random(-noise, noise);
                l->photo[i].data[y * WIDTH + x] = (float)value;
                l->seen[i].data[y * WIDTH + x] = 1;
                maps[0] = (float)x;
                maps[WIDTH * HEIGHT] = (float)y;
            }
    }
}

static void destroy(struct layers *l)
{
    for (int i = 0; i < PHOTOS; i++) {
        esra_image_free(&l->photo[i]);
        esra_image_free(&l->seen[i]);
        esra_image_free(&l->still[i]);
    }
}

static struct tracks find(const struct layers *l, struct context *context, const struct image *still)
{
    struct blocks_options options = {.seen = l->seen, .still = still};
    struct tracks tracks;
    CHECK(esra_blocks_find(&tracks, context, l->photo, PHOTOS, 0, &options) == ESRA_OK);
    return tracks;
}

static double error_of(const struct tracks *tracks, int n, int i)
{
    const struct sighting *from = track_at(tracks, n, 0), *to = track_at(tracks, n, i);
    return hypot(to->x - from->x - shift[i][0], to->y - from->y - shift[i][1]);
}

static int count_seen(const struct tracks *tracks, int i)
{
    int seen = 0;
    for (int n = 0; n < tracks->count; n++)
        seen += track_at(tracks, n, i)->seen;
    return seen;
}

/* The most that a sighting is off, px. */
static double worst_of(const struct tracks *tracks)
{
    double worst = 0;
    for (int n = 0; n < tracks->count; n++)
        for (int i = 1; i < PHOTOS; i++)
            if (track_at(tracks, n, i)->seen)
                worst = fmax(worst, error_of(tracks, n, i));
    return worst;
}

static void a_faint_layer_is_found(void)
{
    struct context *context = make_context(1);
    struct layers l;
    create(&l, .02, 0, .002);
    struct tracks tracks = find(&l, context, l.still);
    for (int i = 1; i < PHOTOS; i++)
        CHECK(count_seen(&tracks, i) > 80); /* of 13 x 9, less what has left the photo */
    CHECK(worst_of(&tracks) < .6);
    esra_tracks_free(&tracks);
    destroy(&l);
    esra_context_free(&context);
}

static int count_right(const struct tracks *tracks)
{
    int right = 0;
    for (int n = 0; n < tracks->count; n++)
        for (int i = 1; i < PHOTOS; i++)
            right += track_at(tracks, n, i)->seen && error_of(tracks, n, i) < 2;
    return right;
}

/* Of two layers as strong either is matched, but for the one that is left out. */
static void another_layer_is_left_out(void)
{
    struct context *context = make_context(1);
    struct layers l;
    create(&l, .1, .1, 0);
    struct tracks without = find(&l, context, l.still);
    for (int i = 0; i < PHOTOS; i++)
        for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
            l.still[i].data[n] = 1e6f; /* far outside */
    struct tracks with = find(&l, context, l.still);
    CHECK(count_right(&without) > 150 && count_right(&with) < 120);
    CHECK(count_seen(&without, 1) + count_seen(&without, 2) < count_right(&without) + 10);
    esra_tracks_free(&without);
    esra_tracks_free(&with);
    destroy(&l);
    esra_context_free(&context);
}

static void noise_has_no_displacement(void)
{
    struct context *context = make_context(1);
    struct layers l;
    create(&l, 0, 0, .1);
    struct tracks tracks = find(&l, context, l.still);
    CHECK(count_seen(&tracks, 1) + count_seen(&tracks, 2) < 10);
    esra_tracks_free(&tracks);
    destroy(&l);
    esra_context_free(&context);
}

static void what_is_not_seen_is_not_matched(void)
{
    struct context *context = make_context(1);
    struct layers l;
    create(&l, .1, 0, 0);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        l.seen[0].data[n] = n % WIDTH < WIDTH / 2 ? 0 : 1;
    memset(l.seen[2].data, 0, WIDTH * HEIGHT * sizeof(float));
    struct tracks tracks = find(&l, context, l.still);
    CHECK(count_seen(&tracks, 1) > 20 && count_seen(&tracks, 2) == 0);
    for (int n = 0; n < tracks.count; n++)
        CHECK(track_at(&tracks, n, 0)->x > WIDTH / 2 - BLOCK_PX / 2);
    esra_tracks_free(&tracks);
    destroy(&l);
    esra_context_free(&context);
}

/* Large photos are matched at BLOCKS_SIDE_PX, and where the vectors are wider, with the same bits. */
static void sizes_and_bits(void)
{
    struct context *one = make_context(1), *three = make_context(3);
    struct layers l;
    create(&l, .1, .05, .01);
    esra_context_limit(one, 0);
    struct tracks a = find(&l, one, l.still), b = find(&l, three, l.still);
    CHECK(a.count == b.count && a.count > 0);
    CHECK(memcmp(a.at, b.at, (size_t)a.count * PHOTOS * sizeof *a.at) == 0);
    esra_tracks_free(&a);
    esra_tracks_free(&b);
    destroy(&l);
    esra_context_free(&one);
    esra_context_free(&three);
}

/* Smaller than a block: nothing to match. */
static void a_small_photo_has_no_blocks(void)
{
    struct context *context = make_context(1);
    struct message message;
    struct image photo[2] = {{0}}, seen[2] = {{0}}, still[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        CHECK(esra_image_create(&photo[i], 40, 60, 3, &message) == ESRA_OK);
        CHECK(esra_image_create(&seen[i], 40, 60, 1, &message) == ESRA_OK);
        CHECK(esra_image_create(&still[i], 40, 60, 2, &message) == ESRA_OK);
    }
    struct tracks tracks;
    CHECK(esra_blocks_find(&tracks, context, photo, 2, 1, &(struct blocks_options){seen, still}) == ESRA_OK);
    CHECK(tracks.count == 0);
    esra_tracks_free(&tracks);
    for (int i = 0; i < 2; i++) {
        esra_image_free(&photo[i]);
        esra_image_free(&seen[i]);
        esra_image_free(&still[i]);
    }
    esra_context_free(&context);
}

/* Corners follow what blocks say, though something stronger stands still over them. */
static void corners_are_guided(void)
{
    struct context *context = make_context(1);
    struct layers l;
    create(&l, .3, .3, 0);
    struct tracks blocks = find(&l, context, l.still), guided, alone;
    CHECK(esra_tracks_find(&guided, context, l.photo, PHOTOS, 0, &blocks) == ESRA_OK);
    CHECK(esra_tracks_find(&alone, context, l.photo, PHOTOS, 0, NULL) == ESRA_OK);
    int of_guided = 0, of_alone = 0;
    for (int n = 0; n < guided.count; n++)
        of_guided += track_at(&guided, n, 1)->seen && error_of(&guided, n, 1) < 1.5;
    for (int n = 0; n < alone.count; n++)
        of_alone += track_at(&alone, n, 1)->seen && error_of(&alone, n, 1) < 1.5;
    CHECK(of_guided > 20 && of_guided > 2 * of_alone);
    esra_tracks_free(&blocks);
    esra_tracks_free(&guided);
    esra_tracks_free(&alone);
    destroy(&l);
    esra_context_free(&context);
}

int main(void)
{
    RUN(a_faint_layer_is_found);
    RUN(another_layer_is_left_out);
    RUN(noise_has_no_displacement);
    RUN(what_is_not_seen_is_not_matched);
    RUN(sizes_and_bits);
    RUN(a_small_photo_has_no_blocks);
    RUN(corners_are_guided);
    return check_report();
}
