/* camera/tracks.c - points of the reference tracked to every photo.
 *
 * They come from two sources: features, whose matches bridge large motions, and corners, which are more, lie where
 * descriptors are too alike to be matched, and are found by tracking alone. Both are tracked to parts of a pixel, and
 * kept where the forward-backward error is small: tracked back, they end where they began (Kalal, Mikolajczyk & Matas
 * 2010). Where blocks are known corners are followed from where these say, for something else that moves otherwise may
 * lie over them; blocks are the third source then, where points are few. */
#include "camera/tracks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "camera/blocks.h"
#include "camera/corners.h"
#include "camera/follow.h"
#include "camera/thresholds.h"
#include "ops/features.h"
#include "ops/thresholds.h"

#define CORNERS_MOST 2500
#define TRACKS_MOST  1500
/* With many photos each track has many sightings, and the bundle's time grows with the square of the photos' number. */
#define SIGHTINGS_MOST 18000
/* Cells a side: each gives its best track before any gives its second. */
#define CELLS 24

struct sight {
    struct pyramid pyramid;
    struct grey grey;
    struct features features;
};

static esra_status grey_of(const struct image *photo, struct image *grey, struct message *message)
{
    size_t pixels = image_pixels(photo);
    int channels = photo->channels < 3 ? photo->channels : 3;
    esra_status status = esra_image_create(grey, photo->width, photo->height, 1, message);
    for (int c = 0; status == ESRA_OK && c < channels; c++)
        for (size_t n = 0; n < pixels; n++)
            grey->data[n] += photo->data[(size_t)c * pixels + n] / (float)channels;
    return status;
}

static void sight_free(struct sight *sight)
{
    esra_pyramid_free(&sight->pyramid);
    esra_grey_free(&sight->grey);
    esra_features_free(&sight->features);
}

static esra_status sight_create(struct sight *sight, struct context *context, const struct image *photo)
{
    struct pyramid_options options = {.most_pixels = PYRAMID_BASE_PIXELS};
    struct image grey = {0};
    esra_status status;
    TRY(grey_of(photo, &grey, context->message));
    TRY(esra_pyramid_create(&sight->pyramid, context, &grey, &options));
    TRY(esra_grey_create(&sight->grey, &sight->pyramid, context->message));
    TRY(esra_features_find(&sight->features, context, &sight->pyramid));
done:
    esra_image_free(&grey);
    return status;
}

/* Features of the reference, and what other photos match to them; those without a match are left out later, being seen
 * nowhere. */
static esra_status list_features(struct tracks *tracks, int *level, struct context *context, const struct sight *sights,
                                 double reach_px)
{
    const struct features *features = &sights[tracks->reference].features;
    for (int n = 0; n < features->count; n++) {
        *track_at(tracks, n, tracks->reference) = (struct sighting){features->data[n].x, features->data[n].y, true};
        level[n] = features->data[n].level < FOLLOW_COARSEST ? features->data[n].level : FOLLOW_COARSEST - 1;
    }
    tracks->count = features->count;
    for (int photo = 0; photo < tracks->photos; photo++) {
        struct matches matches;
        if (photo == tracks->reference)
            continue;
        esra_status status =
            esra_features_match_mutually(&matches, context, features, &sights[photo].features, reach_px);
        if (status != ESRA_OK)
            return status;
        for (int k = 0; k < matches.count; k++)
            *track_at(tracks, matches.data[k].from, photo) =
                (struct sighting){matches.data[k].u, matches.data[k].v, true};
        esra_matches_free(&matches);
    }
    return ESRA_OK;
}

static void list_corners(struct tracks *tracks, int *level, const struct corner *corners, int count)
{
    for (int n = 0; n < count; n++, tracks->count++) {
        *track_at(tracks, tracks->count, tracks->reference) = (struct sighting){corners[n].x, corners[n].y, true};
        level[tracks->count] = FOLLOW_COARSEST;
    }
}

/* The block that photo `photo` shows and whose middle is nearest to (x, y), px of the photos; NULL where it is farther
 * than three quarters of a block. */
static const struct sighting *nearest_block(const struct tracks *blocks, double x, double y, int photo)
{
    double longer = fmax(blocks->width, blocks->height);
    double least = .75 * BLOCK_PX * fmax(longer / BLOCKS_SIDE_PX, 1);
    const struct sighting *nearest = NULL;
    for (int n = 0; n < blocks->count; n++) {
        const struct sighting *middle = track_at(blocks, n, blocks->reference);
        double away = esra_hypot(middle->x - x, middle->y - y);
        if (away < least && track_at(blocks, n, photo)->seen) {
            least = away;
            nearest = track_at(blocks, n, 0);
        }
    }
    return nearest;
}

