/* camera/groups.c - tracks clustered by depth, and which clusters are of one layer. Two rigid scenes seen in one glass
 * mostly stand at different distances, so that their inverse depths form groups with a gap between them; but so do
 * those of an object and the wall behind it. They differ in how they lie in the picture: where one occludes the other,
 * tracks of both lie side by side; layers that show through one another have theirs mixed. The measure is the share of
 * foreign tracks among each track's nearest neighbours. */
#include "camera/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "camera/depth.h"
#include "camera/thresholds.h"

/* Size at which the share that a group explains is measured. */
#define SIDE_PX 350
/* Each track has an eighth of the smaller group's number as neighbours, this many at the most. The share of tracks near
 * an object's contour, which have foreign neighbours, then does not depend on how many tracks there are; with six
 * neighbours each, as many as .04 were foreign on a small opaque object, and as few as .037 in a reflection that lies
 * in spots. */
#define NEIGHBOURS 100

static int by_value(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* The depths that are known, sorted; returns their number. */
static int sort_depths(const double *inverse, int count, double *sorted)
{
    int known = 0;
    for (int n = 0; n < count; n++)
        if (!isnan(inverse[n]))
            sorted[known++] = inverse[n];
    qsort(sorted, (size_t)known, sizeof *sorted, by_value);
    return known;
}

/* Adds the group of sorted[0..count), in place of the smallest where there are CAMERA_GROUPS already. */
static void add_group(struct camera *camera, const double *sorted, int count)
{
    int tail = count / DEPTH_TAIL;
    struct depth_group group = {.near = sorted[count - 1 - tail], .far = sorted[tail], .tracks = count};
    int place = camera->groups;
    if (place == CAMERA_GROUPS) {
        place = 0;
        for (int n = 1; n < CAMERA_GROUPS; n++)
            place = camera->group[n].tracks < camera->group[place].tracks ? n : place;
        if (camera->group[place].tracks >= count)
            return;
    } else {
        camera->groups++;
    }
    camera->group[place] = group;
}

/* A group ends where the gap to the next inverse depth is wide; groups of too few tracks are dropped. */
static void split(struct camera *camera, const double *sorted, int count)
{
    int tail = count / DEPTH_TAIL;
    double range = sorted[count - 1 - tail] - sorted[tail];
    double gap = camera_thresholds.group_gap * range;
    int least = (int)camera_thresholds.tracks_least;
    for (int begin = 0, n = 1; n <= count; n++) {
        if (n < count && sorted[n] - sorted[n - 1] <= gap)
            continue;
        if (n - begin >= least)
            add_group(camera, sorted + begin, n - begin);
        begin = n;
    }
}

static bool belongs(const struct depth_group *group, double w)
{
    /* The tails on either side are left out. NaN, an outlier, belongs to none. */
    return w >= group->far && w <= group->near;
}

/* The k nearest neighbours so far, nearest first. */
struct neighbours {
    double away[NEIGHBOURS];
    bool foreign[NEIGHBOURS];
    int most, found;
};

static void insert(struct neighbours *list, double away, bool foreign)
{
    int place;
    if (list->found == list->most && !(away < list->away[list->most - 1]))
        return;
    place = list->found < list->most ? list->found++ : list->most - 1;
    for (; place > 0 && list->away[place - 1] > away; place--) {
        list->away[place] = list->away[place - 1];
        list->foreign[place] = list->foreign[place - 1];
    }
    list->away[place] = away;
    list->foreign[place] = foreign;
}

/* The share of the neighbours of a's tracks, among those of a and b, that are b's. */
static double share_of(const struct tracks *tracks, const double *inverse, const struct depth_group *a,
                       const struct depth_group *b)
{
    int smaller = a->tracks < b->tracks ? a->tracks : b->tracks, foreign = 0, all = 0;
    int most = smaller / 8;
    most = most < 1 ? 1 : most < NEIGHBOURS ? most : NEIGHBOURS;
    for (int n = 0; n < tracks->count; n++) {
        const struct sighting *here = track_at(tracks, n, tracks->reference);
        struct neighbours list = {.most = most};
        for (int k = 0; k < tracks->count && belongs(a, inverse[n]); k++) {
            const struct sighting *there = track_at(tracks, k, tracks->reference);
            bool other = belongs(b, inverse[k]);
            if (k != n && (other || belongs(a, inverse[k])))
                insert(&list, esra_hypot(there->x - here->x, there->y - here->y), other);
        }
        for (int k = 0; k < list.found; k++, all++)
            foreign += list.foreign[k];
    }
    return all ? (double)foreign / all : 0;
}

/* The share of the reference's gradients that each group's depths explain. */
static esra_status measure(struct camera *camera, struct context *context, const struct image *photos)
{
    for (int n = 0; n < camera->groups && !esra_context_stopping(context); n++) {
        struct depth_options options = {.side_px = SIDE_PX, .near = camera->group[n].near, .far = camera->group[n].far};
        struct depth depth;
        esra_status status = esra_depth_transmitted(&depth, context, camera, photos, &options);
        if (status != ESRA_OK)
            return status;
        camera->group[n].explained = depth.explained;
        esra_depth_free(&depth);
    }
    return ESRA_OK;
}

static int by_explained(const void *a, const void *b)
{
    const struct depth_group *p = a, *q = b;
    if (p->explained != q->explained)
        return p->explained > q->explained ? -1 : 1;
    return p->far < q->far ? -1 : 1;
}

/* near and far: those of group 0 and of the groups whose tracks lie beside, not among, its own. */
static void choose(struct camera *camera, const struct tracks *tracks, const double *inverse)
{
    struct depth_group *first = &camera->group[0];
    camera->near = first->near;
    camera->far = first->far;
    for (int n = 1; n < camera->groups; n++) {
        struct depth_group *group = &camera->group[n];
        group->mixed = fmax(share_of(tracks, inverse, group, first), share_of(tracks, inverse, first, group));
        if (group->mixed < camera_thresholds.group_mixed) {
            camera->near = fmax(camera->near, group->near);
            camera->far = fmin(camera->far, group->far);
        }
    }
}

esra_status esra_groups_find(struct camera *camera, struct context *context, const struct image *photos,
                             const struct tracks *tracks, const double *inverse)
{
    double *sorted = esra_allocate((size_t)tracks->count + 1, sizeof *sorted);
    esra_status status = sorted ? ESRA_OK : esra_fail_memory(context->message);
    int count = sorted ? sort_depths(inverse, tracks->count, sorted) : 0;
    camera->groups = 0;
    if (count > 0)
        split(camera, sorted, count);
    if (camera->groups > 1)
        status = measure(camera, context, photos);
    if (status == ESRA_OK && camera->groups > 0) {
        qsort(camera->group, (size_t)camera->groups, sizeof *camera->group, by_explained);
        choose(camera, tracks, inverse);
    }
    esra_release(&sorted);
    return status;
}
