/* camera/parallax.c - residual parallax: the tracks' distances from the homography of least squares, photo by photo;
 * and whether a lens with radial distortion would explain them. */
#include "camera/parallax.h"

#include <math.h>

#include "base/linear.h"
#include "base/maths.h"
#include "base/memory.h"
#include "base/select.h"
#include "camera/thresholds.h"

#define PARAMETERS 8

/* Distortions tried, either way: the farthest shortens the half of a side by a fifth. */
#define BEND_MOST  .2
#define BEND_STEPS 10

struct fitting {
    const struct tracks *tracks;
    const bool *use;
    double scale; /* px to units of about -1..1 */
    double bend;  /* k: what the photos show at q a lens without distortion would show at q (1 - k |q|^2) */
};

static void straighten(const struct fitting *f, double q[2])
{
    double factor = 1 - f->bend * (q[0] * q[0] + q[1] * q[1]);
    q[0] *= factor;
    q[1] *= factor;
}

static bool pair_of(const struct fitting *f, int n, int photo, double pair[4])
{
    const struct tracks *tracks = f->tracks;
    const struct sighting *a = track_at(tracks, n, tracks->reference), *b = track_at(tracks, n, photo);
    pair[0] = (a->x - .5 * tracks->width) * f->scale;
    pair[1] = (a->y - .5 * tracks->height) * f->scale;
    pair[2] = (b->x - .5 * tracks->width) * f->scale;
    pair[3] = (b->y - .5 * tracks->height) * f->scale;
    straighten(f, pair);
    straighten(f, pair + 2);
    return f->use[n * tracks->photos + photo];
}

/* The homography of least algebraic error: u (1 + p6 x + p7 y) = p0 x + p1 y + p2, v likewise with p3..p5, is linear in
 * p. False where the tracks do not determine it. */
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

/* Appends the distances that are left, in px of the photo: straightening shrinks areas by (1 - k |q|^2)(1 - 3 k |q|^2),
 * lengths by the root of that, about 1 - 2 k |q|^2. */
static size_t list_distances(const struct fitting *f, int photo, const double p[PARAMETERS], float *list, size_t count)
{
    double pair[4];
    for (int n = 0; n < f->tracks->count; n++) {
        if (!pair_of(f, n, photo, pair))
            continue;
        double x = pair[0], y = pair[1], d = p[6] * x + p[7] * y + 1;
        double away =
            esra_hypot((p[0] * x + p[1] * y + p[2]) / d - pair[2], (p[3] * x + p[4] * y + p[5]) / d - pair[3]);
        double shrunk = 1 - 2 * f->bend * (pair[2] * pair[2] + pair[3] * pair[3]);
        if (away < INFINITY)
            list[count++] = (float)(away / (f->scale * shrunk));
    }
    return count;
}

/* The distances that the best homographies leave, of all photos. */
static size_t list_remains(const struct fitting *f, float *list)
{
    double p[PARAMETERS];
    size_t count = 0;
    for (int photo = 0; photo < f->tracks->photos; photo++)
        if (photo != f->tracks->reference && fit(f, photo, p))
            count = list_distances(f, photo, p, list, count);
    return count;
}

/* The k of the least median distance; 0 where that is not clearly less than with k = 0, or at either end of the search,
 * where it is no lens. */
static double find_bend(struct fitting *f, float *list)
{
    double least = INFINITY, straight = 0, best = 0;
    for (int n = -BEND_STEPS; n <= BEND_STEPS; n++) {
        f->bend = BEND_MOST * n / BEND_STEPS;
        size_t count = list_remains(f, list);
        double left = count ? esra_select_rank(list, count, count / 2) : 0;
        if (n == 0)
            straight = left;
        if (left < least) {
            least = left;
            best = f->bend;
        }
    }
    f->bend = 0;
    return least < camera_thresholds.lens_remains * straight && fabs(best) < BEND_MOST ? best : 0;
}

esra_status esra_parallax_measure(struct camera *camera, const struct tracks *tracks, const bool *use,
                                  struct message *message)
{
    struct fitting f = {tracks, use, 2. / fmax(tracks->width, tracks->height), 0};
    float *list = esra_allocate((size_t)tracks->count * (size_t)tracks->photos + 1, sizeof *list);
    if (!list)
        return esra_fail_memory(message);
    camera->bend = find_bend(&f, list);
    size_t count = list_remains(&f, list);
    camera->parallax_px = count ? esra_select_rank(list, count, count / 2) : 0;
    esra_release(&list);
    return ESRA_OK;
}
