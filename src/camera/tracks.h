/* camera/tracks.h - points of the reference photo, and where the other photos show them. */
#ifndef ESRA_CAMERA_TRACKS_H
#define ESRA_CAMERA_TRACKS_H

#include <stdbool.h>

#include "base/context.h"
#include "base/image.h"

struct sighting {
    double x, y; /* px of the photo */
    bool seen;
};

struct tracks {
    struct sighting *at; /* [count * photos], owned: track n in photo i at at[n * photos + i]; the reference sees all */
    int count, photos, reference;
    int width, height; /* of the photos */
};

static inline struct sighting *track_at(const struct tracks *tracks, int n, int photo)
{
    return &tracks->at[n * tracks->photos + photo];
}

/* In how many photos, the reference aside, a track is seen. */
static inline int track_length(const struct tracks *tracks, int n)
{
    int length = -1;
    for (int photo = 0; photo < tracks->photos; photo++)
        length += track_at(tracks, n, photo)->seen;
    return length;
}

/* Tracks seen in at least two other photos (where there are two), that agree with one epipolar geometry a photo, spread
 * over the reference. There may be none. blocks: what esra_blocks_find() found, of which corners are followed as blocks
 * nearby move, and which are tracks themselves; NULL: corners may be anywhere. */
esra_status esra_tracks_find(struct tracks *tracks, struct context *context, const struct image *photos, int count,
                             int reference, const struct tracks *blocks);

/* RANSAC on the epipolar geometry of `photo` and the reference: marks the outliers as unseen. Seeded: the same bits
 * every time. */
void esra_tracks_check(const struct tracks *tracks, int photo);

void esra_tracks_free(struct tracks *tracks);

#endif
