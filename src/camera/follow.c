/* camera/follow.c - tracking a point: Lucas & Kanade (1981) over a pyramid (Bouguet 2000), the window's motion being a
 * translation.
 *
 * With P the window around the point, G its gradients, I the photo's window at the present guess, the step solves
 *
 *     min over d, a, b  |I + G d - a P - b|^2.
 *
 * The gain a and the offset b take up changes of exposure and the veil of the reflection. They cost nothing: with G
 * made orthogonal to P and to constants beforehand, d = -(G'G)^-1 G'(I - P) whatever they are. */
#include "camera/follow.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "camera/thresholds.h"

#define REACH         10 /* a window is 21 pixels a side ... */
#define SIDE          (2 * REACH + 1)
#define STRIDE        24 /* ... its rows filled up with zero gradients to whole vectors */
#define STEPS         30
#define STEP_LEAST_PX .004

/* Two rows more than a window, for its gradients. */
struct patch {
    float at[SIDE + 2][STRIDE];
};

struct window {
    struct patch patch, right, down;
    double xx, xy, yy; /* inverse of G'G */
};

static void pad_level(const struct image *from, struct image *to)
{
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++) {
            int i = x - FOLLOW_PAD, j = y - FOLLOW_PAD;
            i = i < 0 ? 0 : i >= from->width ? from->width - 1 : i;
            j = j < 0 ? 0 : j >= from->height ? from->height - 1 : j;
            to->data[(size_t)y * to->width + x] = from->data[(size_t)j * from->width + i];
        }
}

esra_status esra_grey_create(struct grey *grey, const struct pyramid *pyramid, struct message *message)
{
    *grey = (struct grey){.levels = pyramid->levels};
    for (int n = 0; n < pyramid->levels; n++) {
        const struct image *level = &pyramid->level[n];
        esra_status status = esra_image_create(&grey->level[n], level->width + 2 * FOLLOW_PAD,
                                               level->height + 2 * FOLLOW_PAD, 1, message);
        if (status != ESRA_OK) {
            esra_grey_free(grey);
            return status;
        }
        pad_level(level, &grey->level[n]);
    }
    return ESRA_OK;
}

void esra_grey_free(struct grey *grey)
{
    for (int n = 0; n < PYRAMID_LEVELS; n++)
        esra_image_free(&grey->level[n]);
    *grey = (struct grey){0};
}

/* rows x STRIDE samples, bilinear; the first lies `reach` px left of and above (x, y), which is inside the level. */
static void cut_out(const struct image *level, double x, double y, int reach, int rows, struct patch *restrict out)
{
    int column = (int)floor(x), line = (int)floor(y);
    float fx = (float)(x - column), fy = (float)(y - line);
    const float *at = level->data + (ptrdiff_t)(line - reach + FOLLOW_PAD) * level->width + column - reach + FOLLOW_PAD;
    for (int j = 0; j < rows; j++, at += level->width) {
        const float *below = at + level->width;
        for (int i = 0; i < STRIDE; i++) {
            float upper = at[i] + fx * (at[i + 1] - at[i]), lower = below[i] + fx * (below[i + 1] - below[i]);
            out->at[j][i] = upper + fy * (lower - upper);
        }
    }
}

static double product(const struct patch *a, const struct patch *b)
{
    float sums[STRIDE] = {0};
    double sum = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < STRIDE; i++)
            sums[i] += a->at[j][i] * b->at[j][i];
    for (int i = 0; i < STRIDE; i++)
        sum += sums[i];
    return sum;
}

/* a <- a - s b - c inside the window, zero in the rows' filling. */
static void subtract(struct patch *a, const struct patch *b, double s, double c)
{
    for (int j = 0; j < SIDE; j++) {
        for (int i = 0; i < SIDE; i++)
            a->at[j][i] -= (float)s * b->at[j][i] + (float)c;
        for (int i = SIDE; i < STRIDE; i++)
            a->at[j][i] = 0;
    }
}

