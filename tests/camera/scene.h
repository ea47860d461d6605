/* tests/camera/scene.h - photos of a wall with a board before it, by a camera that moves as a hand does. Every pixel's
 * line of sight is met with the scene by formulas of this file's own. */
#ifndef ESRA_TESTS_CAMERA_SCENE_H
#define ESRA_TESTS_CAMERA_SCENE_H

#include "base/context.h"
#include "camera/camera.h"
#include "check.h"
#include "context.h"

#define SCENE_PHOTOS 5

struct scene {
    int width, height, photos;
    double focal, wall, slant, board; /* w of the wall in the middle, its change over the width, w of the board */
    double left, right, top, bottom;  /* of the board, px of the reference; empty where left > right */
    double spots;                     /* px: what is seen is dark but for spots of about this size; 0: all is lit */
    double r[SCENE_PHOTOS][9], t[SCENE_PHOTOS][3];
    struct image photo[SCENE_PHOTOS];
};

/* A number in 0..1 for every lattice point. */
static inline double lattice(int x, int y, unsigned seed)
{
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca77u ^ seed * 0xc2b2ae3du;
    h = (h ^ h >> 15) * 0x2c1b3c6du;
    h = (h ^ h >> 12) * 0x297a2d39u;
    return (double)(h ^ h >> 15) / 4294967295.;
}

/* Noise of one size, smooth between the points. */
static inline double texture_of_size(double x, double y, double size, unsigned seed)
{
    double u = x / size, v = y / size, i = floor(u), j = floor(v), a = u - i, b = v - j;
    a = a * a * (3 - 2 * a);
    b = b * b * (3 - 2 * b);
    double upper = lattice((int)i, (int)j, seed) * (1 - a) + lattice((int)i + 1, (int)j, seed) * a;
    double lower = lattice((int)i, (int)j + 1, seed) * (1 - a) + lattice((int)i + 1, (int)j + 1, seed) * a;
    return upper * (1 - b) + lower * b;
}

static inline double texture(double x, double y, unsigned seed)
{
    return .5 * texture_of_size(x, y, 23, seed) + .3 * texture_of_size(x, y, 9, seed + 7) +
           .2 * texture_of_size(x, y, 5, seed + 13);
}

/* Rotation by small angles about x, y, z, exactly orthogonal. */
static inline void rotation(double a, double b, double c, double r[9])
{
    double ca = cos(a), sa = sin(a), cb = cos(b), sb = sin(b), cc = cos(c), sc = sin(c);
    double out[9] = {cb * cc,
                     sa * sb * cc - ca * sc,
                     ca * sb * cc + sa * sc,
                     cb * sc,
                     sa * sb * sc + ca * cc,
                     ca * sb * sc - sa * cc,
                     -sb,
                     sa * cb,
                     ca * cb};
    memcpy(r, out, sizeof out);
}

/* Photo 0 is the reference. step: how far the camera moves from one photo to the next, times focal: px at w = 1. */
static inline void scene_motion(struct scene *s, int width, int height, double step_px)
{
    static const double across[SCENE_PHOTOS] = {0, 1, -1, 2, -1.6}, down[SCENE_PHOTOS] = {0, .3, .6, -.4, -.5};
    *s = (struct scene){.width = width,
                        .height = height,
                        .photos = SCENE_PHOTOS,
                        .focal = 1.1 * width,
                        .wall = 1,
                        .left = 1,
                        .right = 0};
    for (int n = 0; n < SCENE_PHOTOS; n++) {
        double sign = n % 2 ? 1 : -1, turn = n ? .004 : 0;
        rotation(sign * turn, -turn * n * .5, sign * turn * .7, s->r[n]);
        s->t[n][0] = across[n] * step_px / s->focal;
        s->t[n][1] = down[n] * step_px / s->focal;
        s->t[n][2] = n ? sign * .1 * step_px / s->focal : 0;
    }
}

/* Where a point of the reference at w is seen in photo n. */
static inline void scene_project(const struct scene *s, int n, double x, double y, double w, double *u, double *v)
{
    double q[3] = {(x - .5 * (s->width - 1)) / s->focal, (y - .5 * (s->height - 1)) / s->focal, 1}, p[3];
    for (int k = 0; k < 3; k++)
        p[k] = s->r[n][3 * k] * q[0] + s->r[n][3 * k + 1] * q[1] + s->r[n][3 * k + 2] * q[2] + w * s->t[n][k];
    *u = .5 * (s->width - 1) + s->focal * p[0] / p[2];
    *v = .5 * (s->height - 1) + s->focal * p[1] / p[2];
}

/* The point of the reference that photo n shows at (u, v) if its depth is w: Newton's iteration on scene_project. */
static inline void scene_back(const struct scene *s, int n, double u, double v, double w, double *x, double *y)
{
    *x = u;
    *y = v;
    for (int k = 0; k < 4; k++) {
        double a, b, ax, bx, ay, by;
        scene_project(s, n, *x, *y, w, &a, &b);
        scene_project(s, n, *x + .5, *y, w, &ax, &bx);
        scene_project(s, n, *x, *y + .5, w, &ay, &by);
        double xx = (ax - a) / .5, xy = (ay - a) / .5, yx = (bx - b) / .5, yy = (by - b) / .5, d = xx * yy - xy * yx;
        *x -= (yy * (a - u) - xy * (b - v)) / d;
        *y -= (xx * (b - v) - yx * (a - u)) / d;
    }
}

static inline bool scene_on_board(const struct scene *s, double x, double y)
{
    return x >= s->left && x <= s->right && y >= s->top && y <= s->bottom;
}

static inline double scene_wall(const struct scene *s, double x)
{
    return s->wall + s->slant * (x / s->width - .5);
}

/* w of what the reference shows. */
static inline double scene_depth(const struct scene *s, double x, double y)
{
    return scene_on_board(s, x, y) ? s->board : scene_wall(s, x);
}

/* The point of the reference that photo n shows at (u, v); true: the board's. */
static inline bool scene_meet(const struct scene *s, int n, double u, double v, double *x, double *y)
{
    double w = s->wall;
    if (s->left <= s->right) {
        scene_back(s, n, u, v, s->board, x, y);
        if (scene_on_board(s, *x, *y))
            return true;
    }
    for (int k = 0; k < (s->slant != 0 ? 6 : 1); k++) {
        scene_back(s, n, u, v, w, x, y);
        w = scene_wall(s, *x);
    }
    return false;
}

static inline void scene_render(struct scene *s)
{
    struct message message = {""};
    double a = 0, b = 0;
    for (int n = 0; n < s->photos; n++) {
        CHECK(esra_image_create(&s->photo[n], s->width, s->height, 3, &message) == ESRA_OK);
        for (int y = 0; y < s->height; y++)
            for (int x = 0; x < s->width; x++) {
                unsigned seed = scene_meet(s, n, x, y, &a, &b) ? 101 : 1;
                double lit = s->spots > 0 ? fmax(0, fmin(1, 8 * (texture_of_size(a, b, s->spots, 31) - .6))) : 1;
                for (int c = 0; c < 3; c++)
                    plane_row(image_plane(&s->photo[n], c), y)[x] =
                        (float)(lit * texture(a, b, seed + (c == 2)) * (1 - .2 * c));
            }
    }
}

static inline void scene_free(struct scene *s)
{
    for (int n = 0; n < SCENE_PHOTOS; n++)
        esra_image_free(&s->photo[n]);
}

#endif