/* Blocks are matched to a pixel or so of their own size: tracking begins at half of that, and not as corners do. */
static int level_of_blocks(const struct tracks *blocks, double scale)
{
    int level = image_halvings((int)(blocks->width * scale), (int)(blocks->height * scale), BLOCKS_SIDE_PX) + 1;
    return level < FOLLOW_COARSEST ? level : FOLLOW_COARSEST - 1;
}

/* Corners as the blocks around them move; a photo that has no such block does not see them. */
static void guide_corners(struct tracks *tracks, int *level, int first, const struct tracks *blocks, double scale)
{
    for (int n = first; n < tracks->count; n++) {
        const struct sighting *corner = track_at(tracks, n, tracks->reference);
        level[n] = level_of_blocks(blocks, scale);
        for (int i = 0; i < tracks->photos; i++) {
            const struct sighting *block =
                i == tracks->reference ? NULL : nearest_block(blocks, corner->x / scale, corner->y / scale, i);
            if (block)
                *track_at(tracks, n, i) =
                    (struct sighting){corner->x + scale * (block[i].x - block[tracks->reference].x),
                                      corner->y + scale * (block[i].y - block[tracks->reference].y), true};
        }
    }
}

/* Points are exacter than blocks: these are tracks where points are few that are seen in as many photos as tracks must
 * be.
 */
static bool wants_blocks(const struct tracks *tracks, int least)
{
    int count = 0;
    for (int n = 0; n < tracks->count; n++)
        count += track_length(tracks, n) >= least;
    return count < (int)camera_thresholds.points_enough;
}

static void list_blocks(struct tracks *tracks, const struct tracks *blocks, double scale)
{
    for (int n = 0; n < blocks->count; n++, tracks->count++)
        for (int i = 0; i < tracks->photos; i++) {
            const struct sighting *at = track_at(blocks, n, i);
            *track_at(tracks, tracks->count, i) = (struct sighting){scale * at->x, scale * at->y, at->seen};
        }
}

/* Fills tracks with everything that could be tracked somewhere. */
static esra_status follow_all(struct tracks *tracks, struct context *context, const struct sight *sights,
                              const struct tracks *blocks)
{
    const struct sight *reference = &sights[tracks->reference];
    const struct image *base = &reference->pyramid.level[0];
    const struct grey **grey = esra_allocate((size_t)tracks->photos, sizeof *grey);
    struct corner *corners = NULL;
    int count = 0, *level = NULL;
    esra_status status;
    TRY(esra_corners_find(&corners, &count, CORNERS_MOST, context, &reference->pyramid));
    size_t most = (size_t)count + (size_t)reference->features.count + (size_t)(blocks ? blocks->count : 0) + 1;
    tracks->at = esra_allocate(most * (size_t)tracks->photos, sizeof *tracks->at);
    level = esra_allocate(most, sizeof *level);
    TRY(grey && tracks->at && level ? ESRA_OK : esra_fail_memory(context->message));
    for (int n = 0; n < tracks->photos; n++)
        grey[n] = &sights[n].grey;
    TRY(list_features(tracks, level, context, sights, ops_thresholds.reach * fmax(base->width, base->height)));
    list_corners(tracks, level, corners, count);
    if (blocks)
        guide_corners(tracks, level, reference->features.count, blocks, reference->pyramid.scale);
    TRY(esra_follow(&(struct points){tracks, grey, level}, context));
    if (blocks && wants_blocks(tracks, tracks->photos > 2 ? 2 : 1))
        list_blocks(tracks, blocks, reference->pyramid.scale);
done:
    esra_release(&grey);
    esra_release(&corners);
    esra_release(&level);
    return status;
}

static void to_photo_px(const struct tracks *tracks, double scale)
{
    for (int n = 0; n < tracks->count * tracks->photos; n++) {
        tracks->at[n].x /= scale;
        tracks->at[n].y /= scale;
    }
}

static void keep_track(struct tracks *tracks, int from, int to)
{
    memmove(track_at(tracks, to, 0), track_at(tracks, from, 0), (size_t)tracks->photos * sizeof *tracks->at);
}

/* Leaves out tracks seen in fewer than `least` photos. */
static void drop_short(struct tracks *tracks, int least)
{
    int kept = 0;
    for (int n = 0; n < tracks->count; n++)
        if (track_length(tracks, n) >= least)
            keep_track(tracks, n, kept++);
    tracks->count = kept;
}

static int cell_of(const struct tracks *tracks, int n)
{
    const struct sighting *at = track_at(tracks, n, tracks->reference);
    int column = (int)(at->x * CELLS / tracks->width), row = (int)(at->y * CELLS / tracks->height);
    column = column < 0 ? 0 : column >= CELLS ? CELLS - 1 : column;
    row = row < 0 ? 0 : row >= CELLS ? CELLS - 1 : row;
    return row * CELLS + column;
}