/* The means of three patches: each sum has to wait for itself at every sample, not for the others. */
static void means_of(const struct patch *a, const struct patch *b, const struct patch *c, double means[3])
{
    double sums[3] = {0, 0, 0};
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            sums[0] += a->at[j][i];
            sums[1] += b->at[j][i];
            sums[2] += c->at[j][i];
        }
    for (int k = 0; k < 3; k++)
        means[k] = sums[k] / (SIDE * SIDE);
}

/* P, G and (G'G)^-1 of the window around (x, y); false where G'G is singular, as without a corner. A corner made of
 * noise passes; it mostly fails the forward-backward check (tracks.c). */
static bool open_window(const struct image *level, double x, double y, struct window *w)
{
    struct patch wide;
    double means[3];
    cut_out(level, x, y, REACH + 1, SIDE + 2, &wide);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            w->patch.at[j][i] = wide.at[j + 1][i + 1];
            w->right.at[j][i] = .5f * (wide.at[j + 1][i + 2] - wide.at[j + 1][i]);
            w->down.at[j][i] = .5f * (wide.at[j + 2][i + 1] - wide.at[j][i + 1]);
        }
    means_of(&w->patch, &w->right, &w->down, means);
    subtract(&w->patch, &w->patch, 0, means[0]);
    subtract(&w->right, &w->right, 0, means[1]);
    subtract(&w->down, &w->down, 0, means[2]);
    double norm = product(&w->patch, &w->patch) + 1e-12;
    subtract(&w->right, &w->patch, product(&w->patch, &w->right) / norm, 0);
    subtract(&w->down, &w->patch, product(&w->patch, &w->down) / norm, 0);
    double xx = product(&w->right, &w->right), xy = product(&w->right, &w->down), yy = product(&w->down, &w->down);
    double determinant = xx * yy - xy * xy;
    if (!(determinant > 0))
        return false;
    w->xx = yy / determinant;
    w->xy = -xy / determinant;
    w->yy = xx / determinant;
    return true;
}

/* Gauss-Newton steps of (u, v) to where the level shows the window; false where that is outside. */
static bool settle(const struct window *w, const struct image *level, double *u, double *v)
{
    double right = level->width - 2 * FOLLOW_PAD - 1, bottom = level->height - 2 * FOLLOW_PAD - 1;
    struct patch here;
    for (int k = 0; k < STEPS; k++) {
        if (!(*u >= 0 && *v >= 0 && *u <= right && *v <= bottom))
            return false;
        cut_out(level, *u, *v, REACH, SIDE, &here);
        /* G is orthogonal to P, which need not be subtracted. */
        double gx = product(&w->right, &here), gy = product(&w->down, &here);
        double dx = w->xx * gx + w->xy * gy, dy = w->xy * gx + w->yy * gy;
        *u -= dx;
        *v -= dy;
        if (dx * dx + dy * dy < STEP_LEAST_PX * STEP_LEAST_PX)
            break;
    }
    return *u >= 0 && *v >= 0 && *u <= right && *v <= bottom;
}

/* ---- Points ---- */

struct following {
    const struct points *points;
    struct context *context;
    struct sighting *guesses; /* [threads][photos]: where tracking begins */
};

static bool is_inside(const struct grey *grey, double x, double y)
{
    double right = grey->level[0].width - 2 * FOLLOW_PAD - 1, bottom = grey->level[0].height - 2 * FOLLOW_PAD - 1;
    return x >= 0 && y >= 0 && x <= right && y <= bottom;
}

/* One level's part of the way to (*u, *v), px of level 0; false where the level does not show it. */
static bool settle_at(const struct window *w, const struct grey *to, int level, double *u, double *v)
{
    double scale = ldexp(1, level), a = *u / scale, b = *v / scale;
    if (!settle(w, &to->level[level], &a, &b))
        return false;
    *u = a * scale;
    *v = b * scale;
    return true;
}

static bool open_at(const struct grey *from, int level, double x, double y, struct window *w)
{
    double scale = ldexp(1, level);
    return open_window(&from->level[level], x / scale, y / scale, w);
}

static int coarsest_of(const struct points *p, int n, const struct grey *from)
{
    return p->level[n] < from->levels ? p->level[n] : from->levels - 1;
}

