/* camera/parallax.c - how much of the tracks' motion no homography explains: what is left of the homography of least
 * squares, photo by photo. */
#include "camera/parallax.h"

#include <math.h>

#include "align/linear.h"
#include "base/memory.h"
#include "base/select.h"

#define PARAMETERS 8

struct fitting {
    const struct tracks *tracks;
    const bool *use;
    double scale; /* px to units of about -1..1 */
};

static bool pair_of(const struct fitting *f, int n, int photo, double pair[4])
{
    const struct tracks *tracks = f->tracks;
    const struct sighting *a = track_at(tracks, n, tracks->reference), *b = track_at(tracks, n, photo);
    pair[0] = (a->x - .5 * tracks->width) * f->scale;
    pair[1] = (a->y - .5 * tracks->height) * f->scale;
    pair[2] = (b->x - .5 * tracks->width) * f->scale;
    pair[3] = (b->y - .5 * tracks->height) * f->scale;
    return f->use[n * tracks->photos + photo];
}

/* u (1 + p6 x + p7 y) = p0 x + p1 y + p2, v likewise with p3..p5: linear in p. False where tracks do not determine it.
 */
static bool fit(const struct fitting *f, int photo, double p[PARAMETERS])
{
    double matrix[PARAMETERS * PARAMETERS] = {0}, pair[4];
    for (int k = 0; k < PARAMETERS; k++)
        p[k] = 0;
    for (int n = 0; n < f->tracks->count; n++) {
        if (!pair_of(f, n, photo, pair))
            continue;
        double x = pair[0], y = pair[1];
        double rows[2][PARAMETERS] = {{x, y, 1, 0, 0, 0, -pair[2] * x, -pair[2] * y},
                                      {0, 0, 0, x, y, 1, -pair[3] * x, -pair[3] * y}};
        for (int axis = 0; axis < 2; axis++)
            for (int i = 0; i < PARAMETERS; i++) {
                for (int j = 0; j < PARAMETERS; j++)
                    matrix[PARAMETERS * i + j] += rows[axis][i] * rows[axis][j];
                p[i] += rows[axis][i] * pair[2 + axis];
            }
    }
    return esra_linear_solve(matrix, p, PARAMETERS);
}

/* Appends the distances that are left, in px. */
static size_t list_distances(const struct fitting *f, int photo, const double p[PARAMETERS], float *list, size_t count)
{
    double pair[4];
    for (int n = 0; n < f->tracks->count; n++) {
        if (!pair_of(f, n, photo, pair))
            continue;
        double x = pair[0], y = pair[1], d = p[6] * x + p[7] * y + 1;
        double away = hypot((p[0] * x + p[1] * y + p[2]) / d - pair[2], (p[3] * x + p[4] * y + p[5]) / d - pair[3]);
        if (away < INFINITY)
            list[count++] = (float)(away / f->scale);
    }
    return count;
}

esra_status esra_parallax_measure(struct camera *camera, const struct tracks *tracks, const bool *use,
                                  struct message *message)
{
    struct fitting f = {tracks, use, 2. / fmax(tracks->width, tracks->height)};
    float *list = esra_allocate((size_t)tracks->count * (size_t)tracks->photos + 1, sizeof *list);
    double p[PARAMETERS];
    size_t count = 0;
    if (!list)
        return esra_fail_memory(message);
    for (int photo = 0; photo < tracks->photos; photo++)
        if (photo != tracks->reference && fit(&f, photo, p))
            count = list_distances(&f, photo, p, list, count);
    camera->parallax_px = count ? esra_select_rank(list, count, count / 2) : 0;
    camera->parallax_most_px = count ? esra_select_rank(list, count, count * 9 / 10) : 0;
    esra_release(&list);
    return ESRA_OK;
}