static bool same_place(const struct tracks *tracks, int a, int b)
{
    const struct sighting *p = track_at(tracks, a, tracks->reference), *q = track_at(tracks, b, tracks->reference);
    return fabs(p->x - q->x) < 1 && fabs(p->y - q->y) < 1;
}

struct place {
    int track, cell, length, rank;
};

static int by_cell(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->cell != q->cell)
        return p->cell < q->cell ? -1 : 1;
    if (p->length != q->length)
        return p->length > q->length ? -1 : 1;
    return p->track < q->track ? -1 : 1;
}

static int by_rank(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    return by_cell(a, b);
}

static int by_track(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    return p->track < q->track ? -1 : 1;
}

/* Sorts by cell and ranks within it, longer tracks first; leaves out one that begins where a better one does. Returns
 * how many are left. */
static int rank_places(const struct tracks *tracks, struct place *places)
{
    int kept = 0, begin = 0;
    for (int n = 0; n < tracks->count; n++)
        places[n] = (struct place){n, cell_of(tracks, n), track_length(tracks, n), 0};
    qsort(places, (size_t)tracks->count, sizeof *places, by_cell);
    for (int n = 0; n < tracks->count; n++) {
        bool taken = false;
        if (kept && places[begin].cell != places[n].cell)
            begin = kept;
        for (int k = begin; k < kept && !taken; k++)
            taken = same_place(tracks, places[n].track, places[k].track);
        if (!taken) {
            places[kept] = places[n];
            places[kept].rank = kept - begin;
            kept++;
        }
    }
    return kept;
}

/* Every cell gives its best track, then its second, ..., until there are enough. */
static esra_status spread(struct tracks *tracks, struct message *message)
{
    int most = SIGHTINGS_MOST / tracks->photos < TRACKS_MOST ? SIGHTINGS_MOST / tracks->photos : TRACKS_MOST;
    struct place *places = esra_allocate((size_t)tracks->count + 1, sizeof *places);
    if (!places)
        return esra_fail_memory(message);
    int count = rank_places(tracks, places);
    qsort(places, (size_t)count, sizeof *places, by_rank);
    count = count < most ? count : most;
    qsort(places, (size_t)count, sizeof *places, by_track);
    for (int n = 0; n < count; n++)
        keep_track(tracks, places[n].track, n);
    tracks->count = count;
    esra_release(&places);
    return ESRA_OK;
}

static void check_photo(void *work, int task, int worker)
{
    const struct tracks *tracks = work;
    (void)worker;
    if (task != tracks->reference)
        esra_tracks_check(tracks, task);
}

static void free_sights(struct sight *sights, int count)
{
    for (int n = 0; sights && n < count; n++)
        sight_free(&sights[n]);
    esra_release(&sights);
}

/* Corners are sought in the reference alone: what the others' pyramids hold is in their grey levels and features. */
static esra_status make_sights(struct sight *sights, struct context *context, const struct image *photos, int count,
                               int reference)
{
    for (int n = 0; n < count && !esra_context_stopping(context); n++) {
        esra_status status = sight_create(&sights[n], context, &photos[n]);
        if (status != ESRA_OK)
            return status;
        if (n != reference)
            esra_pyramid_free(&sights[n].pyramid);
    }
    return ESRA_OK;
}

esra_status esra_tracks_find(struct tracks *tracks, struct context *context, const struct image *photos, int count,
                             int reference, const struct tracks *blocks)
{
    struct sight *sights = esra_allocate((size_t)count, sizeof *sights);
    int least = count > 2 ? 2 : 1;
    esra_status status;
    *tracks = (struct tracks){
        .photos = count, .reference = reference, .width = photos[reference].width, .height = photos[reference].height};
    TRY(sights ? ESRA_OK : esra_fail_memory(context->message));
    TRY(make_sights(sights, context, photos, count, reference));
    if (esra_context_stopping(context))
        goto done; /* no tracks, and no failure */
    TRY(follow_all(tracks, context, sights, blocks));
    to_photo_px(tracks, sights[reference].pyramid.scale);
    drop_short(tracks, least);
    esra_context_run(context, check_photo, tracks, count, NULL);
    drop_short(tracks, least);
    TRY(spread(tracks, context->message));
done:
    free_sights(sights, count);
    if (status != ESRA_OK)
        esra_tracks_free(tracks);
    return status;
}

void esra_tracks_free(struct tracks *tracks)
{
    esra_release(&tracks->at);
    *tracks = (struct tracks){0};
}