/* From the reference to all photos where the point has a guess, level by level: the window is opened once for all.
 * Where the point is lost it is not seen. */
static void follow_out(const struct points *p, int n, const struct sighting *guesses, struct window *w)
{
    const struct tracks *tracks = p->tracks;
    const struct sighting *start = track_at(tracks, n, tracks->reference);
    const struct grey *from = p->grey[tracks->reference];
    bool inside = is_inside(from, start->x, start->y);
    for (int level = coarsest_of(p, n, from); level >= 0; level--) {
        bool open = inside && open_at(from, level, start->x, start->y, w);
        for (int photo = 0; photo < tracks->photos; photo++) {
            struct sighting *there = track_at(tracks, n, photo);
            bool good = guesses[photo].seen && open && settle_at(w, p->grey[photo], level, &there->x, &there->y);
            if (level == 0 && photo != tracks->reference)
                there->seen = good;
        }
    }
}

/* Back from photo `from` to (*x, *y) of the reference. */
static bool follow_back(const struct points *p, int n, int from, double *x, double *y, struct window *w)
{
    const struct grey *grey = p->grey[from], *to = p->grey[p->tracks->reference];
    const struct sighting *there = track_at(p->tracks, n, from);
    bool good = is_inside(grey, there->x, there->y);
    for (int level = coarsest_of(p, n, grey); good && level >= 0; level--)
        good = (open_at(grey, level, there->x, there->y, w) && settle_at(w, to, level, x, y)) || level > 0;
    return good;
}

/* Where tracking begins: at a match, or, of a corner, at its place in the reference. */
static void guess(const struct points *p, int n, struct sighting *guesses)
{
    const struct tracks *tracks = p->tracks;
    for (int photo = 0; photo < tracks->photos; photo++) {
        struct sighting *there = track_at(tracks, n, photo);
        bool corner = p->level[n] == FOLLOW_COARSEST, wanted = photo != tracks->reference && (there->seen || corner);
        if (wanted && !there->seen)
            *there = *track_at(tracks, n, tracks->reference);
        guesses[photo] = (struct sighting){there->x, there->y, wanted};
    }
}

/* Forward, then backward: a match's way back starts displaced from the point by what tracking has moved the match. */
static void follow_point(const struct points *p, int n, struct sighting *guesses, struct window *w)
{
    const struct tracks *tracks = p->tracks;
    const struct sighting *start = track_at(tracks, n, tracks->reference);
    guess(p, n, guesses);
    follow_out(p, n, guesses, w);
    for (int photo = 0; photo < tracks->photos; photo++) {
        struct sighting *there = track_at(tracks, n, photo);
        if (photo == tracks->reference || !there->seen)
            continue;
        double x = start->x + (there->x - guesses[photo].x), y = start->y + (there->y - guesses[photo].y);
        if (p->level[n] == FOLLOW_COARSEST)
            x = there->x, y = there->y;
        there->seen =
            follow_back(p, n, photo, &x, &y, w) && esra_hypot(x - start->x, y - start->y) < camera_thresholds.return_px;
    }
}

static void follow_block(void *work, int task, int worker)
{
    const struct following *f = work;
    const struct tracks *tracks = f->points->tracks;
    struct window window;
    /* Only worker 0, the caller's thread, may ask; once it is stopping, its remaining blocks return at once. */
    if (worker == 0 && esra_context_stopping(f->context))
        return;
    memset(&window, 0, sizeof window);
    for (int n = rows_begin(task); n < rows_end(task, tracks->count); n++)
        follow_point(f->points, n, f->guesses + (ptrdiff_t)worker * tracks->photos, &window);
}
WIDE_TASK(follow_block)

esra_status esra_follow(const struct points *points, struct context *context)
{
    struct following f = {points, context, NULL};
    size_t guesses = (size_t)esra_context_threads(context) * (size_t)points->tracks->photos;
    f.guesses = esra_allocate(guesses, sizeof *f.guesses);
    if (!f.guesses)
        return esra_fail_memory(context->message);
    esra_context_run(context, WIDE(context, follow_block), &f, rows_blocks(points->tracks->count), NULL);
    esra_release(&f.guesses);
    return ESRA_OK;
}
