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

static double mean_of(const struct patch *a)
{
    double sum = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++)
            sum += a->at[j][i];
    return sum / (SIDE * SIDE);
}

/* P, G and (G'G)^-1 of the window around (x, y); false where G'G is singular, as without a corner. A corner made of
 * noise passes; it mostly fails the forward-backward check (tracks.c). */
static bool open_window(const struct image *level, double x, double y, struct window *w)
{
    struct patch wide;
    cut_out(level, x, y, REACH + 1, SIDE + 2, &wide);
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            w->patch.at[j][i] = wide.at[j + 1][i + 1];
            w->right.at[j][i] = .5f * (wide.at[j + 1][i + 2] - wide.at[j + 1][i]);
            w->down.at[j][i] = .5f * (wide.at[j + 2][i + 1] - wide.at[j][i + 1]);
        }
    subtract(&w->patch, &w->patch, 0, mean_of(&w->patch));
    subtract(&w->right, &w->right, 0, mean_of(&w->right));
    subtract(&w->down, &w->down, 0, mean_of(&w->down));
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

bool esra_follow(const struct grey *from, const struct grey *to, double x, double y, int coarsest, double *u, double *v)
{
    struct window window;
    double right = from->level[0].width - 2 * FOLLOW_PAD - 1, bottom = from->level[0].height - 2 * FOLLOW_PAD - 1;
    if (!(x >= 0 && y >= 0 && x <= right && y <= bottom))
        return false;
    memset(&window, 0, sizeof window);
    for (int n = coarsest < from->levels ? coarsest : from->levels - 1; n >= 0; n--) {
        double scale = ldexp(1, n), a = *u / scale, b = *v / scale;
        bool good =
            open_window(&from->level[n], x / scale, y / scale, &window) && settle(&window, &to->level[n], &a, &b);
        if (good) {
            *u = a * scale;
            *v = b * scale;
        } else if (n == 0) {
            return false;
        }
    }
    return true;
}
